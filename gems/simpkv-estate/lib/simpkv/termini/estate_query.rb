# frozen_string_literal: true

require 'simpkv/termini'

module Simpkv
  module Termini
    # The answers of `simpkv::query`. On MRI, this process makes them from the index. On JRuby, which has no SQLite, and
    # with the option `query_uri`, the service makes them. All queries of a catalog use one session.
    module EstateQuery
      # The variable of the compiler that holds the session.
      KEPT = :@simpkv_queries
      # What needs the gem.
      NEED = "simpkv::query, if 'query_uri' of 'estate' names no service,"
      private_constant :KEPT, :NEED

      class << self
        # @param compiler [Puppet::Parser::Compiler]
        # @param query [String, Array] PQL, or an AST
        # @return [Array<Hash>] the rows
        # @raise [ArgumentError] the query is wrong
        # @raise [Puppet::Error]
        def answer(compiler, query)
          Termini.perform('query the estate', soft: false, node: compiler.node.name) do |estate|
            session(compiler, estate).rows(query)
          rescue InvalidError => e
            raise ArgumentError, "simpkv::query: #{e.message}", cause: nil
          end
        end

        private

        def session(compiler, estate)
          compiler.instance_variable_get(KEPT) || compiler.instance_variable_set(KEPT, new_session(estate))
        end

        def new_session(estate)
          address = estate.options['query_uri']
          return remote(address) if address || RUBY_ENGINE == 'jruby'

          Gems.demand('termini/sessions', 'index', NEED).new(estate, options_of_service)
        end

        def remote(address)
          require 'simpkv/termini/remote_query'
          tls = { ca: Puppet[:localcacert], cert: Puppet[:hostcert], key: Puppet[:hostprivkey] }
          RemoteQuery.new(address, tls, options_of_service['query_seconds'])
        end

        def options_of_service
          SiteFile.load([Puppet[:confdir]]) { |site| Config::Sections.convert(site, 'server') }
        end
      end
    end
  end
end
