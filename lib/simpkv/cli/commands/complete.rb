# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Prints the names that a shell offers: for the scripts of `simpkv completion`, not for people.
      class Complete < Command
        ARGUMENTS = 'BACKEND|ENVIRONMENT'
        DESCRIPTION = <<~TEXT
          Prints the names of the backends of the configuration, or of the environments of the chosen backend.
        TEXT
        EXAMPLES = {
          'simpkv complete BACKEND' => 'The backends',
          'simpkv complete -b directory ENVIRONMENT' => 'The environments of a backend'
        }.freeze

        def run(kind)
          names = { 'BACKEND' => -> { configuration.backend_names }, 'ENVIRONMENT' => -> { backend.environments } }
          find = names.fetch(kind) { raise Failure.new("complete takes #{ARGUMENTS}", Failure::USAGE) }
          found = find.call.map { |name| Output.name(name) }
          output.print(found) { found }
        end
      end
    end
  end
end
