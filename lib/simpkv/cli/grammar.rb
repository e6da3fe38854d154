# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    # What may stand on a command line, as the commands and their parsers say it: from it come the manual and the
    # completion of shells.
    module Grammar
      # short, long:: as they are written, `-c` and `--config`, or nil
      # argument:: what the option takes, such as FILE; nil when it takes nothing
      # choices:: all that it may be, where that is known
      # text:: one line for people
      Option = Struct.new(:short, :long, :argument, :choices, :text) do
        # @return [Array<String>] how it may be written
        def names
          [short, long].compact
        end
      end

      # argument:: KEY, FOLDER, FILE, BACKEND, ENVIRONMENT or another
      # choices:: as for options
      # repeated:: whether there may be more of it
      Operand = Struct.new(:argument, :choices, :repeated)

      # name, summary:: as {Cli::COMMANDS} has them
      # type:: its class
      # options:: those that it has, and those of all commands
      # operands:: what follows its name
      Entry = Struct.new(:name, :summary, :type, :options, :operands) do
        # @return [Array<Option>] those that not all commands have
        def own_options
          options - Grammar.common
        end
      end

      # The kinds of operands that have other names.
      KINDS = { 'FROM' => 'BACKEND', 'TO' => 'BACKEND', 'NEW_KEY' => 'KEY' }.freeze
      private_constant :KINDS

      class << self
        # @return [Array<Entry>] every command
        def commands
          @commands ||= COMMANDS.map do |name, summary|
            type = Cli.command(name)
            Entry.new(name, summary, type, options(type.new.parser), operands(type::ARGUMENTS))
          end
        end

        # @return [Array<Option>] those of all commands
        def common
          @common ||= commands.map(&:options).reduce(:&)
        end

        # @return [Array<Option>] those of all commands that say where keys are
        def places
          common.reject { |option| %w[--output --help].include?(option.long) }
        end

        # What may stand where, command by command, as shells see it: what precedes the command is one, too, and so is
        # `help`, and the first word of a command that has two.
        #
        # @return [Array<Entry>]
        def steps
          names = commands.map(&:name)
          firsts = names.map { |name| name[/\A\S+/] }.uniq
          parts = (firsts - names).map { |first| step(first, names.grep(/\A#{first} /).map { |name| name[/\S+\z/] }) }
          [step('', [*firsts, 'help']), step('help', firsts), *parts, *commands]
        end

        # @param word [String] of a command
        # @return [String] what it is for
        def summary(word)
          return 'say what a command is for' if word == 'help'

          COMMANDS[word] || COMMANDS.find { |name, _| name.split.include?(word) }.last
        end

        private

        def step(name, words)
          Entry.new(name, nil, nil, common, [Operand.new('COMMAND', words, false)])
        end

        # `KEY [VALUE]`, `KEY...`, `bash|zsh|fish`
        def operands(arguments)
          arguments.split.map do |word|
            name = word.delete('[].')
            Operand.new(KINDS.fetch(name, name), name.include?('|') ? name.split('|') : nil, word.include?('...'))
          end
        end

        # In a parser's list, there are texts between the options.
        def options(parser)
          parser.top.list.grep(OptionParser::Switch).map do |switch|
            argument = switch.arg&.delete('=')&.strip
            choices = switch.pattern.keys if switch.pattern.is_a?(OptionParser::CompletingHash)
            Option.new(switch.short.first, switch.long.first, argument, choices, switch.desc.join(' '))
          end
        end
      end
    end
  end
end
