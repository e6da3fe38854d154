# frozen_string_literal: true

module Simpkv
  class Estate
    # The outcome of the last inspection of each node: the rules that matched, in the order in which they ran, and the
    # effective record, or the rule that has refused the node:
    #
    #     { 'rules' => ['6f0c...'], 'record' => { 'parameters' => { 'role' => 'web' } } }
    #     { 'rules' => [], 'failed' => { 'rule' => '6f0c...', 'description' => 'known vendors', 'msg' => '...' } }
    #
    # A rule that could not be applied is `error` instead of `failed`. Sensitive values are left out. `changed_at` is
    # the time since when the outcome is the same.
    class Inspections < Documents
      CHANGED_AT = 'changed_at'
      # The kinds of outcomes, by their members.
      KINDS = { 'record' => 'accepted', 'failed' => 'refused', 'error' => 'error' }.freeze

      # @param outcome [Hash]
      # @return [String] one of {KINDS}
      def self.kind(outcome)
        KINDS.fetch((outcome.keys & KINDS.keys).first)
      end

      def initialize(estate)
        super(estate, 'inspections')
      end

      # Reads the outcome together with the declared record, with one connection in a directory.
      #
      # @param certname [String]
      # @return [Array(Hash, Hash)] the declared record, and the outcome; nil for one that is missing. A malformed
      #   outcome counts as missing
      # @raise [MalformedError] the record cannot be read; names the key
      # @raise [Error]
      def get_with_record(certname)
        record, outcome = [@estate.nodes, self].map { |documents| documents.path(certname) }
        documents = @estate.store.get_many([record, outcome]).reject { |_, document| document.is_a?(NotFoundError) }
        documents.each_value { |document| raise document if document.is_a?(Error) }
        [@estate.nodes.parse(certname, documents[record]),
         documents[outcome] && parsed(outcome, documents[outcome])]
      end

      # Stores an outcome, unless it is the last one.
      #
      # @param certname [String]
      # @param outcome [Hash] without time
      # @param last [Hash, nil] the stored one
      # @return [void]
      def replace_last(certname, outcome, last)
        return if last && outcome == last.reject { |name, _| name == CHANGED_AT }

        put(certname, outcome.merge(CHANGED_AT => Versions.text(Versions.now)))
      end

      private

      def valid?(outcome)
        outcome.is_a?(Hash) && outcome['rules'].is_a?(Array) &&
          outcome.values_at('record', 'failed', 'error').one?(Hash) &&
          (outcome[CHANGED_AT].nil? || Produced.time?(outcome[CHANGED_AT]))
      end

      def parsed(place, document)
        value = value_or_error(place, document)
        raise value if value.is_a?(DeniedError)

        value if valid?(value)
      end
    end
  end
end
