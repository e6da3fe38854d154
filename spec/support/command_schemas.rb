# frozen_string_literal: true

require 'json'
require 'simpkv/cli/commands'

# Checks the output of `-o json` with the schemas of docs/schemas. A member that the schema does not describe is an
# error here, though clients must accept new members: so each has a description.
module CommandSchemas
  FOLDER = File.expand_path('../../docs/schemas', __dir__)

  # The option -o json in the arguments of a command line, and what makes a command print something else.
  JSON_OPTION = /(?:\A| )(?:-o ?json|--o[a-z]*[= ]json)(?: |\z)/.freeze
  HELP = %w[-h --help help].freeze
  private_constant :JSON_OPTION, :HELP

  # An output has no schema, or differs from it.
  class Undescribed < StandardError; end

  @schemas = {}

  class << self
    # @param command [Class] of a command
    # @return [String] the name of the file of its schema
    def file(command)
      "#{command.title.tr(' ', '-')}.json"
    end

    # @return [Array<Class>] the commands that print through {Simpkv::Cli::Output}
    def commands
      Simpkv::Cli::Commands.commands.select { |command| sources(command).any? { |text| text.match?(/\boutput\.\w/) } }
    end

    # @param arguments [Array<String>] of the command line
    # @param outcome [Command::Outcome]
    # @return [Command::Outcome] the same
    # @raise [Undescribed]
    def check(arguments, outcome)
      return outcome if outcome.out.empty? || !arguments.join(' ').match?(JSON_OPTION) || (arguments & HELP).any?

      words = arguments.map(&:dup)
      Simpkv::Cli.leading_options(words)
      command = Simpkv::Cli::Commands.resolve(words)
      compare(command, outcome.out) if command.is_a?(Class) && ours?(command, words)
      outcome
    end

    # @param command [Class]
    # @param output [String]
    # @return [void]
    # @raise [Undescribed]
    def compare(command, output)
      errors = documents(output).flat_map { |data| schema(file(command)).validate(data).first(3) }.map do |error|
        # The data may have a planted secret.
        "#{error['data_pointer']}: #{error['type']} (#{error['schema_pointer']})"
      end
      raise Undescribed, "docs/schemas/#{file(command)}: #{errors.join('; ')}" if errors.any?
    end

    # @param name [String] of a file
    # @return [JSONSchemer::Schema] as strict as possible
    # @raise [Undescribed]
    def schema(name)
      require 'json_schemer'
      @schemas[name] ||= JSONSchemer.schema(document(name), base_uri: URI("file:///#{name}"),
                                                            ref_resolver: ->(uri) { document(uri.path) })
    end

    private

    # @return [Array<Object>] the document of the output; of a command that prints one on each line, those
    def documents(output)
      text = output.dup.force_encoding(Encoding::UTF_8)
      [JSON.parse(text)]
    rescue JSON::ParserError
      text.lines.map { |line| JSON.parse(line) }
    end

    # @return [Boolean] whether it is a command of simpkv (specs define others) and does not print an export, which is
    #   the same without -o json, or why it refuses -o json in the form of Nagios
    def ours?(command, words)
      others = { 'export' => '-', 'status' => 'nagios' }
      return false if words.include?(others[command.title])

      files(command).first.to_s.match?(%r{\A#{Regexp.escape(File.expand_path('../..', __dir__))}/(?:gems/[\w-]+/)?lib/})
    end

    def document(name)
      strict(JSON.parse(File.read(File.join(FOLDER, name), encoding: 'UTF-8')))
    rescue Errno::ENOENT
      raise Undescribed, "there is no docs/schemas/#{name}: describe what the command prints with -o json", cause: nil
    end

    def strict(schema)
      case schema
      when Hash
        closed = schema.key?('properties') && !schema.key?('additionalProperties')
        schema = schema.transform_values { |value| strict(value) }
        closed ? schema.merge('additionalProperties' => false) : schema
      when Array then schema.map { |value| strict(value) }
      else schema
      end
    end

    # @return [Array<String>] the sources of the command, and of the classes that it inherits from
    def sources(command)
      @sources ||= {}
      @sources[command] ||= begin
        own = command.ancestors.take_while { |type| type != Simpkv::Cli::Command }
        own.flat_map { |type| files(type) }.uniq.map { |file| File.read(file, encoding: 'UTF-8') }
      end
    end

    def files(type)
      methods = type.instance_methods(false) + type.private_instance_methods(false)
      methods.map { |name| type.instance_method(name).source_location.first }
    end
  end
end
