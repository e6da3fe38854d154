# frozen_string_literal: true

module Simpkv
  module Inspection
    # Words the output of the rules' engine for people: which rules matched, which condition did not hold, and what each
    # action changed. The words may have parts of facts, also control characters.
    module Explanation
      class << self
        # @param rule [Hash] of the output
        # @return [String] words for it
        def named(rule)
          description = " '#{rule['description']}'" if rule['description'].to_s != ''
          "rule #{rule['uuid'] || rule['rule']}#{description}"
        end

        # @param effects [Array<Hash>] of the output
        # @param rules [Array<Hash>] of the output
        # @return [Array<Hash>] the effects, without the arguments of sensitive rules
        def shown_effects(effects, rules)
          sensitive = rules.select { |rule| rule['sensitive'] }.map { |rule| rule['uuid'] }
          effects.map do |effect|
            next effect unless effect['sensitive'] || sensitive.include?(effect['rule'])

            effect.reject { |name, _| %w[args msg].include?(name) }.merge('sensitive' => true)
          end
        end

        # @param rule [Hash] of the output
        # @return [String] whether it matched
        def outcome(rule)
          "#{rule['matched'] ? 'matched' : 'did not match'}#{', sensitive' if rule['sensitive']}"
        end

        # @param rule [Hash] of the output
        # @return [Array<String>] what its actions changed, or which condition did not hold. None for a sensitive rule
        def details(rule)
          [*(rule['actions'] || []).map { |action| action_text(action) },
           *[rule['condition']].compact.map { |condition| condition_text(condition) }]
        end

        # @param effect [Hash] see {shown_effects}
        # @return [String] words for it
        def effect(effect)
          what = effect['op'] == 'log' ? "log #{effect['level']}" : "action #{effect['op']}"
          detail = effect['sensitive'] ? '(sensitive)' : effect['msg'] || json(effect['args'])
          "#{what} of the #{named(effect)}: #{detail}"
        end

        private

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

        def json(value)
          Native.generate(value)
        end
      end
    end
  end
end
