# frozen_string_literal: true

require 'simpkv/cli/directory/conflict_entries'

module Simpkv
  module Cli
    # Names the entries that replication of 389-DS left behind.
    class ConflictsExamination
      # The most entries that are named.
      NAMED = 10
      private_constant :NAMED

      # @param settings [Hash{String => Object}] of a backend of type ldap
      # @param findings [Findings] to be filled
      # @param remedies [DirectoryRemedies]
      def initialize(settings, findings, remedies)
        @entries = ConflictEntries.new(settings)
        @findings = findings
        @remedies = remedies
      end

      # @return [void]
      def perform
        all = @entries.all
        return @findings.ok('conflict entries', ConflictEntries::NONE) if all.empty?

        lost, revived = all.partition(&:lost?)
        lost.first(NAMED).each { |entry| note_lost(entry) }
        revived.first(NAMED).each do |entry|
          @findings.warning('revived folder', entry.dn, @remedies.for_revived(entry.dn))
        end
        note_rest(:problem, 'conflict entries', lost)
        note_rest(:warning, 'revived folders', revived)
      rescue Simpkv::Error => e
        @findings.unknown('conflict entries', e.message, "by hand: #{@entries.command}")
      end

      private

      def note_rest(state, what, entries)
        return if entries.length <= NAMED

        @findings.public_send(state, what, "#{entries.length}, of which #{NAMED} are named",
                              'simpkv conflicts list names all')
      end

      def note_lost(entry)
        @findings.problem('conflict entry', entry.dn, @remedies.for_conflict(@entries.deletion(entry)))
      end
    end
  end
end
