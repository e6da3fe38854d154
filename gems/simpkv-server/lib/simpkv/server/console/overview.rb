# frozen_string_literal: true

require 'simpkv/server/console/layout'
require 'simpkv/server/console/overview/day_page'
require 'simpkv/server/console/overview/pages'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      # The first page, and the wall view, which refreshes itself; and the files that pages load.
      class Overview < Section
        # The first segment of the other paths.
        PATH = 'console'

        route do |r|
          r.root do
            at('/')
            (r.GET['wall'] == 'true' ? WallPage : SitePage).new(visit).show
          end
          r.on(PATH) do
            r.is('wall') do
              at('/console/wall')
              r.get { WallPage.new(visit).show }
            end
            r.is('changes') do
              at('/console/changes')
              r.get { ChangesPage.new(visit).show }
            end
            r.is('day') do
              at('/console/day')
              r.get { DayPage.new(visit).show }
            end
            r.is(Layout::ASSETS.keys) do |name|
              at('/console/{asset}')
              asset(name)
            end
          end
        end

        private

        # @return [String] the content
        def asset(name)
          type, content = Layout::ASSETS.fetch(name)
          response['content-type'] = type
          response['cache-control'] = 'private, max-age=31536000, immutable' if request.GET['v'] == Layout::STAMP
          content
        end
      end
    end
  end
end
