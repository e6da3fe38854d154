# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'
require 'simpkv/cli/value'

module Simpkv
  module Cli
    module Commands
      module Node
        # Prints the resources that a node exports.
        class Exports < EstateCommand
          SUMMARY = 'print the resources that a node exports'
          ARGUMENTS = 'NODE [TYPE]'
          DESCRIPTION = <<~TEXT
            Prints the resources that a node exports, of all types or of one, as its last run stored them: title, tags
            and parameters. Prints [redacted], in every format, for a Sensitive and for a parameter or member with the
            name of a secret, such as password, unless --show-sensitive is given. For programs, parameters of Puppet's
            own types have the form in which they are stored. Exits with 66 if the node exports nothing of that type.
          TEXT
          EXAMPLES = {
            'simpkv node exports web1' => 'All types',
            'simpkv node exports web1 nagios_host -o json' => 'A type, for a program'
          }.freeze

          def run(name, type = nil)
            errors = {}
            exports = exported(name) { |key, why| errors[key] = why }
            exports = of_type(name, type.downcase, exports, errors) if type
            not_there(name, 'there is no exported resource of a node', node_names) if exports.empty? && errors.empty?

            exports = secrets(estate).exports(exports)
            output.print(exports) { lines(exports) }
            report(errors)
          end

          # @return [Array<String>] the types that a node exports, for completion
          def types(name)
            exported(name).keys
          end

          private

          def define(parser)
            parser.on('--show-sensitive', 'print Sensitive values and other secrets too') { @show_secrets = true }
          end

          def exported(name, &block)
            on_estate { |estate| estate.exports.of(name, &block) }.reject { |_, list| list.empty? }
          end

          def of_type(name, type, exports, errors)
            unless exports.key?(type) || errors.any?
              not_there(type, "there is nothing that '#{name}' exports of the type", exports.keys)
            end

            exports.slice(type)
          end

          def lines(exports)
            exports.sort.flat_map do |type, list|
              list.sort_by { |resource| resource['title'] }.flat_map { |resource| resource_lines(type, resource) }
            end
          end

          def resource_lines(type, resource)
            reference = Output.name("#{type.split('::').map(&:capitalize).join('::')}['#{resource['title']}']")
            parameters = (resource['parameters'] || {}).sort.map do |name, value|
              ["  #{name}", shown(value, quote: true)]
            end
            tags = resource['tags'].to_a.any? ? [['  tags', resource['tags'].join(', ')]] : []
            [reference, *table(parameters + tags)]
          end

          def table(rows)
            rows.empty? ? [] : Output.table(rows)
          end
        end
      end
    end
  end
end
