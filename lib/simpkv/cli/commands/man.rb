# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Shows the manual.
      class Man < Command
        SECTION = :help
        SUMMARY = 'show the manual'
        ARGUMENTS = ''
        DESCRIPTION = <<~TEXT
          Shows the manual: all commands and options, exit codes, files, and a sample configuration. If the program
          man is missing, prints the source of the page, which is roff.
        TEXT
        EXAMPLES = {
          'simpkv man' => 'To read',
          'simpkv man > simpkv.txt' => 'Without a pager'
        }.freeze

        # @return [String] the file of the manual
        FILE = File.expand_path('../../../../docs/simpkv.1', __dir__)

        def run
          exec('man', '-l', FILE)
        rescue Errno::ENOENT
          $stdout.print(File.read(FILE, encoding: 'UTF-8'))
        end
      end
    end
  end
end
