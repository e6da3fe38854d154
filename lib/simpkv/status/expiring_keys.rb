# frozen_string_literal: true

require 'simpkv/document/versions'

module Simpkv
  module Status
    # Finds the keys of a store that have expired, or expire soon.
    class ExpiringKeys
      # A key that expires within this time counts as expiring.
      SOON = 14 * 86_400
      ROOTS = %w[globals environments].freeze
      private_constant :ROOTS

      # - `backend`: its name
      # - `environment`: nil for the global keys
      # - `name`: as manifests write it
      # - `expires`: a Time
      Key = Struct.new(:backend, :environment, :name, :expires)

      # @param backend [String] its name
      # @param store [Store]
      def initialize(backend, store)
        @backend = backend
        @store = store
        @limit = Versions.now + SOON
      end

      # @return [Integer] their number
      # @raise [MalformedError, Error] as {#first}
      def count
        number = 0
        each { number += 1 }
        number
      end

      # @param most [Integer]
      # @return [Array<Key>] so many at most, those that expire first
      # @raise [MalformedError] a key cannot be read: a part of the keys would look like all of them
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
        ROOTS.each { |root| below(root, &block) }
      end

      def below(root)
        found = @store.tree(root, required: false) do |path, document|
          expires = Versions.expires(document) if document.include?('"expires"')
          yield key(root, path, expires) if expires && expires < @limit
          nil
        end
        path, why = found[:errors].min_by(&:first)
        raise MalformedError, "'#{root}/#{path}' cannot be read: #{why}" if path
      end

      def key(root, path, expires)
        environment, name = root == 'globals' ? [nil, path] : path.split('/', 2)
        Key.new(@backend, environment, name, expires)
      end
    end
  end
end
