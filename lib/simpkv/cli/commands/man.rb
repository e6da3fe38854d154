# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Shows the manual.
      class Man < Command
        SECTION = :help
        SUMMARY = 'show the manual'
        ARGUMENTS = '[simpkv.yaml]'
        DESCRIPTION = <<~TEXT
          Shows the manual: all commands and options, exit codes, files, and a sample configuration. With simpkv.yaml,
          shows the options of that file and of Hiera. If the program man is missing, prints the source of the page,
          which is roff.
        TEXT
        EXAMPLES = {
          'simpkv man' => 'To read',
          'simpkv man simpkv.yaml' => 'The options of the file',
          'simpkv man > simpkv.txt' => 'Without a pager'
        }.freeze

        PAGES = { 'simpkv' => 'simpkv.1', 'simpkv.yaml' => 'simpkv.yaml.5' }.freeze
        private_constant :PAGES

        def run(page = 'simpkv')
          name = PAGES.fetch(page) { raise Failure.new("there is no page '#{page}', only simpkv.yaml", Failure::USAGE) }
          show(File.expand_path("../../../../docs/#{name}", __dir__))
        end

        private

        def show(file)
          exec('man', '-l', file)
        rescue Errno::ENOENT
          $stdout.print(File.read(file, encoding: 'UTF-8'))
        end
      end
    end
  end
end
