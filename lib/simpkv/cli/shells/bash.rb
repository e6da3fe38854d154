# frozen_string_literal: true

require 'simpkv/cli/grammar'

module Simpkv
  module Cli
    # What makes shells complete simpkv's command lines.
    module Shells
      # The script for bash, with or without bash-completion. Nothing that a store holds is evaluated: names are
      # compared as they are, and quoted.
      module Bash
        FUNCTIONS = <<~'SHELL'
          # Completion for simpkv in bash: made by `simpkv completion bash`.

          # Keeps those of the words after $1 that begin with it.
          _simpkv_words() {
            local start=$1 word
            shift
            for word; do
              [[ $word != "$start"* ]] || COMPREPLY+=("$word")
            done
          }

          # Asks simpkv for the names that begin with $1: all, or where $2 is FOLDER those of folders.
          _simpkv_names() {
            local folder='' name
            [[ $1 != */* ]] || folder=${1%/*}/
            while IFS= read -r name; do
              [[ $folder$name == "$1"* ]] || continue
              [[ $2 != FOLDER || $name == */ ]] || continue
              printf -v name %q "$folder$name"
              COMPREPLY+=("$name")
            done < <("${COMP_WORDS[0]/#\~\//$HOME/}" ls "${places[@]}" -- "$folder" 2> /dev/null < /dev/null)
            # More can follow a folder.
            [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != */ ]] || compopt -o nospace 2> /dev/null
          }

          # Asks simpkv for the backends or environments, as $2 says, that begin with $1.
          _simpkv_others() {
            local name
            while IFS= read -r name; do
              [[ $name == "$1"* ]] || continue
              printf -v name %q "$name"
              COMPREPLY+=("$name")
            done < <("${COMP_WORDS[0]/#\~\//$HOME/}" complete "${places[@]}" -- "$2" 2> /dev/null < /dev/null)
          }

          # Completes $2, which is of the kind $1: KEY, FOLDER, BACKEND, ENVIRONMENT, FILE, DIR, or words, each behind a |.
          _simpkv_value() {
            local file action=-f
            case $1 in
              KEY | FOLDER) _simpkv_names "$2" "$1" ;;
              BACKEND | ENVIRONMENT) _simpkv_others "$2" "$1" ;;
              FILE | DIR)
                compopt -o filenames 2> /dev/null
                [[ $1 == FILE ]] || action=-d
                while IFS= read -r file; do
                  COMPREPLY+=("$file")
                done < <(compgen "$action" -- "$2")
                ;;
              '|'*)
                local IFS='|'
                # They are words.
                # shellcheck disable=SC2086
                _simpkv_words "$2" ${1#|}
                ;;
            esac
          }

          # What the shell will make of the word $1, where it is quoted as a whole or begins with a tilde.
          _simpkv_unquoted() {
            unquoted=$1
            case $1 in
              \'*\' | \"*\") unquoted=${1:1:${#1}-2} ;;
              \~/*) unquoted=$HOME/${1:2} ;;
            esac
          }

          _simpkv() {
            local words=('') places=() operands=() word current index unquoted
            local command='' count=0 option='' options='' kind='' broken=''
            COMPREPLY=()

            # The words of the line; bash has broken them at : and =.
            for ((index = 1; index <= COMP_CWORD; index++)); do
              word=${COMP_WORDS[index]}
              if [[ $word =~ ^[:=]+$ ]]; then
                words[${#words[@]}-1]+=$word
                broken=1
              elif [[ -n $broken && -n $word ]]; then
                words[${#words[@]}-1]+=$word
                broken=''
              else
                words+=("$word")
                broken=''
              fi
            done
            current=${words[${#words[@]}-1]}

            for ((index = 1; index < ${#words[@]} - 1; index++)); do
              word=${words[index]}
              if [[ -n $option ]]; then
                _simpkv_unquoted "$word"
                ! _simpkv_place "$option" || places+=("$unquoted")
                option=''
              elif [[ $word == -?* ]]; then
                ! _simpkv_place "${word%%=*}" || places+=("$word")
                [[ $word == *=* ]] || ! _simpkv_kind "$command $word" || option=$word
              elif _simpkv_step "${command:+$command }$word"; then
                command=${command:+$command }$word
              else
                ((count += 1))
              fi
            done

            _simpkv_step "$command"
            kind=''
            if [[ -n $option ]]; then
              _simpkv_kind "$command $option"
            elif [[ $current == --*=* ]]; then
              _simpkv_kind "$command ${current%%=*}"
              current=${current#*=}
            elif [[ $current == -* ]]; then
              # They are words.
              # shellcheck disable=SC2086
              _simpkv_words "$current" $options
              return
            else
              # The last one may be repeated.
              kind=${operands[count]:-${operands[${#operands[@]}-1]}}
              ((count < ${#operands[@]})) || [[ $kind == *... ]] || kind=''
              kind=${kind%...}
            fi
            _simpkv_value "$kind" "$current"

            # Of a word with a colon, bash replaces what follows it.
            if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
              word=${current%"${current##*:}"}
              COMPREPLY=("${COMPREPLY[@]#"$word"}")
            fi
          }
        SHELL
        private_constant :FUNCTIONS

        class << self
          # @return [String]
          def script
            [FUNCTIONS, places, steps, kinds, "complete -F _simpkv simpkv\n"].join("\n")
          end

          private

          def places
            <<~SHELL
              # Whether an option says where keys are.
              _simpkv_place() {
                case $1 in
                  #{Grammar.places.flat_map(&:names).join(' | ')}) ;;
                  *) return 1 ;;
                esac
              }
            SHELL
          end

          def steps
            cases = Grammar.steps.map do |step|
              ["    #{quoted(step.name)})", "      options=#{quoted(step.options.flat_map(&:names).join(' '))}",
               "      operands=(#{operands(step).join(' ')})", '      ;;']
            end
            <<~SHELL
              # What can follow the command $1, which may be the first word of one that has two.
              _simpkv_step() {
                case $1 in
              #{cases.join("\n")}
                  *) return 1 ;;
                esac
              }
            SHELL
          end

          # An option of all commands may stand before the command, too.
          def kinds
            own = Grammar.commands.flat_map do |command|
              cases(command.own_options) { |name| "#{command.name} #{name}" }
            end
            <<~SHELL
              # What the option at the end of $1 takes, behind the command before it.
              _simpkv_kind() {
                case $1 in
              #{[*own, *cases(Grammar.common) { |name| "* #{name}" }].join("\n")}
                  *) return 1 ;;
                esac
              }
            SHELL
          end

          def cases(options)
            options.select(&:argument).map do |option|
              patterns = option.names.map { |name| (yield name).gsub(' ', '\ ') }
              "    #{patterns.join(' | ')}) kind=#{quoted(kind(option))} ;;"
            end
          end

          # One at least.
          def operands(step)
            step.operands.empty? ? ["''"] : step.operands.map { |operand| quoted(kind(operand)) }
          end

          def kind(argument)
            return "|#{argument.choices.join('|')}" if argument.choices

            repeated = '...' if argument.is_a?(Grammar::Operand) && argument.repeated
            "#{argument.argument}#{repeated}"
          end

          def quoted(text)
            "'#{text}'"
          end
        end
      end
    end
  end
end
