# frozen_string_literal: true

require 'simpkv/server/problem'

module Simpkv
  module Server
    # Limits the size of bodies, a middleware of Rack after {Gate}. Puma has one limit for all, that of the largest.
    class BodyLimit
      # The path of PuppetDB's commands, which have catalogs.
      COMMANDS = %r{\A/pdb/cmd/v1/?\z}.freeze
      # Bytes of another body.
      MAX = 1024 * 1024
      private_constant :COMMANDS, :MAX

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
        limit = env.fetch('PATH_INFO').match?(COMMANDS) ? @commands : MAX
        raise Problem.new(413, "a body has at most #{limit} bytes here") if env['CONTENT_LENGTH'].to_i > limit

        @app.call(env)
      end
    end
  end
end
