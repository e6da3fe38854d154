# frozen_string_literal: true

module Simpkv
  module Cli
    # Words the output of the rules' engine for people: which rules matched, which condition did not hold, and what each
    # action changed. Shows nothing of a sensitive rule.
    class RuleExplanation
      # @param rule [Hash] of the output
      # @return [String] words for it
      def self.named(rule)
        description = " '#{rule['description']}'" if rule['description'].to_s != ''
        "rule #{rule['uuid'] || rule['rule']}#{description}"
      end

      # @param effects [Array<Hash>] of the output
      # @param rules [Array<Hash>] of the output
      # @return [Array<Hash>] the effects, without the arguments of sensitive rules
      def self.shown_effects(effects, rules)
        sensitive = rules.select { |rule| rule['sensitive'] }.map { |rule| rule['uuid'] }
        effects.map do |effect|
          next effect unless sensitive.include?(effect['rule'])

          effect.reject { |name, _| %w[args msg].include?(name) }.merge('sensitive' => true)
        end
      end

      # @param rules [Array<Hash>] of the output
      # @param effects [Array<Hash>] see {shown_effects}
      def initialize(rules, effects)
        @rules = rules
        @effects = effects
      end

      # @return [Array<String>] without control characters
      def lines
        lines = @rules.flat_map { |rule| rule_lines(rule) } + @effects.map { |effect| effect_line(effect) }
        lines.map { |line| Output.name(line) }
      end

      private

      def rule_lines(rule)
        phase = " (#{rule['phase']})" if rule['phase']
        sensitive = ', sensitive' if rule['sensitive']
        outcome = rule['matched'] ? 'matched' : 'did not match'
        ["#{self.class.named(rule)}#{phase}: #{outcome}#{sensitive}",
         *(rule['actions'] || []).map { |action| "  #{action_text(action)}" },
         *[rule['condition']].compact.map { |condition| "  #{condition_text(condition)}" }]
      end

      def condition_text(condition)
        # The engine has no values for an empty loop, and behind its limit for explanations.
        why = condition.key?('args') ? json(condition['args']) : 'no values (an empty loop, or a long explanation)'
        "conditions[#{condition['index']}] #{condition['op']} does not hold: #{why}"
      end

      def action_text(action)
        named = ["actions[#{action['index']}] #{action['op']}", action['port_id'], action['path']].compact.join(' ')
        return named unless action.key?('before') || action.key?('after')
        return "#{named}: #{json(action['after'])}" unless action.key?('before')
        return "#{named}: #{json(action['before'])} is removed" unless action.key?('after')

        "#{named}: #{json(action['before'])} -> #{json(action['after'])}"
      end

      def effect_line(effect)
        what = effect['op'] == 'log' ? "log #{effect['level']}" : "action #{effect['op']}"
        detail = effect['sensitive'] ? '(sensitive)' : effect['msg'] || json(effect['args'])
        "#{what} of the #{self.class.named(effect)}: #{detail}"
      end

      def json(value)
        Native.generate(value)
      end
    end
  end
end
