# frozen_string_literal: true

require 'rack'
require 'simpkv/server/console/api'
require 'simpkv/server/problem'

module Simpkv
  module Server
    module Console
      # The path of a fact: its name, and the keys and indexes of a value inside it, such as `os`, `release`, `major`.
      #
      # Most paths are those of pages as well, such as /facts/os/release/major, in which digits are an index. Others,
      # such as that of mountpoints./boot, are a parameter of the page, a list in JSON.
      class FactPath
        # A text that is no segment of a path: see {Gate}. Digits are no text there.
        UNSUITABLE = %r{\A(?:\.{0,2}|\d{1,9})\z|[/\\\x00-\x1f\x7f]}.freeze
        INDEX = /\A\d{1,9}\z/.freeze
        # A key that a query may have between dots as it is.
        PLAIN = /\A(?!"|match\()[^.]+(?<!\])\z/m.freeze
        # A key that cannot be quoted.
        UNQUOTABLE = /(?<!\\)"\.|\\\z/.freeze
        INDEX_MAX = 999_999_999
        DOTTED = /\A[^.\[\]]+(?:\.[^.\[\]]+|\[\d{1,9}\])+\z/.freeze
        # Between keys, where PuppetDB compares a path with a regular expression.
        SEPARATOR = '#~'
        private_constant :UNSUITABLE, :INDEX, :PLAIN, :UNQUOTABLE, :INDEX_MAX, :DOTTED, :SEPARATOR

        # @param segments [Array<String>] of the path of a page, after /facts
        # @param text [String] the parameter; empty for none
        # @return [FactPath, nil] nil if neither names a fact
        # @raise [Problem] the parameter is wrong
        def self.of(segments, text)
          return parse(text) unless text.empty?

          name, *keys = segments
          new([name, *keys.map { |key| key.match?(INDEX) ? Integer(key, 10) : key }]) if name
        end

        def self.parse(text)
          keys = Native.parse(text)
          return new(keys) if keys.is_a?(Array) && keys.first.is_a?(String) && keys.all? { |key| key?(key) }

          raise Problem.new(400, "the parameter 'path' must be a list of keys in JSON, such as [\"os\", \"family\"]")
        rescue MalformedError
          raise Problem.new(400, "the parameter 'path' is not JSON"), cause: nil
        end
        private_class_method :parse

        def self.key?(key)
          key.is_a?(String) || (key.is_a?(Integer) && key.between?(0, INDEX_MAX))
        end
        private_class_method :key?

        # @return [Array<String, Integer>]
        attr_reader :keys

        # @param keys [Array<String, Integer>]
        def initialize(keys)
          @keys = keys
        end

        # @return [String] of the fact
        def name
          keys.first
        end

        # @return [Boolean] whether it is that of a whole fact
        def whole?
          keys.length == 1
        end

        # @return [FactPath, nil] for the name of a whole fact that is no fact, but a path as {#to_s} writes it, such as
        #   os.release.major; nil for another one
        def dotted
          return unless whole? && name.match?(DOTTED)

          self.class.new(name.scan(/[^.\[\]]+|\[\d+\]/).map { |key| key.start_with?('[') ? key[1..-2].to_i : key })
        end

        # @return [String] for people
        def to_s
          keys.drop(1).reduce(name) { |text, key| key.is_a?(Integer) ? "#{text}[#{key}]" : "#{text}.#{key}" }
        end

        # @return [FactPath] of what it is a part of
        def parent
          self.class.new(keys[0..-2])
        end

        # @param value [String, nil] JSON: the page of the nodes that have it
        # @return [String] the address of its page
        def address(value: nil)
          given = { path: (Native.generate(keys) unless suitable?), value: value }.compact
          path = Api.path('facts', *(keys.map(&:to_s) if suitable?))
          given.empty? ? path : "#{path}?#{Rack::Utils.build_query(given)}"
        end

        # @return [String, nil] its name in a query of the inventory, such as `facts.os.family`; nil if it has none
        def field
          names = keys.slice_before { |key| key.is_a?(String) }.map { |key, *indexes| component(key, indexes) }
          ['facts', *names].join('.') if names.all?
        end

        # @return [Array] the condition of PuppetDB's query language for the paths below this one
        def below
          ['and', ['=', 'name', name], ['~', 'path', "^#{Regexp.escape(keys.join(SEPARATOR))}#{SEPARATOR}"]]
        end

        private

        def suitable?
          name_suits = name.match?(INDEX) || !name.match?(UNSUITABLE)
          name_suits && keys.drop(1).all? { |key| key.is_a?(Integer) || !key.match?(UNSUITABLE) }
        end

        # Indexes follow no quotes in the language.
        def component(key, indexes)
          return "#{key}#{indexes.map { |index| "[#{index}]" }.join}" if key.match?(PLAIN)

          %("#{key}") unless indexes.any? || key.match?(UNQUOTABLE)
        end
      end
    end
  end
end
