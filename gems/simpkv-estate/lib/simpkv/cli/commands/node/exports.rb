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
          ARGUMENTS = '[NODE [TYPE]]'
          ANYWHERE = true
          DESCRIPTION = <<~TEXT
            Prints the resources that a node exports, of all types or of one, as its last run stored them: title, tags
            and parameters. Without NODE, prints those of all nodes of the type that --type names: with --title, who
            exports a resource. Nodes that have expired are left out then, as collectors leave them out. Prints
            [redacted], in every format, for a Sensitive and for a parameter or member with the name of a secret, such
            as password, unless --show-sensitive is given. For programs, parameters of Puppet's own types have the form
            in which they are stored. Exits with 66 if there is nothing to print.
          TEXT
          EXAMPLES = {
            'simpkv node exports web1' => 'All types',
            'simpkv node exports web1 nagios_host -o json' => 'A type, for a program',
            'simpkv node exports --type file --title /etc/motd' => 'Who exports this resource?'
          }.freeze

          def run(name = nil, type = @type)
            errors = {}
            type &&= type.downcase
            found = name ? of_node(name, type, errors) : of_nodes(type, errors)
            output.print(found) { name ? lines(found) : found.flat_map { |node, exports| node_lines(node, exports) } }
            report(errors)
          end

          # @param name [String, nil] nil for all nodes
          # @return [Array<String>] the types that a node exports, for completion
          def types(name)
            name ? exported(name).keys : on_estate { |estate| estate.exports.types }
          end

          private

          def define(parser)
            parser.on('--type TYPE', 'only resources of this type') { |type| @type = type }
            parser.on('--title TITLE', 'only resources with this title') { |title| @title = title }
            parser.on('--show-sensitive', 'print Sensitive values and other secrets too') { @show_secrets = true }
          end

          # @return [Hash{String => Array<Hash>}] by type
          def of_node(name, type, errors)
            exports = exported(name) { |key, why| errors[key] = why }
            exports = of_type(name, type, exports, errors) if type
            exports = titled(exports)
            not_there(name, 'there is no exported resource of a node', node_names) if exports.empty? && errors.empty?

            secrets(estate).exports(exports)
          end

          # @return [Hash{String => Hash{String => Array<Hash>}}] by node and type
          def of_nodes(type, errors)
            raise Failure.new('either NODE or --type TYPE is needed', Failure::USAGE) unless type

            all = on_estate { |estate| estate.exports.all(type) { |key, why| errors[key] = why } }
            found = all.sort.to_h { |node, list| [node, titled(type => list)] }.reject { |_, exports| exports.empty? }
            refuse_none(type, all) if found.empty? && errors.empty?
            found.transform_values { |exports| secrets(estate).exports(exports) }
          end

          def refuse_none(type, all)
            not_there(type, 'no node exports a resource of the type', types(nil)) if all.empty?
            titles = all.values.flatten.map { |resource| resource['title'] }
            not_there(@title, "no node exports a resource of the type '#{type}' with the title", titles)
          end

          def titled(exports)
            return exports unless @title

            exports.transform_values { |list| list.select { |resource| resource['title'] == @title } }
                   .reject { |_, list| list.empty? }
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

          def node_lines(node, exports)
            ["#{Output.name(node)}:", *lines(exports).map { |line| "  #{line}" }]
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
