# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/directory/conflict_entries'

module Simpkv
  module Cli
    module Commands
      module Conflicts
        # Shows what replication left behind.
        class List < Command
          SECTION = :storage
          SUMMARY = 'show the keys of which replication has kept two versions'
          ARGUMENTS = ''
          DESCRIPTION = <<~TEXT
            Shows the entries that replication of 389 Directory Server left behind after two servers had taken writes at
            a time: of each key the version that is in use and those that lost, when each was written last, and by whom.
            Prints no values. A folder that lost is empty: its keys are in the folder of its name. A revived folder was
            deleted on one server while the other one added a key to it, and is in use. OpenLDAP keeps the later
            version of a key and no trace of the other one, so that there is nothing to show. Asks the server for
            writes, with ldapsearch. Exits with 1 if a version of a key has lost, or a folder.
          TEXT
          EXAMPLES = {
            'simpkv conflicts list' => 'The backend that functions use',
            'simpkv conflicts list -o json' => 'For a program'
          }.freeze

          def run
            raise Failure.new("#{backend.title} is not in a directory", Failure::USAGE) unless backend.ldap?

            entries = ConflictEntries.at_writer(backend.settings)
            found = about('') { entries.all.map { |entry| shown(entries, entry) } }
            output.print(found) { lines(found) }
            Failure::NO if found.any? { |entry| entry['state'] == 'lost' }
          end

          private

          def shown(entries, entry)
            used = entries.in_use(entry.path) if entry.kind == 'key' && entry.path
            { 'path' => entry.path, 'kind' => entry.kind == 'key' ? 'key' : 'folder',
              'state' => entry.lost? ? 'lost' : 'revived', 'time' => entry.time, 'writer' => entry.writer,
              'used' => used && { 'time' => used.first, 'writer' => used.last }, 'dn' => entry.dn }
          end

          def lines(found)
            return ['no conflicts'] if found.empty?

            rows = found.flat_map do |entry|
              used = entry['used']
              [([entry['path'], 'key', 'in use', *used.values_at('time', 'writer')] if used),
               [entry['path'] || entry['dn'], *entry.values_at('kind', 'state', 'time', 'writer')]].compact
            end
            Output.table([%w[path kind state time writer], *rows])
          end
        end
      end
    end
  end
end
