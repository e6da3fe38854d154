# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    module Commands
      # Prints the versions of a key.
      class Log < Command
        SECTION = :versions
        SUMMARY = 'print the versions of a key'
        SUGGEST_FOR = { 'history' => 'log', 'versions' => 'log' }.freeze
        ARGUMENTS = 'KEY'
        DESCRIPTION = <<~TEXT
          Prints the number of each version of a key, the time at which it was stored, and the time at which the key
          expires: version 0 is the current value, -1 the value before it. A time that the document does not have is
          '-'. Times are UTC. Prints no values, and also the versions of a key that has expired.
        TEXT
        EXAMPLES = {
          'simpkv log app1/db_password' => 'The versions of a password',
          'simpkv log -g app1/db_password -o json' => 'For a program'
        }.freeze

        def run(key)
          document = about(key) { reading.get(existing(key)) }
          versions, expired = about(key) { [Versions.log(document), Versions.expired?(document)] }
          verb = expired ? 'expired' : 'expires'
          output.print(versions) { Output.table(versions.map { |version| row(version, verb) }) }
        end

        private

        def row(version, verb)
          expires = version['expires']
          [version['version'], version['stored_at'] || '-', expires ? "#{verb} #{expires}" : '-']
        end
      end
    end
  end
end
