# frozen_string_literal: true

require 'simpkv/cli/tokens/token_command'

module Simpkv
  module Cli
    module Commands
      module Token
        # Revokes tokens.
        class Revoke < TokenCommand
          SUMMARY = 'revoke tokens of the service'
          ARGUMENTS = 'ID...'
          DESCRIPTION = <<~TEXT
            Deletes tokens from the store, so that the service refuses them from the next request on. An ID is that of
            simpkv token list, which a token has behind simpkv_. Exits with 66 if there is no such token.
          TEXT
          EXAMPLES = { 'simpkv token revoke 0123456789abcdef' => 'One token' }.freeze

          def run(id, *others)
            ids = [id, *others]
            revoked = on_tokens { |tokens| ids.select { |each| tokens.revoke(each) } }
            output.print('revoked' => revoked) { revoked.map { |each| "revoked #{each}" } }
            missing = (ids - revoked).first
            raise Failure.new(missing(missing), Failure::NO_INPUT) if missing
          end

          private

          # Somebody may have written a whole token.
          def missing(id)
            named = " '#{id}'" if id.match?(/\A\h{16}\z/)
            "there is no token#{named}: simpkv token list has their IDs"
          end
        end
      end
    end
  end
end
