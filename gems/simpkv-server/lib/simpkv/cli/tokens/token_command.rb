# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    # The base class of the commands for tokens of the service. They use the store, and need no service.
    class TokenCommand < Command
      HEAD = %w[id maker created expires used rights note].freeze
      private_constant :HEAD

      private

      def common(parser)
        config_option(parser)
        last_options(parser)
      end

      # Runs a call for the tokens. Its errors name the backend.
      #
      # @yieldparam tokens [Server::Tokens]
      def on_tokens(create: false)
        Gems.load_for("simpkv #{self.class.title}", 'simpkv-server') { require 'simpkv/server/tokens' }
        named = configuration.backend(name)
        backend = named.with(Server::Tokens.overriding(named.settings))
        yield Server::Tokens.new(named.settings) { backend.store(create: create) }
      rescue Simpkv::Error => e
        raise Failure.new("#{backend.title}: #{backend.explain(e)}", Failure.code_for(e))
      end

      # @return [String] the name of the backend
      # @raise [Failure] no option says where tokens lie
      def name
        configuration.section('server')['tokens'] ||
          raise(Failure.new("no backend for tokens: set 'tokens' of 'server' to the name of one (docs/service.md)",
                            Failure::CONFIG))
      end

      # @param list [Array<Hash>] of {Server::Tokens::Token#plain}
      # @return [Array<String>] lines
      def table(list)
        return [] if list.empty?

        Output.table([HEAD, *list.map { |token| token.merge('rights' => words(token['rights'])).values_at(*HEAD) }])
      end

      def words(rights)
        rights.map do |right|
          limits = right.slice('environments', 'backends').map { |name, list| "#{name}=#{list.join(',')}" }
          [right['methods'].join(','), right['paths'].join(','), *limits].join(' ')
        end.join('; ')
      end
    end
  end
end
