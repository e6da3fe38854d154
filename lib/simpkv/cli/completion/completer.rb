# frozen_string_literal: true

require 'simpkv/cli/commands'

module Simpkv
  module Cli
    # Finds the words that can complete a command line.
    class Completer
      # By the name of an argument, the method that finds its values.
      KINDS = { 'KEY' => :keys, 'NEW_KEY' => :keys, 'FOLDER' => :folders, 'BACKEND' => :backends, 'FROM' => :backends,
                'TO' => :backends, 'ENVIRONMENT' => :environments, 'FILE' => :files, 'JOURNAL' => :files,
                'DIR' => :directories, 'NODE' => :nodes, 'FACT' => :facts, 'TYPE' => :types,
                'FILTER' => :filters, 'ID' => :rules, 'ENTRY' => :entries, 'FIELD' => :fields, 'OBJECT' => :objects,
                'NAME=KEY' => :variables, 'PROGRAM' => :files, 'ARGUMENT' => :files }.freeze

      # A word, or a part of it, as a shell reads it.
      PART = /(\s+)|'([^']*)'?|"((?:\\.|[^"\\])*)"?|\\(.?)|([^\s'"\\]+)/m.freeze

      # Notes the names of options, and what they are for. To load OptionParser would take longer than all the rest.
      class Names < Array
        def separator(_text); end

        # `--[no-]sensitive` has two names.
        def on(*words)
          switches, texts = words.grep(String).partition { |word| word.start_with?('-') }
          names = switches.map { |switch| switch[/\A-+(?:\[no-\])?[\w-]+/] }
          names = names.flat_map { |name| ['', 'no-'].map { |prefix| name.sub('[no-]', prefix) }.uniq }
          concat(names.map { |name| [name, texts.join(' ')] })
        end
      end
      private_constant :KINDS, :PART, :Names

      # Splits a line as a shell does. Evaluates nothing.
      #
      # @param line [String] the line up to the cursor
      # @return [Array<String>] its words; the last one is incomplete
      def self.split(line)
        line.scan(PART).each_with_object([+'']) do |(space, single, double, escaped, plain), words|
          next words << +'' if space

          words.last << (single || double&.gsub(/\\([\\"$`])/, '\1') || escaped || plain)
        end
      end

      # @param words [Array<String>] the words behind `simpkv`; the last one is incomplete
      def initialize(words)
        *before, last = words
        @before = before.map { |word| word.sub(%r{\A~(?=/)}) { ENV.fetch('HOME', '~') } }
        @word = last.to_s
      end

      # @return [Array<Array(String, String)>] the words, and their meanings if they are known: commands section by
      #   section, others sorted
      # @raise [Failure, Simpkv::Error, Simpkv::ConfigError] they are names of keys, and cannot be read
      def candidates
        all.select { |word, _| word.empty? || word.start_with?(@word) }
      end

      private

      def all
        words = @before.dup
        leading = Cli.leading_options(words)
        @help = words.shift if words.first == 'help'
        resolved = Commands.resolve(words)
        @group = resolved unless resolved.is_a?(Class)
        @command = (@help || @group ? Command : resolved).new
        @operands = operands(leading + words)
        of_word(@operands.length)
      rescue OptionParser::MissingArgument => e
        of_option(@command.switch(e.args.first), @word).sort_by(&:first)
      rescue OptionParser::ParseError
        []
      end

      # Most lines have no more than the name of a command.
      def operands(words)
        return words if words.empty?

        @command.load_library
        @command.parser.parse(words)
      end

      # The candidates after that many operands: options or operands.
      def of_word(number)
        return options.sort_by(&:first) if @word.start_with?('-') && !@before.include?('--')
        return values(kind(number), @word).sort_by(&:first) unless @group

        number.zero? ? members : []
      end

      def members
        summaries = @group.listed.transform_values(&:summary).to_a
        # Offers another name of a command only if its beginning was typed.
        others = @word.empty? ? [] : @group.aliases.map { |name, command| [name, "the same as #{command}"] }
        summaries.concat(others)
        @help || @group != Commands ? summaries : [*summaries, ['help', 'say what a command is for']]
      end

      # The names of options, or the values behind a name and an equals sign. The shell completes names of files itself.
      def options
        name, value = @word.match(/\A(--[^=]+)=(.*)/m)&.captures
        return names if name.nil?

        of_option(@command.switch(name), value).map { |word, text| [word.empty? ? word : "#{name}=#{word}", text] }
      end

      def names
        Names.new.tap { |names| @command.define_all(names) }
      end

      # The values of an option.
      def of_option(switch, word)
        return [] unless switch&.arg

        choices = Command.choices(switch)
        return choices.map { |choice| [choice, switch.desc.join(' ')] } if choices

        values(switch.arg.delete_prefix('=').strip, word)
      end

      # The kind of the operand with that number, as ARGUMENTS has it. The last one may be repeated.
      def kind(number)
        kinds = @command.class::ARGUMENTS.split
        name = kinds[number] || kinds.last.to_s[/.*\.\.\./]
        name.to_s.delete('[].')
      end

      def values(kind, word)
        return kind.split('|').map { |choice| [choice] } if kind.include?('|')

        KINDS.key?(kind) ? send(KINDS[kind], word) : []
      end

      def backends(_word)
        shown(@command.configuration.backend_names)
      end

      def environments(_word)
        shown(@command.backend.environments)
      end

      def nodes(_word)
        shown(@command.node_names - @operands.to_a)
      end

      def facts(_word)
        shown(@command.fact_names(@operands.first))
      end

      def types(_word)
        shown(@command.types(@operands.first))
      end

      def rules(_word)
        @command.rule_ids.reject { |uuid, _| @operands.to_a.include?(uuid) }
                .map { |uuid, description| [uuid, description && Output.name(description)] }
      end

      def entries(_word)
        shown(@command.entries - @operands.to_a)
      end

      def fields(_word)
        shown(@command.fields - @operands.to_a)
      end

      def objects(_word)
        shown(@command.object_names - @operands.to_a)
      end

      def filters(_word)
        shown(@command.filters)
      end

      # The shell finds these itself.
      def files(_word)
        [['', 'files']]
      end

      def directories(_word)
        [['', 'folders']]
      end

      def folders(word)
        keys(word).select { |name,| name.end_with?('/') }
      end

      # The keys behind a name and an equals sign.
      def variables(word)
        name, key = word.split('=', 2)
        key ? keys(key).map { |found,| ["#{name}=#{found}"] } : []
      end

      # The names in the folder of the word.
      def keys(word)
        folder = word[%r{\A.*/}m].to_s
        listing = @command.reading.list(@command.backend.path(folder), required: false) { nil }
        shown(listing[:folders].map { |name| "#{name}/" } + listing[:keys].keys).map { |name,| ["#{folder}#{name}"] }
      end

      def shown(names)
        names.map { |name| [Output.name(name)] }
      end
    end
  end
end
