# frozen_string_literal: true

require 'simpkv/server/api'
require 'simpkv/server/console'
require 'simpkv/server/gate'

module Simpkv
  module Server
    # Sends requests for pages to the {Console}, and all others to the API. A middleware of Rack after {Observation}.
    #
    # Everybody who can connect gets the pages themselves. What they show comes from requests that the console sends to
    # the API with the caller's rights. A browser gets a page also where there is none, and for an error.
    class Entrance
      # The beginnings of the paths of pages beside the first one.
      PAGES = %r{\A/#{Regexp.union(Console::PATHS)}(?:/|\z)}.freeze
      private_constant :PAGES

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
        @gate.identify(env)
        @pages.call(env)
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
