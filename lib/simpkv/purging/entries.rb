# frozen_string_literal: true

module Simpkv
  module Purging
    # A key of a folder, as a listing found it.
    #
    # title:: the title of its resource own_title:: the title if the resource of the folder has the folder as its title
    # name:: its path below the folder path:: its path in the store document:: nil if the store could not read it
    # usable:: whether it has a name that manifests can use, and a document that can be read
    Entry = Struct.new(:title, :own_title, :name, :path, :document, :usable) do
      alias_method :usable?, :usable

      # @return [String] the class and the title: a document may hold a secret
      def inspect
        "#<#{self.class.name} #{title}>"
      end
    end

    # The keys of a folder, with the titles of their resources: `<folder>/<name>`, and for one without a usable name
    # `<folder>:unnamed-<N>`. There `<folder>` is the nearest folder around it that has a usable name, and N counts such
    # entries of that folder from 1, in the order of the bytes of their paths. Entries in folders below come last,
    # because only a recursive listing has them. A key whose own name ends like such a title counts as one without a
    # usable name, so that no two entries share a title.
    class Entries
      UNNAMED = /\A(.*):unnamed-([1-9]\d*)\z/m.freeze
      private_constant :UNNAMED

      # @param title [String]
      # @return [String, nil] the folder, if the title is that of an entry without a usable name
      def self.folder_of(title)
        title[UNNAMED, 1]
      end

      # @param backend [Backend]
      # @param folder [String] as manifests write it; empty for all keys
      # @param title [String] the title of the folder's resource
      def initialize(backend, folder, title = folder)
        @backend = backend
        @folder = backend.path(folder)
        @own = folder.split('/').reject(&:empty?).join('/')
        @title = title.delete_suffix('/')
      end

      # Lists the folder.
      #
      # @param store [Store]
      # @param recurse [Boolean] whether to list the folders below it as well
      # @return [Array<Entry>, nil] sorted by the bytes of their paths; nil if there is no such folder
      # @raise [Error]
      def list(store, recurse: false)
        listed = recurse ? store.tree(@folder) : store.list(@folder)
        documents = listed[:errors].transform_values { nil }.merge(listed[:keys])
        titled(documents.sort_by { |name, _| name.b }.map { |name, document| entry(name, document) })
      rescue NotFoundError
        nil
      end

      # @param name [String] a path below the folder
      # @return [String] the key as manifests write it
      def key(name)
        join(@own, name)
      end

      private

      def entry(name, document)
        name = name.dup.force_encoding(Encoding::UTF_8)
        Entry.new(nil, nil, name, "#{@folder}/#{name}", document, valid?(name) && readable?(document))
      end

      def titled(entries)
        usable, others = entries.partition(&:usable?)
        usable.each { |entry| entry.title = named_title(entry.name) }
        others.group_by { |entry| around(entry.name) }.each { |folder, unnamed| number(folder, unnamed) }
        entries
      end

      def number(folder, entries)
        direct, deeper = entries.partition { |entry| parent(entry.name) == folder }
        (direct + deeper).each.with_index(1) do |entry, n|
          entry.title = unnamed_title(named_title(folder), n)
          entry.own_title = unnamed_title(key(folder), n)
        end
      end

      def unnamed_title(folder, number)
        "#{folder.empty? ? '/' : folder}:unnamed-#{number}"
      end

      def named_title(name)
        join(@title, name)
      end

      def join(folder, name)
        folder.empty? || name.empty? ? folder + name : "#{folder}/#{name}"
      end

      # @return [String] the nearest folder around the entry with a usable name, below this folder; '' for this folder
      def around(name)
        folder = parent(name)
        folder.empty? || valid?(folder) ? folder : around(folder)
      end

      def parent(name)
        name.b.rpartition('/').first.force_encoding(Encoding::UTF_8)
      end

      def valid?(name)
        Native.key_check(key(name), @backend.case_sensitive?)
        !UNNAMED.match?(name)
      rescue Error, ArgumentError # invalid bytes
        false
      end

      def readable?(document)
        !document.nil? && RichData.decode(document) && true
      rescue MalformedError
        false
      end
    end
  end
end
