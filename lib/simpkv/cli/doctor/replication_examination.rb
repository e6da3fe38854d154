# frozen_string_literal: true

require 'simpkv/backend/server_comparison'
require 'simpkv/cli/output'

module Simpkv
  module Cli
    # Checks that the servers of a directory hold the same.
    class ReplicationExamination
      WHAT = 'replication'
      DIFFERENCES = { missing: 'lacks', different: 'has other documents of', surplus: 'has in addition' }.freeze
      private_constant :WHAT, :DIFFERENCES

      # @param backend [ChosenBackend] of type ldap
      # @param bases [Hash{String => Symbol}] by server that answers, a result of {LdapAccess.base}
      # @param findings [Findings] to be filled
      # @param remedies [DirectoryRemedies]
      def initialize(backend, bases, findings, remedies)
        @backend = backend
        @bases = bases
        @findings = findings
        @remedies = remedies
      end

      # Warns if several servers could take writes, and names the servers that lack the base entry, if others have it.
      #
      # @return [void]
      def look_at_servers
        warning = LdapAccess.writer_warning(@backend.settings)
        @findings.warning('writes', *warning.split(': ', 2)) if warning
        holder = @bases.key(:visible)
        lacking = holder ? @bases.reject { |_, base| base == :visible }.keys : []
        lacking.each do |uri|
          @findings.problem(WHAT, "#{uri} has no entry #{@backend.settings['base_dn']}, or #{@backend.bound_as} may " \
                                  "not see it there; #{holder} has it", @remedies.for_replication(uri))
        end
      end

      # Compares the keys of the servers that do not lack the base entry.
      #
      # @param roots [Array<String>] the folders to compare
      # @param writable [String, nil] the server whose keys the others should have
      # @yieldparam what [String] the subject of a finding
      # @yieldparam error [Simpkv::Error] why servers cannot be compared
      # @yieldparam fix [String] its remedy
      # @return [void]
      def compare(roots, writable, &trouble)
        first, *others = [writable, *@bases.keys].uniq & comparable
        return if others.empty?

        comparison = ServerComparison.new(@backend.settings, first, roots)
        others.each { |uri| compare_with(comparison, first, uri, &trouble) }
      rescue Simpkv::Error => e
        yield WHAT, e, 'remove the cause, so that the servers can be compared'
      ensure
        comparison&.close
      end

      private

      # @return [Array<String>] the servers with the base entry; all, if none shows it
      def comparable
        visible = @bases.select { |_, base| base == :visible }.keys
        visible.empty? ? @bases.keys : visible
      end

      def compare_with(comparison, first, uri)
        different = comparison.to(uri)
        keys = "#{Output.count(comparison.count, 'key')} of #{first}"
        return @findings.ok(WHAT, "#{uri} has the #{keys}") if different.empty?

        facts = DIFFERENCES.select { |kind, _| different[kind] }.map do |kind, verb|
          "#{verb} #{Output.count(different[kind].length, 'key')}, such as '#{Output.name(different[kind].first)}'"
        end
        @findings.problem(WHAT, "of the #{keys}, #{uri} #{facts.join('; ')}", @remedies.for_replication(uri))
      rescue Simpkv::Error => e
        yield WHAT, e, "remove the cause, so that #{uri} can be compared with #{first}"
      end
    end
  end
end
