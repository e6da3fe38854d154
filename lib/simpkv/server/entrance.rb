# frozen_string_literal: true

require 'simpkv/server/console'
require 'simpkv/server/gate'

module Simpkv
  module Server
    # Sends requests for pages to the {Console}, and all others to the API. A middleware of Rack after {Observation}.
    #
    # Everybody who can connect gets the pages themselves. What they show comes from requests that the console sends to
    # the API with the caller's rights.
    class Entrance
      # The pages beside the first one. The API has other paths.
      PAGES = %r{\A/(?:console|nodes|facts|resources|query|keys|rules|access)(?:/|\z)}.freeze
      private_constant :PAGES

      # @param gate [Gate] of the API
      # @param limit [#call] wraps an application so that its bodies have a limit
      def initialize(gate, &limit)
        @gate = gate
        @pages = limit.call(Console.application(gate))
      end

      # @param env [Hash{String => Object}] of Rack
      # @return [Array] the response
      # @raise [Problem, Error] the request is refused
      def call(env)
        return @gate.call(env) unless page?(env)

        @gate.identify(env)
        @pages.call(env)
      end

      private

      # Clients of the API find its versions at the root, and browsers the first page.
      def page?(env)
        path = env.fetch('PATH_INFO')
        path == '/' ? env['HTTP_ACCEPT'].to_s.include?('text/html') : path.match?(PAGES)
      end
    end
  end
end
