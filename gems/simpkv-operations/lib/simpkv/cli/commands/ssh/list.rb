# frozen_string_literal: true

require 'simpkv/cli/ssh_command'

module Simpkv
  module Cli
    module Commands
      module Ssh
        # Lists the SSH keys of a folder.
        class List < SshCommand
          SUMMARY = 'list the SSH keys of a folder'
          ARGUMENTS = 'FOLDER'
          DESCRIPTION = <<~TEXT
            Lists the SSH keys of a folder: the name of each key, its type, its fingerprint as ssh-keygen -l prints it,
            its options and its comment. Names keys that are no SSH keys on standard error. -o json and -o yaml print
            the public keys, too.
          TEXT
          EXAMPLES = {
            'simpkv ssh list ssh/felix' => 'A line for each key',
            'simpkv ssh list ssh/felix -o json' => 'For a program, with the public keys'
          }.freeze

          HEAD = %w[name type fingerprint options comment].freeze
          private_constant :HEAD

          def run(folder)
            listing = about_folder(folder) { list_live(reading, backend.path(folder)) { |_, document| key(document) } }
            errors = listing[:errors]
            valid, others = listing[:keys].sort.partition { |_, key| key }
            others.each { |name,| errors[name] = 'it is no SSH key' }
            rows = valid.map { |name, key| row(Output.name(name), key) }
            output.print(rows) { table(rows) }
            report(errors.transform_keys { |name| "#{folder.chomp('/')}/#{name}" })
          end

          private

          def row(name, key)
            { 'name' => name, **key.to_value, 'fingerprint' => key.fingerprint }
          end

          def table(rows)
            return [] if rows.empty?

            Output.table([HEAD, *rows.map { |row| cells(row) }])
          end

          def cells(row)
            row.merge('options' => row['options'].join(',')).values_at(*HEAD).map { |cell| cell.empty? ? '-' : cell }
          end
        end
      end
    end
  end
end
