# frozen_string_literal: true

module Simpkv
  module Cli
    # Checks whether the index of queries, which `simpkv serve` keeps, agrees with the store. Changes nothing.
    class IndexExamination
      # The subject of the findings.
      WHAT = 'index of queries'
      # The number of nodes that are named.
      NAMED = 5
      # The seconds after which nobody seems to refresh an index.
      KEPT = 60
      private_constant :WHAT, :NAMED, :KEPT

      # @param estate [Estate]
      # @param folder [String, nil] the option `index` of `server`
      # @param findings [Findings] to be filled
      def initialize(estate, folder, findings)
        @estate = estate
        @folder = folder
        @findings = findings
      end

      # @return [void]
      # @raise [Simpkv::Error] the store cannot be used
      def perform
        @index = index
        return unless @index

        state = @index.examine { |database| Query::Index::State.of(database) }
        report(state) if state
      rescue MalformedError => e
        anew(e.message)
      rescue ConfigError => e
        @findings.unknown(WHAT, "not examined: #{e.message}")
      end

      private

      # @return [Query::Index, nil] nil without the gem simpkv-server, which has the code, or without a place for it
      def index
        require 'simpkv/query/builder'
        Query::Index.of(@estate, @folder)
      rescue LoadError, ConfigError
        nil
      end

      def report(state)
        if state.failure
          @findings.problem(WHAT, "it cannot be refreshed since #{time(state.failed)}: #{state.failure}",
                            'remove the cause. Until then, queries are answered with an error')
        end
        different = Query::Builder.new(@estate, @index).check
        return @findings.ok(WHAT, age(state)) if different.empty? && !state.failure

        differ(different) if different.any?
      end

      def age(state)
        return 'not complete yet' unless state.refreshed

        kept = state.age > KEPT ? ', and no service refreshes it' : ''
        "as of #{time(state.refreshed)}#{kept}"
      end

      def differ(names)
        shown = names.first(NAMED).map { |name| Output.name(name) }.join(', ')
        more = ", and #{names.length - NAMED} more" if names.length > NAMED
        anew("#{Output.count(names.length, 'node')} not as in the store: #{shown}#{more}")
      end

      def anew(why)
        @findings.problem(WHAT, why, "rm #{LdapAccess.shell([@index.path])}*: the next refresh makes it anew")
      end

      def time(seconds)
        Time.at(seconds).utc.strftime('%Y-%m-%dT%H:%M:%SZ')
      end
    end
  end
end
