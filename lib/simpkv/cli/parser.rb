# frozen_string_literal: true

require 'optparse'

module Simpkv
  module Cli
    # A parser that completes `--out` to `--output`, but not `-f` to an option that begins with f. It has none of the
    # options that OptionParser adds, such as a `--version` of its own.
    class Parser < OptionParser
      private

      def add_officious; end

      def complete(type, option, *)
        raise InvalidOption, option if type == :long && option.length == 1

        super
      end
    end
  end
end
