# frozen_string_literal: true

require 'simpkv/cli/estate/spool_command'

module Simpkv
  module Cli
    module Commands
      module Spool
        # Gives up entries of the spool.
        class Rm < SpoolCommand
          SUMMARY = 'delete entries of the spool, which are lost then'
          ARGUMENTS = 'ENTRY...'
          DESCRIPTION = <<~TEXT
            Deletes entries of the spool of this machine without delivering them: those that simpkv spool flush cannot
            store, for a reason that cannot be removed. The next run of the node stores what it has then. Exits with 66
            if an entry does not exist; the others are deleted.
          TEXT
          EXAMPLES = { 'simpkv spool rm 1796000000123456-facts-9f86d081884c7d65' => 'An entry of simpkv spool list' }
                     .freeze

          def run(*names)
            raise Failure.new("which entries? (simpkv #{self.class.title} --help)", Failure::USAGE) if names.empty?

            deleted, missing = on_spool { |spool| names.partition { |name| spool.delete(name) } }
            output.print({ 'deleted' => deleted, 'missing' => missing }) { deleted.map { |name| "deleted #{name}" } }
            raise no_entry(missing.first) if missing.any?
          end
        end
      end
    end
  end
end
