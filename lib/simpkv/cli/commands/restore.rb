# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    module Commands
      # Makes an earlier value of a key the current one.
      class Restore < Command
        include Versioned

        # A parser that takes a word such as `-1` for an operand, not for an option.
        module NumbersAsOperands
          def parse(words)
            numbers, others = words.partition { |word| word.match?(/\A-\d+\z/) }
            super(others) + numbers
          end
        end
        private_constant :NumbersAsOperands

        SECTION = :versions
        SUMMARY = 'make an earlier value of a key the current one'
        SUGGEST_FOR = { 'rollback' => 'restore', 'revert' => 'restore' }.freeze
        ARGUMENTS = 'KEY VERSION'
        DESCRIPTION = <<~TEXT
          Stores the value and the metadata of an earlier version of a key as its current ones: version -1 is the value
          before the current one (simpkv log). The current value becomes version -1, and the restored one leaves the
          history, so that no value is lost. Keeps the time at which the key expires, unless --expires-after is given,
          which a key that has expired needs. Exits with 66 if there is no such version, and with 65 if the history
          cannot hold the current value. If another client changes the key meanwhile, stores nothing and exits with 75,
          because its versions then have other numbers.
        TEXT
        EXAMPLES = {
          'simpkv restore app1/db_password -1' => 'The value before the current one',
          'simpkv restore app1/db_password -2 --expires-after 30d' => 'An older one, for 30 days'
        }.freeze

        def parser
          @parser ||= super.extend(NumbersAsOperands)
        end

        def run(key, version)
          number = converted_option('VERSION', -100..-1, version)
          path = existing(key)
          written = about(key) do
            stored = reading.get(path, latest: true)
            restored = restored(stored, number)
            !restored.nil? && swap(path, stored, restored, 'its versions have other numbers now (simpkv log)')
          end
          output.print('key' => key, 'version' => number, 'written' => written) do
            written ? [] : ["'#{key}' is unchanged"]
          end
        end

        private

        def define(parser)
          define_expiry(parser)
        end

        # @return [String, nil] the new document; nil if the stored one has this value
        def restored(stored, number)
          check_expiry(stored, 'say with --expires-after when the restored value expires') unless @expires_after
          RichData.read(version(stored, number)) # raises an error, so that no malformed value becomes the current one
          Versions.restored(stored, number, expires_after: @expires_after,
                                            expires: (Versions.expires(stored) unless @expires_after))
        end
      end
    end
  end
end
