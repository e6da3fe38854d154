# frozen_string_literal: true

require 'simpkv/cli/grammar'

module Simpkv
  module Cli
    module Shells
      # The script for zsh: a file of its own in $fpath, or to be sourced behind compinit. Nothing that a store holds is
      # evaluated.
      module Zsh
        FUNCTIONS = <<~'SHELL'
          #compdef simpkv
          # Completion for simpkv in zsh: made by `simpkv completion zsh`.

          # Fills names with what the command $1 prints for $2, with what the line says of where keys are.
          _simpkv_ask() {
            local -a where
            local word option=''
            for word in "${(@)_simpkv_line[2,-1]}"; do
              word=${(Q)word}
              if [[ -n $option ]]; then
                where+=("$word")
                option=''
              else
                case $word in
                  (PLACES_WITH_VALUE) where+=("$word") option=$word ;;
                  (PLACES) where+=("$word") ;;
                esac
              fi
            done
            where=("${(@)where/#\~\//$HOME/}")
            names=("${(@f)$("${_simpkv_line[1]/#\~\//$HOME/}" "$1" "${(@)where}" -- "$2" 2> /dev/null < /dev/null)}")
            names=("${(@)names:#}")
          }

          # Asks simpkv for the names that begin as the word does: all names, or where the first argument is FOLDER
          # those of folders.
          _simpkv_names() {
            local -a names
            local folder=''
            [[ $PREFIX != */* ]] || folder=${(Q)PREFIX%/*}/
            _simpkv_ask ls "$folder"
            compadd -S '' -- "$folder${(@)^${(M@)names:#*/}}"
            [[ $1 == FOLDER ]] || compadd -- "$folder${(@)^names:#*/}"
          }

          # Asks simpkv for the backends or environments, as $1 says.
          _simpkv_others() {
            local -a names
            _simpkv_ask complete "$1"
            compadd -- "${(@)names}"
          }
        SHELL

        ENDING = <<~SHELL
          # As a file in $fpath it is the function itself; sourced, it says so.
          if [[ $funcstack[1] == _simpkv ]]; then
            _simpkv "$@"
          else
            compdef _simpkv simpkv
          fi
        SHELL

        # By what is to be completed; else nothing is.
        ACTIONS = { 'KEY' => ' _simpkv_names KEY', 'FOLDER' => ' _simpkv_names FOLDER', 'FILE' => '_files',
                    'BACKEND' => ' _simpkv_others BACKEND', 'ENVIRONMENT' => ' _simpkv_others ENVIRONMENT',
                    'DIR' => '_files -/' }.freeze
        private_constant :FUNCTIONS, :ENDING, :ACTIONS

        class << self
          # @return [String]
          def script
            [functions, command, ENDING].join("\n")
          end

          private

          def functions
            with_value, alone = Grammar.places.partition(&:argument).map { |options| options.flat_map(&:names) }
            given = alone + with_value.grep(/\A--/).map { |name| "#{name}=*" }
            FUNCTIONS.sub('PLACES_WITH_VALUE', with_value.join('|')).sub('PLACES', given.join('|'))
          end

          def command
            <<~SHELL
              _simpkv() {
                local curcontext=$curcontext state line
                local -a _simpkv_line=("${(@)words}") commands
                typeset -A opt_args
                _arguments -C -S \\
              #{Grammar.common.map { |option| "    #{spec(option)}" }.join(" \\\n")} \\
                  '(-)1: :->command' \\
                  '(-)*:: :->argument' && return
                case $state in
                  command)
              #{described('commands', Grammar.steps.first, '      ')}
                    ;;
                  argument)
                    curcontext=${curcontext%:*:*}:simpkv-$words[1]:
                    case $words[1] in
              #{(whole + parts).join("\n")}
                    esac
                    ;;
                esac
              }
            SHELL
          end

          # Those of one word.
          def whole
            (Grammar.commands.reject { |command| command.name.include?(' ') } + [help]).map do |command|
              ["        #{command.name})", arguments(command, '          '), '          ;;']
            end
          end

          def help
            Grammar.steps.find { |step| step.name == 'help' }
          end

          # Those of two, by their first one: what is there is moved away.
          def parts
            twos = Grammar.commands.select { |command| command.name.include?(' ') }
            twos.group_by { |command| command.name[/\A\S+/] }.map do |first, all|
              ["        #{first})", '          if ((CURRENT == 2)); then',
               described('commands', Grammar.steps.find { |step| step.name == first }, '            '),
               '          else', '            shift words', '            ((CURRENT -= 1))',
               '            case $words[1] in', *all.map { |command| second(command) }, '            esac',
               '          fi',
               '          ;;']
            end
          end

          def second(command)
            margin = ' ' * 14
            ["#{margin}#{command.name[/\S+\z/]})", arguments(command, "#{margin}  "), "#{margin}  ;;"]
          end

          def arguments(command, margin)
            operands = command.operands.each_with_index.map do |operand, index|
              place = operand.repeated ? '*' : index + 1
              quoted("#{place}:#{operand.argument.tr('|', ' ')}:#{action(operand)}")
            end
            lines = ['_arguments -S', *command.options.map { |option| spec(option) }, *operands]
            margin + lines.join(" \\\n#{margin}  ")
          end

          # Words and what they are for.
          def described(name, step, margin)
            words = step.operands.first.choices.map do |word|
              "#{margin}  #{quoted("#{word}:#{Grammar.summary(word)}")}"
            end
            "#{margin}#{name}=(\n#{words.join("\n")}\n#{margin})\n#{margin}_describe command #{name}"
          end

          def spec(option)
            text = "[#{option.text.gsub(/[\[\]:\\]/) { |character| "\\#{character}" }}]"
            text += ":#{option.argument}:#{action(option)}" if option.argument
            names = option.names.map { |name| "#{name}#{ending(name) if option.argument}" }
            return quoted("#{names.first}#{text}") if names.one?

            "#{quoted("(#{option.names.join(' ')})")}{#{names.join(',')}}#{quoted(text)}"
          end

          # How the value may follow.
          def ending(name)
            name.start_with?('--') ? '=' : '+'
          end

          def action(argument)
            return "(#{argument.choices.join(' ')})" if argument.choices

            ACTIONS.fetch(argument.argument, ' ')
          end

          def quoted(text)
            "'#{text.gsub("'") { "'\\''" }}'"
          end
        end
      end
    end
  end
end
