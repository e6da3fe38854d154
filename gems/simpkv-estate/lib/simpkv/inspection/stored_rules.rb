# frozen_string_literal: true

module Simpkv
  module Inspection
    # The stored inspection rules, by UUID: the documents of {Rules}, its only user. Sensitive rules have all
    # fields here.
    class StoredRules < Estate::Documents
      def initialize(estate)
        super(estate, 'rules')
      end

      # @return [Hash{String => String}] the documents of all rules
      # @raise [MalformedError] one of them cannot be read; the message names the key
      def documents
        listed = listed([]) { |_, document| document }
        refuse_or_report(path, unreadable(listed), true)
        listed[:keys]
      end

      # Reads the documents of all rules.
      #
      # @param documents [Hash{String => String}]
      # @return [Array<Hash>] the rules, in order of creation
      # @raise [MalformedError] one of them is no rule; the message names the key
      def parse(documents)
        sorted(documents.map do |uuid, document|
          rule = decoded(path(uuid), document)
          raise MalformedError.unreadable(path(uuid), OTHER_FORM) unless valid?(rule)

          rule
        end)
      end

      # @yieldparam key [String] of a document that cannot be read
      # @yieldparam why [String]
      # @return [Array<Hash>] the rules, in order of creation
      def all(&block)
        sorted(super.values)
      end

      # Reads the rules to replace them.
      #
      # @return [Hash{String => Stored}] the documents and the rules, by UUID, in order of creation; at the end those
      #   that cannot be read, with a {MalformedError} in place of the rule
      # @raise [MalformedError] the store cannot read one of them; names the key
      def current
        stored = documents.to_h do |uuid, document|
          [uuid, Stored.new(document, decoded_or_error(document, method(:valid?)) { |rule| rule })]
        end
        unreadable, rules = stored.partition { |_, each| each.value.is_a?(Error) }
        (rules.sort_by { |_, each| order(each.value) } + unreadable).to_h
      end

      # Stores rules in place of those that were read, with one connection in a directory.
      #
      # @param rules [Hash{String => Hash}] by UUID
      # @param expected [Hash{String => String}] the documents that are to be replaced, by UUID
      # @return [Hash{String => Object}] the {Error} of each rule that could not be stored, by UUID, or something else
      def replace_many(rules, expected)
        return {} if rules.empty? # Ruby 2.6 takes an empty Hash for options.

        places = rules.keys.to_h { |uuid| [path(uuid), uuid] }
        documents = places.transform_values { |uuid| Codec.encode(rules[uuid]) }
        former = places.transform_values { |uuid| expected[uuid] }
        @estate.store.put_many(documents, condition: :expect, expect: former).transform_keys { |place| places[place] }
      end

      # @param rule [Hash]
      # @return [void]
      # @raise [ExistsError] there is one with this UUID
      def create(rule)
        demand_folder
        @estate.store.put(path(rule['uuid']), Codec.encode(rule), condition: :absent)
      end

      private

      def valid?(rule)
        Rules::Definition.unlistable(rule).nil? && %w[uuid created_at].all? { |name| rule[name].is_a?(String) } &&
          rule.values_at(*Rules::Definition::HIDDEN).flatten(1).all?(Hash) &&
          (rule['updated_at'].nil? || rule['updated_at'].is_a?(String))
      end

      def sorted(rules)
        rules.sort_by { |rule| order(rule) }
      end

      def order(rule)
        rule.values_at('created_at', 'uuid')
      end
    end
  end
end
