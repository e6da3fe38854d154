# frozen_string_literal: true

require 'securerandom'
require 'simpkv/server/api/version'
require 'simpkv/server/problem'

module Simpkv
  module Server
    # The outermost step of each request, a middleware of Rack: gives it an id, turns errors into problems, adds the
    # headers of every response, counts it, and writes a line to the log. No line has a value, a query, or a body.
    class Observation
      # Keys of the environment of Rack.
      ID = 'simpkv.request_id'
      # The pattern of the path that the application has found, such as `/v1/keys/*`, for metrics.
      ROUTE = 'simpkv.route'
      HEADERS = {
        'x-content-type-options' => 'nosniff', 'x-frame-options' => 'DENY', 'referrer-policy' => 'no-referrer',
        'content-security-policy' => "default-src 'none'; frame-ancestors 'none'", 'cache-control' => 'no-store'
      }.freeze
      GIVEN_ID = /\A[\w-]{1,64}\z/.freeze
      private_constant :HEADERS, :GIVEN_ID

      # @param id [String] of the request
      # @return [Hash{String => String}] the headers of every response
      def self.headers(id)
        { 'x-request-id' => id, **HEADERS }
      end

      # @param app [#call, #refuse] the next step; see {Entrance#refuse}
      # @param metrics [Metrics]
      # @param log [Log]
      def initialize(app, metrics, log)
        @app = app
        @metrics = metrics
        @log = log
      end

      # @param env [Hash{String => Object}]
      # @return [Array] the response
      def call(env)
        began = Clock.now
        env.fetch(Connection::KEY).arrived
        given = env['HTTP_X_REQUEST_ID'].to_s
        id = env[ID] = given.match?(GIVEN_ID) ? given : SecureRandom.uuid
        status, headers, body = answer(env, id)
        env[Puma::Const::HTTP_CONNECTION] = Puma::Const::CLOSE if env.fetch(Connection::KEY).retiring?
        seconds = Clock.now - began
        @metrics.observe(env[ROUTE] || 'other', env['REQUEST_METHOD'], status, seconds)
        write(env, id, status, seconds)
        [status, { **self.class.headers(id), **Api::Version.headers(env), **headers }, body]
      end

      private

      def answer(env, id)
        @app.call(env)
      rescue StandardError, SystemStackError, NotImplementedError => e
        problem = Problem.of(e)
        @metrics.error(e)
        place = "#{e.class} at #{e.backtrace&.first}" unless e.is_a?(Problem) || e.is_a?(Error) || e.is_a?(ConfigError)
        log(env, id, "internal error: #{place}") if place
        refuse(env, id, problem)
      end

      # An error of the page about an error is no second one: the client gets the first one.
      def refuse(env, id, problem)
        @app.refuse(env, problem) || plain(env, id, problem)
      rescue StandardError, SystemStackError => e
        log(env, id, "internal error: #{e.class} at #{e.backtrace&.first}")
        plain(env, id, problem)
      end

      def plain(env, id, problem)
        problem.response(id, env['PATH_INFO'].to_s, Api::Version.error_type(env))
      end

      def write(env, id, status, seconds)
        log(env, id, "#{env['REQUEST_METHOD']} #{env['PATH_INFO']} #{status} #{(seconds * 1000).round} ms")
      end

      def log(env, id, text)
        caller = env[Gate::CALLER]
        caller = nil if caller&.kind == :nobody
        @log.call(text, id: id, from: caller || env.fetch(Connection::KEY).peer_name)
      end
    end
  end
end
