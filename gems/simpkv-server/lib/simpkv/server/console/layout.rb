# frozen_string_literal: true

require 'digest/sha2'
require 'simpkv/server/console/html'
require 'simpkv/server/console/views'

module Simpkv
  module Server
    module Console
      # What all pages have around their content.
      class Layout
        include Html
        include Views

        # The pages of the menu, by path.
        MENU = { '/' => 'Overview', '/nodes' => 'Nodes', '/facts' => 'Facts', '/resources' => 'Resources',
                 '/query' => 'Query', '/keys/' => 'Keys', '/rules' => 'Rules', '/access' => 'Access' }.freeze
        # Type and content of the files in `assets`, by name.
        ASSETS = { 'console.css' => 'text/css', 'console.js' => 'text/javascript', 'icon.svg' => 'image/svg+xml' }
                 .to_h { |name, type| [name, [type, File.read(File.join(__dir__, 'assets', name))]] }.freeze
        # Changes with these files, so that browsers may keep them.
        STAMP = Digest::SHA256.hexdigest(ASSETS.values.join)[0, 12]
        private_constant :MENU

        # @param visit [Visit]
        # @param title [String] of the page
        # @param refresh [Integer, nil] seconds until the page loads itself again; nil for never
        def initialize(visit, title, refresh)
          @visit = visit
          @title = title
          @refresh = refresh
        end

        # @param content [String] HTML
        # @return [String] HTML
        def html(content)
          render('layout') { content }
        end

        private

        attr_reader :visit

        # @param path [String] of the menu
        # @return [Boolean] whether the page is below it
        def current?(path)
          path == '/' ? visit.request.path == '/' : visit.request.path.start_with?(path)
        end

        # @param name [String] of a file of `assets`
        # @return [String] its address
        def asset(name)
          "/console/#{name}?v=#{STAMP}"
        end

        # @return [String] HTML: for a page that has something from an index that does not follow the store, as of when
        #   that is; else nothing
        def index_behind
          behind = visit.api.behind
          behind ? old_index(behind.since, behind.why) : ''
        end
      end
    end
  end
end
