# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Prints the script that makes a shell complete commands and keys.
      class Completion < Command
        SUMMARY = 'print the script that makes a shell complete commands and keys'
        ARGUMENTS = 'bash|zsh|fish'
        DESCRIPTION = <<~TEXT
          Prints a script for a shell, which then completes commands, options, their values, and the names of keys,
          folders, backends and environments, for which it calls simpkv with the options that the line has.
        TEXT
        EXAMPLES = {
          'source <(simpkv completion bash)' => 'In this bash, or this zsh with its own name',
          'simpkv completion bash > /usr/share/bash-completion/completions/simpkv' => 'In every bash',
          'simpkv completion zsh > /usr/local/share/zsh/site-functions/_simpkv' => 'In every zsh',
          'simpkv completion fish > ~/.config/fish/completions/simpkv.fish' => 'In every fish of yours'
        }.freeze

        def run(shell)
          unless ARGUMENTS.split('|').include?(shell)
            raise Failure.new("there is no completion for '#{shell}', only for bash, zsh and fish", Failure::USAGE)
          end

          $stdout.print(File.read(File.expand_path("../shells/simpkv.#{shell}", __dir__), encoding: 'UTF-8'))
        end
      end
    end
  end
end
