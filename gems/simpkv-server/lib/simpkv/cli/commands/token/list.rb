# frozen_string_literal: true

require 'simpkv/cli/tokens/token_command'

module Simpkv
  module Cli
    module Commands
      module Token
        # Lists the tokens.
        class List < TokenCommand
          SUMMARY = 'list the tokens of the service'
          DESCRIPTION = <<~TEXT
            Lists the tokens that simpkv token create has made and nobody has revoked, also expired ones: their IDs,
            rights and makers, when they expire, and when they were last used, to five minutes. The tokens themselves
            are not stored.
          TEXT
          EXAMPLES = { 'simpkv token list' => 'A line for each token, the newest last' }.freeze

          def run
            list = on_tokens { |tokens| tokens.all.map(&:plain) }
            output.print(list) { table(list) }
            nil
          end
        end
      end
    end
  end
end
