# frozen_string_literal: true

require 'simpkv/termini'

module Simpkv
  module Termini
    # The answers of `simpkv::query`. On MRI, this process makes them from the index. On JRuby, which has no SQLite, and
    # with the option `query_uri`, the service makes them. All queries of a catalog use one session.
    #
    # An answer has what the run of the node has stored before, or it is an error. What waits in the spool, or was
    # dropped because of the option `soft_writes`, it lacks: a warning tells that, and nothing waits for it.
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
            session(compiler, estate).call(query)
          rescue InvalidError => e
            raise ArgumentError, "simpkv::query: #{e.message}", cause: nil
          end
        end

        private

        def session(compiler, estate)
          compiler.instance_variable_get(KEPT) || compiler.instance_variable_set(KEPT, new_session(estate, compiler))
        end

        # @return [#call] returns the rows of a query
        def new_session(estate, compiler)
          node = compiler.node.name
          address = estate.options['query_uri']
          return remote(address, (node if stored?(estate, node))) if address || RUBY_ENGINE == 'jruby'

          local(Gems.demand('termini/sessions', 'index', NEED).new(estate, options_of_service), stored?(estate, node))
        end

        # @param node [String, nil] as for {RemoteQuery}
        def remote(address, node)
          require 'simpkv/termini/remote_query'
          tls = { ca: Puppet[:localcacert], cert: Puppet[:hostcert], key: Puppet[:hostprivkey] }
          RemoteQuery.new(address, tls, options_of_service['query_seconds'], node: node).method(:rows)
        end

        def local(session, stored)
          ->(query) { stored ? Estate::Run.current.at_writer { session.rows(query) } : session.rows(query) }
        end

        # @return [Boolean] whether the server of writes has what the run has saved, as far as this process knows
        def stored?(estate, node)
          return !estate.counters.dropped? unless estate.spool
          return true unless estate.spool.waits?(node)

          Puppet.warning("simpkv::query: what '#{node}' has reported waits in the spool '#{estate.spool.path}': " \
                         'answers do not have it')
          false
        end

        def options_of_service
          SiteFile.load([Puppet[:confdir]]) { |site| Config::Sections.convert(site, 'server') }
        end
      end
    end
  end
end
