# frozen_string_literal: true

require 'simpkv/unsafe_characters'

module Simpkv
  module Status
    # Reads all keys of a store, and finds those that have expired, or expire soon, and those that cannot be read.
    # An encrypted document, which the store decrypts if it has the keys, is not decrypted here.
    class ExpiringKeys
      # A key that expires within this time counts as expiring.
      SOON = 14 * 86_400
      ROOTS = %w[globals environments].freeze
      # The maximum of names that are kept of unreadable documents of nodes, and of other unreadable keys and folders.
      UNREADABLE_MAX = 1000
      private_constant :ROOTS, :UNREADABLE_MAX

      # - `backend`: its name
      # - `environment`: nil for the global keys
      # - `name`: as manifests write it
      # - `expires`: a Time
      Key = Struct.new(:backend, :environment, :name, :expires)

      # A key or a folder that cannot be read, by its path in the store, and why. The name of a file can have any bytes:
      # both are text for people. `of_node` is true for a document that the part `nodes` names as well, else nil.
      Unreadable = Struct.new(:backend, :path, :why, :of_node)

      # @param found [Hash{Symbol => Object}] see {Parts::ExpiringKeys#read}
      # @param most [Integer] keys with their names
      # @param details [Boolean] whether to name keys that cannot be read
      # @return [Hash{String => Object}] the same as plain data: `keys`, `total`, `all`, and `unreadable` with `total`
      #   and `of_nodes`, and with `backends` if some cannot be read: why, by their names
      def self.plain(found, most, details: true)
        named = found[:keys].first(most).map do |key|
          { 'backend' => key.backend, 'environment' => key.environment, 'name' => key.name,
            'expires' => Versions.text(key.expires) }
        end
        unreadable = { 'total' => found[:unreadable_total], 'of_nodes' => found[:unreadable_of_nodes] }
        unreadable['keys'] = named_unreadable(found[:unreadable], most) if details
        unreadable['backends'] = found[:errors] if found[:errors].any?
        { 'keys' => named, 'total' => found[:keys].length, 'all' => found[:all], 'unreadable' => unreadable }
      end

      # Documents of nodes come last: {.without_nodes} leaves them out.
      def self.named_unreadable(keys, most)
        keys.sort_by { |key| [key.of_node ? 1 : 0, key.backend, key.path] }.first(most)
            .map { |key| key.to_h.compact.transform_keys(&:to_s) }
      end
      private_class_method :named_unreadable

      # @param unreadable [Hash{String => Object}] that of {.plain}
      # @return [Hash{String => Object}] the same without the documents that the part `nodes` has as well
      def self.without_nodes(unreadable)
        others = { 'total' => unreadable['total'] - unreadable['of_nodes'], 'of_nodes' => 0 }
        others['keys'] = unreadable['keys'].reject { |key| key['of_node'] } if unreadable.key?('keys')
        unreadable.merge(others)
      end

      # @param backend [String] its name
      # @param store [Store]
      # @param judged [Array<Regexp>] the paths of documents that other parts judge, too: see {Part.judged}
      def initialize(backend, store, judged: [])
        @backend = backend
        @store = store
        @judged = Regexp.union(judged)
        @limit = Versions.now + SOON
        @unreadable = []
        @unreadable_total = 0
        @unreadable_of_nodes = 0
      end

      # @return [Array<Unreadable>] what {#first} could not read: at most {UNREADABLE_MAX} documents of nodes, and as
      #   many others
      attr_reader :unreadable

      # @return [Integer] the number of all of these
      attr_reader :unreadable_total

      # @return [Integer] the number of these that the part `nodes` has as well
      attr_reader :unreadable_of_nodes

      # @return [Integer] their number
      # @raise [MalformedError] a key cannot be read: a part of the keys would look like all of them
      # @raise [Error]
      def count
        number = 0
        each { number += 1 }
        broken = @unreadable.min_by(&:path)
        raise MalformedError.unreadable(broken.path, broken.why) if broken

        number
      end

      # @param most [Integer]
      # @return [Array<Key>] so many at most, those that expire first, without those that are {#unreadable}
      # @raise [Error]
      def first(most)
        keys = []
        each do |key|
          keys << key
          keys = soonest(keys, most) if keys.length >= 2 * most
        end
        soonest(keys, most)
      end

      private

      def soonest(keys, most)
        keys.sort_by { |key| [key.expires, key.name] }.first(most)
      end

      def each(&block)
        @unreadable = []
        @unreadable_total = 0
        @unreadable_of_nodes = 0
        ROOTS.each { |root| below(root, &block) }
      end

      def below(root)
        found = @store.tree(root, required: false) do |path, document|
          expires = expiry(root, path, document)
          yield key(root, path, expires) if expires && expires < @limit
          nil
        end
        found[:errors].sort.each { |path, why| unreadable!("#{root}/#{path}", why, of_node?(root, path)) }
      end

      # @return [Time, nil]
      def expiry(root, path, document)
        why = StoredForm.fault(document)
        return StoredForm.expires(document) unless why

        unreadable!("#{root}/#{path}", why, of_node?(root, path) && !decodable?(document))
        nil
      end

      def of_node?(root, path)
        "#{root}/#{path}".b.match?(@judged)
      end

      # The estate does not look at times in its documents.
      def decodable?(document)
        Codec.decode(document)
        true
      rescue MalformedError
        false
      end

      def unreadable!(path, why, of_node)
        @unreadable_total += 1
        @unreadable_of_nodes += 1 if of_node
        return if (of_node ? @unreadable_of_nodes : @unreadable_total - @unreadable_of_nodes) > UNREADABLE_MAX

        texts = [path, why].map { |text| UnsafeCharacters.escaped(text).gsub("\n", '\x0A') }
        @unreadable << Unreadable.new(@backend, *texts, of_node || nil)
      end

      def key(root, path, expires)
        environment, name = root == 'globals' ? [nil, path] : path.split('/', 2)
        Key.new(@backend, environment, name, expires)
      end
    end
  end
end
