# frozen_string_literal: true

require 'simpkv/cli/estate/rule_explanation'

module Simpkv
  module Cli
    # Prints the outcome of an inspection. For commands below {EstateCommand}.
    module InspectionOutcome
      private

      # @param outcome [Inspection::Inspector::Outcome]
      # @param secrets [Estate::Secrets]
      # @return [Integer, nil] the exit code
      def present(outcome, secrets)
        data = data(outcome, secrets)
        output.print(data) { lines(data) }
        refused(outcome) if outcome.refusal
      end

      # @return [Hash{String => Object}]
      def data(outcome, secrets)
        effects = RuleExplanation.shown_effects(outcome.effects, outcome.rules)
        { 'name' => outcome.certname, 'known' => outcome.known.to_s,
          'record' => outcome.record && secrets.effective(outcome.record),
          'rules' => secrets.explanation(outcome.rules), 'effects' => secrets.explanation(effects),
          'failed' => outcome.failed, 'error' => outcome.error }.compact
      end

      def lines(data)
        explanation = RuleExplanation.new(data['rules'], data['effects']).lines
        heading = [['name:', data['name']], ['known:', data['known']]]
        [*explanation, *('' if explanation.any?), *Output.table(heading + rows(data['record'] || {}))]
      end

      def rows(record)
        record.reject { |name, _| name == 'sensitive' }.sort.flat_map do |name, value|
          next [["#{name}:", shown(value)]] unless value.is_a?(Hash)

          value.map { |entry, member| ["#{name}.#{entry}:", shown(member)] }
        end
      end

      # @return [Integer] the exit code
      def refused(outcome)
        warn "simpkv: #{outcome.certname}: #{Output.text(outcome.refusal.message)}"
        outcome.failed ? Failure::NO : Failure::DATA
      end
    end
  end
end
