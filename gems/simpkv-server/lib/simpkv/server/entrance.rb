# frozen_string_literal: true

require 'simpkv/server/api'
require 'simpkv/server/console'
require 'simpkv/server/gate'

module Simpkv
  module Server
    # Sends requests for pages to the {Console}, and all others to the API. A middleware of Rack after {Observation}.
    #
    # Everybody who is known gets the pages themselves, others only the one to sign in. What they show comes from
    # requests that the console sends to the API with the caller's rights. A browser gets a page also where there is
    # none, and for an error.
    class Entrance
      # What a browser gets of it that has no credentials: the page to sign in, and the files of pages.
      OPEN = [Console::Session::SIGN_IN,
              *Console::Layout::ASSETS.keys.map { |name| "/#{Console::Overview::PATH}/#{name}" }].freeze
      # The beginnings of the paths of pages beside the first one.
      PAGES = %r{\A/#{Regexp.union(Console::PATHS)}(?:/|\z)}.freeze
      READS = %w[GET HEAD].freeze
      # In the query of a page that loads itself again: nobody has asked for it, so it does not prolong a session.
      REFRESH = /(?:\A|&)#{Console::Layout::REFRESHED}=true(?=&|\z)/.freeze
      private_constant :OPEN, :PAGES, :READS, :REFRESH

      # @param gate [Gate] of the API
      # @param limit [#call] wraps an application so that its bodies have a limit
      def initialize(gate, &limit)
        @gate = gate
        @console = Console.application(gate)
        @pages = limit.call(@console)
      end

      # @param env [Hash{String => Object}] of Rack
      # @return [Array] the response
      # @raise [Problem, Error] the request is refused
      def call(env)
        page?(env) ? visit(env) : @gate.call(env)
      end

      # @param env [Hash{String => Object}] of a request that was refused, or has failed
      # @param problem [Problem]
      # @return [Array, nil] the response for a person; nil for a program
      def refuse(env, problem)
        @console.call(env.merge(Console::Visit::REFUSED => problem)) if page?(env) && html?(env)
      end

      private

      def visit(env)
        @gate.identify(env, anybody: true, use: !refreshed?(env))
        return @pages.call(env) if env[Gate::CALLER].kind != :nobody || OPEN.include?(env['PATH_INFO'])

        @gate.demand_credentials unless html?(env) && READS.include?(env['REQUEST_METHOD'])
        lead_to_sign_in(env)
      end

      # @return [Boolean] whether a page has loaded itself again. Nothing else sees that in the address
      def refreshed?(env)
        rest = env['QUERY_STRING'].to_s.gsub(REFRESH, '').delete_prefix('&')
        return false if rest == env['QUERY_STRING'].to_s

        env['QUERY_STRING'] = rest
        true
      end

      # A browser sends no cookie of a session with a link from a page of another site, such as a wiki: it gets a page
      # that leads on, as a link of this site does.
      def lead_to_sign_in(env)
        query = env['QUERY_STRING'].to_s
        here = "#{Console::Api.path(*env[Gate::SEGMENTS])}#{'/' if env['PATH_INFO'].end_with?('/')}"
        here += "?#{query}" unless query.empty?
        place = "#{Console::Session::SIGN_IN}?#{Rack::Utils.build_query('to' => here)}"
        return [303, { 'location' => place }, []] if Gate.own_site?(env)

        [200, { 'content-type' => 'text/html; charset=utf-8', 'refresh' => "0; url=#{place}" }, []]
      end

      def html?(env)
        env['HTTP_ACCEPT'].to_s.include?('text/html')
      end

      # Clients of the API find its versions at the root, and browsers the first page.
      def page?(env)
        path = env.fetch('PATH_INFO')
        path.match?(PAGES) || (html?(env) && !Api::PATHS.include?(path[%r{\A/([^/]*)}, 1]))
      end
    end
  end
end
