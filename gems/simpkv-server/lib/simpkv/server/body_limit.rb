# frozen_string_literal: true

require 'simpkv/server/problem'

module Simpkv
  module Server
    # Limits the size of bodies, a middleware of Rack after {Gate}. Puma has one limit for all, that of the
    # largest; {Connection} asks for the rights before a body is larger than that of others.
    class BodyLimit
      # The paths of PuppetDB's commands, which have catalogs, and of archives, which have commands.
      COMMANDS = %r{\A/pdb/(?:cmd/v1/?|admin/v1/archive)\z}.freeze
      # Bytes of another body.
      MAX = 1024 * 1024
      private_constant :COMMANDS, :MAX

      # @param env [Hash{String => Object}] whose path {Gate} has decoded
      # @return [Boolean] whether the request has commands
      def self.command?(env)
        env['REQUEST_METHOD'] == 'POST' && env.fetch('PATH_INFO').match?(COMMANDS)
      end

      # @param app [#call] the next step
      # @param commands [Integer] bytes of a command
      def initialize(app, commands)
        @app = app
        @commands = commands
      end

      # @param env [Hash{String => Object}]
      # @return [Array] the response
      # @raise [Problem] 413
      def call(env)
        limit = self.class.command?(env) ? @commands : MAX
        raise Problem.new(413, "a body has at most #{limit} bytes here") if env['CONTENT_LENGTH'].to_i > limit

        @app.call(env)
      end
    end
  end
end
