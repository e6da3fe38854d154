# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    module Commands
      module Secret
        # Lists secrets.
        class List < Command
          include Versioned

          SUMMARY = 'list secrets: their kinds, ages and formats'
          ARGUMENTS = '[FOLDER]'
          DESCRIPTION = <<~TEXT
            Lists the secrets that simpkv::secret and simpkv secret have made in a folder, and in all folders below it:
            the kind, the time at which the secret was made, the forms that were made of it, and the key. Prints no
            secret. If keys cannot be read, lists them on standard error and exits with 65.
          TEXT
          EXAMPLES = { 'simpkv secret list' => 'Those of the environment production',
                       'simpkv secret list -g' => 'Those that all environments share' }.freeze

          def run(folder = '')
            tree = about_folder(folder) do
              reading.tree(path_of(folder), required: !folder.empty?) { |_, document| facts(document) }
            end
            faults, found = tree[:keys].compact.partition { |_, facts| facts.is_a?(String) }.map(&:to_h)
            found = found.sort.map { |name, facts| { 'key' => Output.name(name) }.merge(facts) }
            output.print(found) { lines(found) }
            report(tree[:errors].merge(faults))
          end

          private

          # @return [Hash{String => Object}, String, nil] facts of a secret; why its document cannot be read; nil for
          #   another key, and for one that has expired
          def facts(document)
            return if Value.expired?(document)

            entry = Secrets::Entry.new(document)
            { 'kind' => entry.kind, 'made_at' => entry.made_at, 'forms' => entry.forms.keys.sort } if entry.kind
          rescue InvalidError
            nil # Its value is no secret.
          rescue MalformedError => e
            e.message
          end

          def lines(found)
            return [] if found.empty?

            rows = found.map do |each|
              [each['kind'], each['made_at'] || '-', each['forms'].empty? ? '-' : each['forms'].join(','), each['key']]
            end
            Output.table([%w[kind made forms key], *rows])
          end
        end
      end
    end
  end
end
