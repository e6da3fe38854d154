# frozen_string_literal: true

require 'simpkv/cli/doctor/examination'

module Simpkv
  module Cli
    module Doctor
      module Nodes
        # Checks whether the index of queries, which `simpkv serve` keeps, agrees with the store. Changes nothing.
        class Index < Examination
          # The subject of the findings.
          WHAT = 'index of queries'
          # The number of nodes that are named.
          NODES = 5
          # The seconds after which nobody seems to refresh an index.
          KEPT = 60
          private_constant :WHAT, :NODES, :KEPT

          # @param subject [Subject]
          def initialize(subject)
            super(subject.backend, subject.findings, simpkv: subject.simpkv)
            @estate = subject.estate
            @configuration = subject.configuration
          end

          # @return [void]
          # @raise [Simpkv::Error] the store cannot be used
          def perform
            @index = index if sqlite?
            examine if @index
          rescue ConfigError => e
            findings.unknown(WHAT, "not examined: #{e.message}")
          end

          private

          # @return [Boolean] false in a checkout without the gem sqlite3, in which nobody has made an index
          # @raise [ConfigError] it is there, and cannot be loaded
          def sqlite?
            Gems.load_for('the index', 'simpkv-server') do
              require 'simpkv/query/builder'
              true
            rescue LoadError => e
              raise unless e.path == 'sqlite3'
            end
          end

          # @return [Query::Index, nil] nil without a place for it
          def index
            Query::Index.of(@estate, @configuration.section('server')['index'])
          rescue ConfigError
            nil
          end

          def examine
            @index.former.each { |path| former(path) }
            state = @index.examine { |database| Query::Index::State.of(database) }
            report(state) if state
          rescue Query::DamagedError => e
            anew(e.message)
          rescue MalformedError => e
            # The index is sound, and has what the store had before.
            findings.problem(WHAT, "it cannot be compared with the store: #{e.message}", remedy(e.key))
          end

          # The service deletes its own one when it starts, unless another process uses it.
          def former(path)
            findings.problem(WHAT, "'#{path}' has facts and resources of the store from before it was encrypted",
                             "restart the service, or: rm #{LdapAccess.shell([path])}*")
          end

          def report(state)
            if state.failure
              findings.problem(WHAT, "it cannot be refreshed since #{time(state.failed)}: #{state.failure}",
                               'remove the cause. Until then, queries are answered with an error')
            end
            different = Query::Builder.new(@estate, @index).check
            return findings.ok(WHAT, age(state)) if different.empty? && !state.failure

            differ(different) if different.any?
          end

          def age(state)
            return 'not complete yet' unless state.refreshed

            return "as of #{time(state.refreshed)}, which is yet to come, until the next refresh" unless state.age

            kept = state.age > KEPT ? ', and no service refreshes it' : ''
            "as of #{time(state.refreshed)}#{kept}"
          end

          def differ(names)
            shown = names.first(NODES).map { |name| Output.name(name) }.join(', ')
            more = ", and #{names.length - NODES} more" if names.length > NODES
            anew("#{Output.count(names.length, 'node')} not as in the store: #{shown}#{more}")
          end

          def anew(why)
            findings.problem(WHAT, why, "rm #{LdapAccess.shell([@index.path])}*: the next refresh makes it anew")
          end

          # Facts may be missing if the inventory does not name them. Exports stay: nodes that collect and purge them
          # would remove what they declare.
          #
          # @param path [String, nil] of the document that cannot be read; nil if the error names none
          # @return [String]
          def remedy(path)
            return 'remove the cause, and keep the index' unless path

            deletion = "restore it from a backup, or delete it: #{removal(path)}. "
            return "#{deletion}The next refresh follows the store then" unless path.match?(OF_RUNS)

            facts = "#{deletion}Then " if path.include?('/facts/')
            "#{facts}#{stored_anew(File.basename(path))}"
          end

          def time(seconds)
            Time.at(seconds).utc.strftime('%Y-%m-%dT%H:%M:%SZ')
          end
        end
      end
    end
  end
end
