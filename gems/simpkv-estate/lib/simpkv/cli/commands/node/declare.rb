# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/cli/estate/estate_command'
require 'simpkv/cli/estate/node_record'
require 'simpkv/cli/value'

module Simpkv
  module Cli
    module Commands
      module Node
        # Declares the environment, the classes and the parameters of a node.
        class Declare < EstateCommand
          SUMMARY = 'declare the environment, classes and parameters of a node'
          ARGUMENTS = 'NODE'
          NODES_IN = %w[status inventory nodes].freeze
          DESCRIPTION = <<~TEXT
            Stores the declared record of a node, which Puppet's setting node_terminus = simpkv reads as it reads the
            output of an external node classifier. Keeps what is not given: a class or parameter is added to those
            that are declared, or replaces the one of that name. Prints which entries were added, changed or removed,
            and no values.

            A file has the members of a record in YAML or JSON: environment, classes (a list, or a Hash with the
            parameters of each class) and parameters. If another client changes the record at the same time, both
            changes are kept. A declared record outlives simpkv node deactivate and simpkv node expire; simpkv node
            undeclare removes it.
          TEXT
          EXAMPLES = {
            'simpkv node declare web1 --environment production --class role::web' => 'An environment and a class',
            'simpkv node declare web1 --parameter datacenter=fra1 --parameter rack=12' => 'Parameters, as text',
            "simpkv node declare web1 --json --parameter 'ports=[80, 443]'" => 'A parameter of another type',
            'simpkv node declare web1 --remove classes.role::web' => 'Without a class',
            'simpkv node declare web1 --replace --file - < web1.yaml' => 'A whole record from standard input'
          }.freeze

          def run(name)
            given = given_members
            if given.empty? && @removed.empty? && !@replace
              raise Failure.new('nothing to declare (simpkv node declare --help)', Failure::USAGE)
            end

            present(name, change(name, NodeRecord.new(given, removed: @removed, replace: @replace)))
          end

          private

          def define(parser)
            @classes = {}
            @parameters = {}
            @removed = []
            parser.on('-e', '--environment ENVIRONMENT', 'the environment of its catalogs') do |name|
              @environment = name
            end
            parser.on('--class CLASS', 'a class without parameters of its own') { |name| @classes[name] = {} }
            parser.on('--parameter NAME=VALUE', 'a top-scope variable') { |text| add_parameter(text) }
            parser.on('--json', 'the values of parameters are JSON') { @json = true }
            parser.on('-f', '--file FILE', 'members of the record in YAML or JSON; - is standard input') do |file|
              @file = file
            end
            parser.on('--remove ENTRY', 'a member of the record, or an entry: classes.NAME') { |path| @removed << path }
            parser.on('--replace', 'remove all that is not given') { @replace = true }
          end

          def add_parameter(text)
            name, value = text.split('=', 2)
            raise OptionParser::InvalidArgument, '--parameter' if value.nil? || name.empty?

            @parameters[name] = value
          end

          # @return [Hash{String => String}] see {NodeRecord.changes}
          def change(name, change)
            changes = {}
            on_estate do |estate|
              estate.nodes.update(name) do |old|
                change.applied_to(old).tap { |new| changes = NodeRecord.changes(NodeRecord.uniform(old), new) }
              end
            end
            warn_of_missing(changes)
            changes
          end

          # @param changes [Hash{String => String}]
          def warn_of_missing(changes)
            missing = @removed.reject { |path| changes.keys.any? { |entry| "#{entry}.".start_with?("#{path}.") } }
            missing.each { |path| warn "simpkv: --remove #{Output.name(path)}: it is not declared" }
          end

          # The members of the file, and those of the options, which win.
          def given_members
            options = { 'environment' => @environment, 'classes' => @classes, 'parameters' => parameters }
            options = options.reject { |_, value| value.nil? || value.empty? }
            given = @file ? NodeRecord.new(options).applied_to(read(@file)) : options
            given.tap { check_classes(given['classes']) }
          end

          def check_classes(classes)
            return unless classes.is_a?(Hash)

            wrong = classes.keys.find { |name| !name.to_s.match?(Estate::Nodes::CLASS) }
            raise Failure.new("'#{wrong}' is no name of a class, such as role::web", Failure::DATA) if wrong
          end

          def parameters
            return @parameters unless @json

            @parameters.to_h { |name, text| [name, Value.parse(text, "the value of parameter '#{name}'")] }
          end

          # @return [Hash]
          def read(file)
            data = DataFile.read(file)
            data.is_a?(Hash) ? data : raise(Failure.new("file '#{file}' must have a Hash, the members of a record", Failure::DATA))
          end

          def present(name, changes)
            output.print('node' => name, 'changes' => changes) do
              next ["'#{name}' is unchanged"] if changes.empty?

              changes.map { |path, change| "#{change}: #{path}" }
            end
          end
        end
      end
    end
  end
end
