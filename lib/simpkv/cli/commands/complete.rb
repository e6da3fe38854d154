# frozen_string_literal: true

require 'simpkv/cli/completion/completer'

module Simpkv
  module Cli
    module Commands
      # Prints the words that can complete a command line: a line each, with the meaning behind a tab. A line without a
      # word asks the shell for its own completion of `files` or `folders`. The scripts of `simpkv completion` call it.
      class Complete < Command
        HIDDEN = true
        SUMMARY = 'print the words that can complete a command line'
        ARGUMENTS = '[WORD...]'
        DESCRIPTION = <<~TEXT
          Prints the words that can complete a command line: the last WORD, or the end of LINE.
        TEXT

        def run(*words)
          words = Completer.split(@line).drop(1) if @line
          $stdout.puts(Completer.new(words).candidates.map { |candidate| candidate.compact.join("\t") })
        end

        private

        def define(parser)
          parser.on('--line LINE', 'a line as it is typed, the word simpkv included') { |line| @line = line }
        end
      end
    end
  end
end
