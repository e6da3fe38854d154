# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/completion/completer'

module Simpkv
  module Cli
    module Commands
      # Prints the words that can complete a command line: a line each, with the meaning behind a tab. A line without a
      # word asks the shell for its own completion of `files` or `folders`. The scripts of `simpkv completion` call it.
      class Complete < Command
        HIDDEN = true
        SECTION = :help
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

        # The calls of the scripts: a parser would take longer than all the rest.
        def parse(arguments)
          option, *words = arguments
          return words if option == '--'
          return super unless option == '--line' && words.one?

          @line = words.shift
          words
        end

        def define(parser)
          parser.on('--line LINE', 'a line as it is typed, the word simpkv included') { |line| @line = line }
        end
      end
    end
  end
end
