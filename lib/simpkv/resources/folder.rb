# frozen_string_literal: true

require 'simpkv/counted'

module Simpkv
  module Resources
    # The folder of one simpkv_folder, and the keys that a purge removes from it.
    class Folder
      # @param simpkv [Catalog]
      # @param resource [Puppet::Type]
      def initialize(simpkv, resource)
        @simpkv = simpkv
        @resource = resource
      end

      # @return [Boolean]
      # @raise [Error, ConfigError] it cannot be determined, or the purge failed
      def exists?
        raise @failure if @failure

        store = own_store
        return false unless store
        return true if @listed

        there = folder?(store)
        check_removal(store) if there && recurse? && absent?
        there
      end

      # @return [String, nil] ` with 3 keys`, if the folder is removed with all that is in it
      def removed_with
        " with #{Counted.of(@doomed, 'key')}" if @doomed
      end

      # @return [void]
      def create
        @simpkv.store(backend, make: true).create_folder(path)
      end

      # @return [void]
      # @raise [Error] there are keys or folders below it, and `recurse` is not set
      def remove
        store = own_store
        return store.deletetree(path) if recurse?

        store.delete_folder(path)
      rescue ConflictError => e
        raise ConflictError, "#{e.message}, or set 'recurse' to remove them with it (#{contents(store)})"
      end

      # Lists the folder. If that fails, {#exists?} raises the reason.
      #
      # @return [Array<Array(String, Hash, Object)>] for each key to remove: the title and the options of the resource,
      #   and the key, a {Key}
      def removals
        chosen = unmanaged
        check_limit(chosen.length, 'purge')
        chosen.map { |entry| removal(entry) }.compact
      rescue Error, ConfigError, ArgumentError, SystemCallError => e
        @failure = e
        []
      end

      private

      def backend
        @backend ||= @simpkv.refresh.backend(@resource)
      end

      def path
        @path ||= @simpkv.path(@resource)
      end

      # A folder that removes keys follows no link: behind one may be a folder of another environment, and keys that the
      # catalog manages under other names.
      def own_store
        removes? ? @simpkv.store_without_links(backend) : @simpkv.store(backend)
      end

      def removes?
        @resource[:purge] == :true || absent? # rubocop:disable Lint/BooleanSymbol
      end

      def absent?
        @resource.should(:ensure) == :absent
      end

      def recurse?
        @resource[:recurse] == :true # rubocop:disable Lint/BooleanSymbol
      end

      def folder?(store)
        kind = store.kind(path)
        raise IsKeyError, "'#{@resource.place}' is a key, not a folder" if kind == :key

        kind == :folder
      end

      # Checks again: the run may have written the options only after the check before the run.
      def check_removal(store)
        kept = @simpkv.kept_below(backend, path)
        raise ConflictError, "#{kept.ref} is in it, and is not absent: correct one of them" if kept

        listed = store.tree(path, values: false, required: false)
        @doomed = listed[:keys].length + listed[:errors].length
        check_limit(@doomed, 'removal')
      end

      def check_limit(number, what)
        limit = @resource[:purge_limit]
        return if number <= limit

        raise TooLargeError, "the #{what} would remove #{Counted.of(number, 'key')}, more than the #{limit} of " \
                             "'purge_limit': nothing is removed"
      end

      # @return [Array<Purging::Entry>]
      def unmanaged
        store = own_store
        return [] unless store

        @entries = Purging::Entries.new(backend, @resource.place, @resource.title)
        keys = @simpkv.keys(backend)
        patterns = Purging::Patterns.new(@resource[:purge_unless] || [])
        @listed = @entries.list(store, recurse: recurse?)
        (@listed || []).reject do |entry|
          place = backend.canonical(entry.path)
          keys.key?(place) || estate?(place) ||
            patterns.match?(entry.name, @entries.key(entry.name))
        end
      end

      # @return [String] the numbers of keys and of folders in the folder
      def contents(store)
        listed = store.list(path, required: false) { nil }
        "keys: #{listed[:keys].length + listed[:errors].length}, folders: #{listed[:folders].length}"
      end

      # A purge of all global keys leaves those of the estate, which no catalog manages: facts, exported resources,
      # rules.
      def estate?(place)
        path == 'globals' && place.start_with?('globals/estate/')
      end

      # @return [Array(String, Hash, Object), nil] nil if a resource of the catalog stands for the entry: that resource
      #   gets the key
      def removal(entry)
        key = @simpkv.key(backend).pin(entry)
        declared = declared(entry)
        return [free_title(entry.title), entry.usable? ? { key: @entries.key(entry.name) } : {}, key] unless declared

        declared.provider.key = key
        nil
      end

      # @return [Puppet::Type, nil] the resource of the catalog whose title stands for the entry
      def declared(entry)
        resource = @resource.catalog.resource(:simpkv_key, entry.own_title) unless entry.usable?
        return unless resource && resource.place.nil? && !resource.provider.pinned?

        resource if @simpkv.backend(resource).identity == backend.identity
      end

      # @return [String] the title, or if another resource has it a longer one
      def free_title(title)
        free = title
        number = 0
        while @resource.catalog.resource(:simpkv_key, free)
          number += 1
          free = "#{title} (backend #{backend.name}#{" #{number}" if number > 1})"
        end
        free
      end
    end
  end
end
