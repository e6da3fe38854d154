# frozen_string_literal: true

require 'simpkv/server/console/keys/client'
require 'simpkv/server/console/keys/key_pages'
require 'simpkv/server/console/keys/edit_pages'
require 'simpkv/server/console/keys/folder_pages'
require 'simpkv/server/console/keys/place'
require 'simpkv/server/console/keys/version_pages'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      # Folders and keys: /keys/. An address never has a value.
      class Keys < Section
        # The pages of a folder, and of a key, by the parameter `do`.
        FOLDER_PAGES = { nil => FolderPage, 'new' => NewKeyPage, 'delete' => FolderDeletionPage }.freeze
        KEY_PAGES = { nil => KeyPage, 'show' => ValuePage, 'edit' => EditPage, 'save' => SavePage,
                      'restore' => RestorePage, 'delete' => DeletionPage, 'compare' => VersionsComparedPage,
                      'destroy' => VersionDeletionPage, 'metadata' => MetadataPage }.freeze
        private_constant :FOLDER_PAGES, :KEY_PAGES

        route do |r|
          at('/keys/{path}')
          keys = Client.new(visit.api, place)
          answer(keys, r.post? ? :submit : :show)
        end

        private

        # @return [Place]
        def place
          segments = visit.segments.drop(1)
          folder = segments.empty? || request.path.end_with?('/')
          Place.new(segments, folder, %w[environment global backend].to_h { |name| [name, visit.parameter(name)] })
        end

        # @param method [Symbol] of the page
        # @return [String] HTML
        def answer(keys, method)
          pages = keys.place.folder? ? FOLDER_PAGES : KEY_PAGES
          page = pages[visit.parameter('do')]
          raise Problem.new(404, 'there is no such page of keys') unless page&.method_defined?(method)

          page.new(visit, keys).public_send(method)
        rescue *Page::ERRORS => e
          raise if keys.place.folder?

          KeysPage.new(visit, keys).refuse(Problem.of(e))
        end
      end
    end
  end
end
