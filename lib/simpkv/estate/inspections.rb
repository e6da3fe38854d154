# frozen_string_literal: true

module Simpkv
  class Estate
    # The outcome of the last inspection of each node: the rules that matched, in the order in which they ran, and the
    # effective record, or the rule that has refused the node:
    #
    #     { 'rules' => ['6f0c...'], 'record' => { 'parameters' => { 'role' => 'web' } } }
    #     { 'rules' => [], 'failed' => { 'rule' => '6f0c...', 'description' => 'known vendors', 'msg' => '...' } }
    #
    # A rule that could not be applied is `error` instead of `failed`. Sensitive values are left out.
    class Inspections < Documents
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

      private

      def valid?(outcome)
        outcome.is_a?(Hash) && outcome['rules'].is_a?(Array) &&
          outcome.values_at('record', 'failed', 'error').one?(Hash)
      end

      def parsed(place, document)
        value = value_or_error(place, document)
        raise value if value.is_a?(DeniedError)

        value if valid?(value)
      end
    end
  end
end
