# frozen_string_literal: true

require 'simpkv/server/console/search/page'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      # What the field in the head of each page finds: /search.
      class Search < Section
        route do |r|
          r.is(['', true]) do
            at('/search')
            r.get { SearchPage.new(visit).show }
          end
        end
      end
    end
  end
end
