# frozen_string_literal: true

module Simpkv
  module Server
    # The first page.
    class Console
      private

      def overview
        at('/')
        page('Overview', 'overview')
      end
    end
  end
end
