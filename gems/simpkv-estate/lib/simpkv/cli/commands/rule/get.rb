# frozen_string_literal: true

require 'simpkv/cli/commands/rule/show'

module Simpkv
  module Cli
    module Commands
      module Rule
        # Another name of `simpkv rule show`.
        class Get < Show
          HIDDEN = true
        end
      end
    end
  end
end
