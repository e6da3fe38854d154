# frozen_string_literal: true

require 'simpkv/server/console'
require 'simpkv/server/gate'

module Simpkv
  module Server
    # Sends requests for pages to the {Console}, and all others to the API. A middleware of Rack after {Observation}.
    #
    # Everybody who can connect gets the pages themselves. What they show comes from requests that the console sends to
    # the API with the caller's rights. A request that is refused before it comes to a page has a page as its answer, if
    # it comes from a browser.
    class Entrance
      # The pages beside the first one. The API has other paths.
      PAGES = %r{\A/(?:console|nodes|facts|resources|query|keys|rules|access)(?:/|\z)}.freeze
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

      private

      def visit(env)
        @gate.identify(env)
        @pages.call(env)
      rescue Problem, Error => e
        raise unless html?(env)

        @console.call(env.merge(Console::REFUSED => Problem.of(e)))
      end

      def html?(env)
        env['HTTP_ACCEPT'].to_s.include?('text/html')
      end

      # Clients of the API find its versions at the root, and browsers the first page.
      def page?(env)
        path = env.fetch('PATH_INFO')
        path == '/' ? html?(env) : path.match?(PAGES)
      end
    end
  end
end
