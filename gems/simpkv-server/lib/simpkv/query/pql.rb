# frozen_string_literal: true

require 'simpkv/query'
require 'simpkv/query/pql/grammar'
require 'simpkv/query/pql/expectations'
require 'simpkv/query/pql/text'
require 'simpkv/query/pql/transform'

module Simpkv
  module Query
    # PQL, PuppetDB's query language for people, such as
    #
    #   nodes[certname] { facts { name = "kernel" and value = "Linux" } limit 5 }
    module Pql
      # The longest text of a query, in bytes.
      MAX_BYTES = 64 * 1024

      GRAMMAR = Grammar.new
      private_constant :GRAMMAR

      # The AST is that of PuppetDB, but for chains such as `a and b and c and d`, which are one list here, and lists in
      # lists of three there. The names of fields, and what else depends on the entity, are not checked.
      #
      # @param text [String]
      # @return [Array] such as ["from", "nodes", ["extract", ["certname"], ["=", ...]], ["limit", 5]]
      # @raise [InvalidError] if the text is wrong, with the place
      def self.parse(text)
        source = Text.new(checked(text))
        Transform.new(source).apply(GRAMMAR.parse(source, reporter: Expectations.new))
      rescue SystemStackError
        raise InvalidError.new('the query nests conditions too deeply for the stack of the caller', 0)
      end

      # @return [String] the text in UTF-8
      def self.checked(text)
        raise InvalidError.new("a query can have at most #{MAX_BYTES} bytes", MAX_BYTES) if text.bytesize > MAX_BYTES

        text = text.encode(Encoding::UTF_8)
        return text if text.valid_encoding?

        raise InvalidError.new('the query is not valid UTF-8', text.each_char.take_while(&:valid_encoding?).length)
      rescue EncodingError
        raise InvalidError.new('the query is not valid UTF-8', 0)
      end
      private_class_method :checked
    end
  end
end
