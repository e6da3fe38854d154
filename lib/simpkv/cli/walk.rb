# frozen_string_literal: true

require 'simpkv/cli/output'
require 'simpkv/cli/value'

module Simpkv
  module Cli
    # Looks at everything below some folders of a store, with one request for each of them.
    class Walk
      # All keys of a store are below these.
      ROOTS = %w[globals environments].freeze

      NO_NAME = 'no key can be called that: it is not UTF-8, or has control characters'
      private_constant :NO_NAME

      # Files, and entries that another program made, may have any name.
      #
      # @param path [String]
      # @return [Boolean] whether it can be that of a key or folder
      def self.name?(path)
        path.valid_encoding? && !path.match?(/[[:cntrl:]]/)
      end

      # @param names [Array<String>]
      # @return [Hash{String => String}] those that no key or folder can have, and why
      def self.refused(names)
        names.reject { |name| name?(name) }.to_h { |name| [name, NO_NAME] }
      end

      # @param store [Store]
      def initialize(store)
        @store = store
      end

      # Reads all keys.
      #
      # @param roots [Array<String>] paths of folders, which may be missing
      # @param errors [Hash{String => String}] filled with the keys that cannot be read, and why
      # @yieldparam path [String] of a key
      # @yieldparam document [String]
      # @yieldreturn is ignored; the block may not call a store
      # @return [Array<String>] the paths of all folders below the roots
      # @raise [Simpkv::Error] a root cannot be read
      def each(roots, errors = {}, &block)
        roots.flat_map { |root| below(root, errors, &block).last }
      end

      # Lists the names of everything, keys included that cannot be read.
      #
      # @param roots [Array<String>] paths of folders, which may be missing
      # @param expired [Boolean] whether to include keys that have expired, for which no document has to be read
      # @return [Hash] `{keys: [path], folders: [path], errors: {path => why}}`, sorted; the roots are not among the
      #   folders
      # @raise [Simpkv::Error] a root cannot be read
      def names(roots, expired: false)
        gone = expired ? {} : expired(roots)
        errors = {}
        keys, folders = roots.map { |root| below(root, errors) }.transpose.map { |paths| paths.flatten(1).sort }
        { keys: keys.reject { |path| gone.key?(path) }, folders: folders, errors: errors }
      end

      private

      # @return [Hash{String => true}] the paths of keys that have expired
      def expired(roots)
        gone = {}
        each(roots) { |path, document| gone[path] = true if Value.expired?(document) }
        gone
      end

      # @return [Array(Array<String>, Array<String>)] keys and folders
      def below(root, errors)
        listing = @store.tree(root, values: block_given?, required: false) do |path, document|
          yield "#{root}/#{path}", document if Walk.name?(path)
          nil
        end
        note(root, listing[:errors], errors)
        [listing[:keys].keys, listing[:folders]].map do |paths|
          # An invalid folder is named once, without what is below it.
          note(root, Walk.refused(paths.select { |path| Walk.name?(File.dirname(path)) }), errors)
          paths.select { |path| Walk.name?(path) }.map { |path| "#{root}/#{path}" }
        end
      end

      def note(folder, reasons, errors)
        reasons.each { |name, why| errors["#{folder}/#{Output.name(name)}"] = why }
      end
    end
  end
end
