# frozen_string_literal: true

require 'simpkv/access/foreign_entries'

module Simpkv
  module Cli
    module Doctor
      module Directory
        # Reports the entries among keys and folders that simpkv does not make.
        class ForeignEntries
          # The number of entries that are named.
          NAMED = 10
          private_constant :NAMED

          # @param backend [ChosenBackend]
          # @param findings [Findings] to be filled
          # @param server [String] `389ds` or `openldap`
          # @param folder [String, nil] the path of the only folder to examine
          def initialize(backend, findings, server, folder)
            store = backend.store(base: false)
            @entries = Access::ForeignEntries.new(store, backend.settings, server, folder)
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
                              'simpkv has not made it: find out who has; then delete it: ' \
                              "#{@entries.deletion(entry)}")
          end
        end
      end
    end
  end
end
