# frozen_string_literal: true

require 'simpkv/access/foreign_entries'

module Simpkv
  module Cli
    # Reports the entries among keys and folders that simpkv does not make.
    class ForeignEntriesExamination
      # The number of entries that are named.
      NAMED = 10
      private_constant :NAMED

      # @param entries [Simpkv::Access::ForeignEntries]
      # @param findings [Findings] to be filled
      def initialize(entries, findings)
        @entries = entries
        @findings = findings
      end

      # @return [void]
      def perform
        all = @entries.all
        return @findings.ok('foreign entries', 'none') if all.empty?

        all.first(NAMED).each { |entry| report(entry) }
        return if all.length <= NAMED

        @findings.problem('foreign entries', "#{all.length}, of which #{NAMED} are named", 'delete these first')
      rescue Simpkv::Error => e
        @findings.unknown('foreign entries', e.message, "by hand: #{@entries.command}")
      end

      private

      def report(entry)
        @findings.problem('foreign entry', "#{entry.dn}: #{entry.why}",
                          "simpkv has not made it: find out who has; then delete it: #{@entries.deletion(entry)}")
      end
    end
  end
end
