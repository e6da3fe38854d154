# frozen_string_literal: true

require 'digest/sha2'
require 'simpkv/server/console/html'
require 'simpkv/server/console/labels'
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
        # The parameter of a page that has loaded itself again.
        REFRESHED = :refreshed
        # Type and content of the files in `assets`, by name.
        ASSETS = { 'console.css' => 'text/css', 'console.js' => 'text/javascript', 'icon.svg' => 'image/svg+xml' }
                 .to_h { |name, type| [name, [type, File.read(File.join(__dir__, 'assets', name))]] }.freeze
        # Changes with these files, so that browsers may keep them.
        STAMP = Digest::SHA256.hexdigest(ASSETS.values.join)[0, 12]

        # @param visit [Visit]
        # @param title [String] of the page
        # @param refresh [Integer, nil] seconds until the page loads itself again; nil for never
        # @param copy [String, nil] the name of what the page is about, which a button copies
        def initialize(visit, title, refresh: nil, copy: nil)
          @visit = visit
          @title = title
          @refresh = refresh
          @copy = copy
        end

        # @param content [String] HTML
        # @return [String] HTML
        def html(content)
          render('layout') { Labels.add(content) }
        end

        private

        attr_reader :visit

        # @return [Hash{String => String}] the pages of the menu; nothing for somebody who has to sign in first
        def menu
          visit.request.env[Gate::CALLER]&.kind == :nobody ? {} : MENU
        end

        # @return [String] the address from which the page loads itself again
        def again
          visit.here(REFRESHED => 'true')
        end

        # @param path [String] of the menu
        # @return [Boolean] whether the page is below it
        def current?(path)
          path == '/' ? visit.request.path == '/' : visit.request.path.start_with?(path)
        end

        # @return [String] what the field in the head has: what was searched for
        def searched
          given = visit.request.path == '/search' ? visit.given('q') : ''
          given.valid_encoding? ? given : ''
        rescue Problem, Rack::BadRequest, ArgumentError
          ''
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
