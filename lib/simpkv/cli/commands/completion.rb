# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Prints the completion script of a shell.
      class Completion < Command
        SECTION = :help
        SUMMARY = 'print the completion script of a shell'
        ARGUMENTS = 'bash|zsh|fish'
        DESCRIPTION = <<~TEXT
          Prints a completion script for a shell. The shell then completes commands, options, their values, and the
          names of keys, folders, backends and environments. The script calls simpkv with the words of the line.
        TEXT
        EXAMPLES = {
          'source <(simpkv completion bash)' => 'In this bash; in zsh with the name zsh',
          'simpkv completion bash > /usr/share/bash-completion/completions/simpkv' => 'In every bash',
          'simpkv completion zsh > /usr/local/share/zsh/site-functions/_simpkv' => 'In every zsh',
          'simpkv completion fish > ~/.config/fish/completions/simpkv.fish' => 'In every fish of this user'
        }.freeze

        def run(shell)
          unless ARGUMENTS.split('|').include?(shell)
            raise Failure.new("there is no completion for '#{shell}', only for bash, zsh and fish", Failure::USAGE)
          end

          $stdout.print(File.read(File.expand_path("../completion/simpkv.#{shell}", __dir__), encoding: 'UTF-8'))
        end
      end
    end
  end
end
