# frozen_string_literal: true

require 'simpkv/inspection'

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
        effects = Inspection::Explanation.shown_effects(outcome.effects, outcome.rules)
        { 'name' => outcome.certname, 'known' => outcome.known.to_s,
          'record' => outcome.record && secrets.effective(outcome.record),
          'rules' => secrets.explanation(outcome.rules), 'effects' => secrets.explanation(effects),
          'failed' => outcome.failed, 'error' => outcome.error }.compact
      end

      def lines(data)
        explanation = explanation(data['rules'], data['effects'])
        heading = [['name:', data['name']], ['known:', data['known']]]
        [*explanation, *('' if explanation.any?), *Output.table(heading + rows(data['record'] || {}))]
      end

      # @return [Array<String>] without control characters
      def explanation(rules, effects)
        words = Inspection::Explanation
        lines = rules.flat_map do |rule|
          phase = " (#{rule['phase']})" if rule['phase']
          ["#{words.named(rule)}#{phase}: #{words.outcome(rule)}", *words.details(rule).map { |detail| "  #{detail}" }]
        end
        (lines + effects.map { |effect| words.effect(effect) }).map { |line| Output.name(line) }
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
