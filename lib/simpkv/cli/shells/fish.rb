# frozen_string_literal: true

require 'simpkv/cli/grammar'

module Simpkv
  module Cli
    module Shells
      # The script for fish.
      module Fish
        BEGINNING = <<~SHELL
          # Completion for simpkv in fish: made by `simpkv completion fish`.

          # Reads the line up to the cursor: the command, how many arguments it has, and what says where keys are.
          function __simpkv_read
              set -g __simpkv_command ''
              set -g __simpkv_count 0
              set -g __simpkv_places
              set -l option ''
              set -l words (commandline -opc)
              for word in $words[2..-1]
                  if test -n "$option"
                      __simpkv_place $option; and set -a __simpkv_places $word
                      set option ''
                  else if string match -q -- '-?*' $word
                      __simpkv_place (string replace -r '=.*' '' -- $word); and set -a __simpkv_places $word
                      __simpkv_takes_value "$__simpkv_command $word"; and set option $word
                  else if __simpkv_step (string trim "$__simpkv_command $word")
                      set __simpkv_command (string trim "$__simpkv_command $word")
                  else
                      set __simpkv_count (math $__simpkv_count + 1)
                  end
              end
              # The option before the cursor has no value yet.
              test -n "$option"; and __simpkv_place $option; and set -e __simpkv_places[-1]
          end

          # Whether the line has the command $argv[1].
          function __simpkv_is
              __simpkv_read
              test "$__simpkv_command" = $argv[1]
          end

          # Whether the cursor is at the argument $argv[2] of the command $argv[1], or with a third one behind it.
          function __simpkv_at
              __simpkv_is $argv[1]; or return
              test $__simpkv_count = $argv[2]; and return
              test (count $argv) = 3 -a $__simpkv_count -gt $argv[2]
          end

          # Asks simpkv for the names in the folder of the current word: all, or with FOLDER those of folders.
          function __simpkv_names
              __simpkv_read
              set -l line (commandline -opc)
              set -l folder (string match -r '^.*/' -- (commandline -ct))
              for name in (command $line[1] ls $__simpkv_places -- "$folder" 2> /dev/null < /dev/null)
                  test "$argv[1]" = FOLDER; and not string match -q '*/' -- $name; and continue
                  echo "$folder$name"
              end
          end

          # Asks simpkv for the backends or environments, as $argv[1] says.
          function __simpkv_others
              __simpkv_read
              set -l line (commandline -opc)
              command $line[1] complete $__simpkv_places -- $argv[1] 2> /dev/null < /dev/null
          end
        SHELL

        # By what is to be completed; else nothing is.
        KINDS = { 'KEY' => "-f -a '(__simpkv_names)'", 'FOLDER' => "-f -a '(__simpkv_names FOLDER)'", 'FILE' => '-F',
                  'BACKEND' => "-f -a '(__simpkv_others BACKEND)'",
                  'ENVIRONMENT' => "-f -a '(__simpkv_others ENVIRONMENT)'",
                  'DIR' => "-f -a '(__fish_complete_directories)'" }.freeze
        private_constant :BEGINNING, :KINDS

        class << self
          # @return [String]
          def script
            [BEGINNING, functions, completions].join("\n")
          end

          private

          def functions
            values = Grammar.commands.flat_map do |command|
              with_value(command.own_options).map { |name| quoted("#{command.name} #{name}") }
            end
            common = with_value(Grammar.common).map { |name| quoted("* #{name}") }
            [choice('Whether an option says where keys are.', '__simpkv_place', Grammar.places.flat_map(&:names)),
             choice('Whether these words are a command, or begin one.', '__simpkv_step',
                    Grammar.steps.drop(1).map { |step| quoted(step.name) }),
             choice('Whether the option behind a command takes a value.', '__simpkv_takes_value', values + common)]
          end

          def with_value(options)
            options.select(&:argument).flat_map(&:names)
          end

          def choice(text, name, words)
            <<~SHELL
              # #{text}
              function #{name}
                  switch $argv[1]
                      case #{words.join(' ')}
                          return 0
                  end
                  return 1
              end
            SHELL
          end

          def completions
            ["complete -c simpkv -f\n", Grammar.common.map { |option| option(option) },
             Grammar.commands.map { |command| command.own_options.map { |option| option(option, command.name) } },
             Grammar.steps.map { |step| operands(step) }].join
          end

          def option(option, command = nil)
            words = []
            words << "-n #{quoted(%(__simpkv_is "#{command}"))}" if command
            words << "-s #{option.short.delete_prefix('-')}" if option.short
            words << "-l #{option.long.delete_prefix('--')}" if option.long
            words << "-r #{kind(option)}" if option.argument
            "complete -c simpkv #{words.join(' ')} -d #{quoted(option.text)}\n"
          end

          def operands(step)
            step.operands.each_with_index.map do |operand, index|
              at = quoted(%(__simpkv_at "#{step.name}" #{index}#{' more' if operand.repeated}))
              words(operand).map { |words| "complete -c simpkv -n #{at} #{words}\n" }
            end
          end

          # Commands have a description each.
          def words(operand)
            return [kind(operand)] unless operand.argument == 'COMMAND'

            operand.choices.map { |word| "-a #{word} -d #{quoted(Grammar.summary(word))}" }
          end

          def kind(argument)
            return "-f -a #{quoted(argument.choices.join(' '))}" if argument.choices

            KINDS.fetch(argument.argument, '-f')
          end

          def quoted(text)
            "'#{text.gsub(/[\\']/) { |character| "\\#{character}" }}'"
          end
        end
      end
    end
  end
end
