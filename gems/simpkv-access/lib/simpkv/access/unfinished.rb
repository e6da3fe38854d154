# frozen_string_literal: true

require 'simpkv/access/step'

module Simpkv
  module Access
    # The steps that failed at single servers, which do not stop those at the others.
    class Unfinished
      VERBS = { 'narrow' => 'deleted', 'widen' => 'put back' }.freeze
      private_constant :VERBS

      # @return [Array<String>] about servers that are gone for ever: their steps are not left to do
      attr_reader :notes

      # @param state [State]
      # @param directory [Directory]
      def initialize(state, directory)
        @state = state
        @directory = directory
        @failures = {}
        @notes = []
      end

      # @return [Array<String>] what the next apply tries again
      def failures
        @failures.values
      end

      # @return [Boolean] whether the step has failed
      def include?(step)
        @failures.key?([step.act, step.name])
      end

      # @param step [Step]
      # @param error [Error]
      # @return [void]
      # @raise [Error] the same, if it is not about the server of the step
      def note(step, error)
        raise error if !step.of_server? || error.is_a?(ConflictError)

        text = "#{step.name}: the server-wide rules were not #{VERBS.fetch(step.act)}: #{error.message}"
        return forget(step, text) if step.act == 'widen' && gone?(step.name)

        @failures[[step.act, step.name]] =
          "#{text}; the next 'simpkv access apply' tries it again#{hint if step.act == 'widen'}"
      end

      private

      def gone?(uri)
        feature = @directory.feature
        !feature.named?(uri) && !feature.answers?(uri)
      end

      def hint
        ", and forgets the rules if the server is gone and no longer in 'ldap_uri' and 'write_uri' of the backend"
      end

      def forget(step, text)
        @state.change_removed(step.name) { [] }
        @notes << "#{text}; simpkv forgets them, because the backend no longer names the server: " \
                  "#{step.data[:add].join(', ')}"
      end
    end
  end
end
