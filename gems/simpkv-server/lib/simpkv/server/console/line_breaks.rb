# frozen_string_literal: true

require 'erubi'

module Simpkv
  module Server
    module Console
      # Lets long paths, DNs and names of hosts go on in the next line after a separator, and not inside of a word.
      module LineBreaks
        AFTER = %r{(?<=[/.@=,\[])(?=[[:alnum:]])}.freeze
        # Shorter texts fit in a line of a phone.
        LONG = 20
        private_constant :AFTER, :LONG

        # @param text [String]
        # @return [String] HTML
        def self.in(text)
          html = Erubi.h(text)
          text.length > LONG ? html.gsub(AFTER, '<wbr>') : html
        end
      end
    end
  end
end
