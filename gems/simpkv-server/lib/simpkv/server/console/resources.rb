# frozen_string_literal: true

require 'simpkv/server/console/resources/pages'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      # The resources of all nodes: exported ones, and those of stored catalogs. The title of a resource is a segment of
      # the path, or, as any text can be one, the parameter `title`.
      class Resources < Section
        route do |r|
          r.is(['', true]) do
            at('/resources')
            r.get { TypesPage.new(visit).show }
          end
          r.is(String) { |type| r.get { page_of(type, visit.given('title')) } }
          r.is(String, String) { |type, title| r.get { page_of(type, title) } }
        end

        private

        # @param title [String] empty for all of the type
        # @return [String] HTML
        def page_of(type, title)
          at("/resources/{type}#{'/{title}' unless title.empty?}")
          title.empty? ? TitlesPage.new(visit, type).show : ResourcePage.new(visit, type, title).show
        end
      end
    end
  end
end
