# frozen_string_literal: true

require 'simpkv/cli/group'

module Simpkv
  module Cli
    module Commands
      # The commands `simpkv secret`.
      module Secret
        extend Group

        SECTION = :keys
        SUMMARY = 'print a secret, which is made at the first call, or replace it'
        DEFAULT = 'get'
        HELP = "\nsimpkv secret KEY is the same as simpkv secret get KEY"
      end
    end
  end
end
