# frozen_string_literal: true

require 'simpkv/cli/rule_explanation'

module Simpkv
  module Cli
    # Prints the outcome of an inspection. For commands below {EstateCommand}.
    module InspectionOutcome
      private

      # @param outcome [Estate::Inspection::Outcome]
      # @return [Integer, nil] the exit code
      def present(outcome)
        output.print(data(outcome)) { lines(outcome) }
        refused(outcome) if outcome.refusal
      end

      # @return [Hash{String => Object}]
      def data(outcome)
        { 'name' => outcome.certname, 'known' => outcome.known.to_s, 'record' => record(outcome),
          'rules' => outcome.rules, 'effects' => RuleExplanation.shown_effects(outcome.effects, outcome.rules),
          'failed' => outcome.failed, 'error' => outcome.error }.compact
      end

      def record(outcome)
        outcome.record && Estate::Nodes.replace_sensitive(outcome.record) { Estate::Nodes::REDACTED }
      end

      def lines(outcome)
        explanation = RuleExplanation.new(outcome.rules, outcome.effects).lines
        rows = rows(outcome)
        [*explanation, *('' if explanation.any?), *Output.table([['name:', outcome.certname],
                                                                 ['known:', outcome.known.to_s], *rows])]
      end

      def rows(outcome)
        (record(outcome) || {}).reject { |name, _| name == 'sensitive' }.sort.flat_map do |name, value|
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
