# frozen_string_literal: true

require 'securerandom'

module Simpkv
  module Inspection
    class Rules
      # Rules as they would be after a change, to try it before it is stored.
      class Trial
        # @param built_in [BuiltIn]
        # @param stored [Array<Hash>] the stored rules, in order of creation
        # @param site_actions [Array<String>]
        def initialize(built_in, stored, site_actions)
          @built_in = built_in
          @stored = stored.to_h { |rule| [rule['uuid'], rule] }
          @site_actions = site_actions
        end

        # @param data [Object] a list of rules: see {Rules#trial}
        # @return [Native::Rules, nil] nil if there are no rules
        # @raise [InvalidError, TooLargeError, UnencodableError] see {Rules#trial}
        # @raise [ConfigError]
        def engine(data)
          changed = RuleList.each(data) { |fields| Definition.check(tried(fields), @site_actions) }
          RuleList.refuse_twice(changed)
          rules = @built_in.rules + @stored.merge(changed.to_h { |rule| [rule['uuid'], rule] }).values
          Definition.check_number(rules.length)
          rules.any? ? compiled(rules) : nil
        end

        private

        # @return [Hash] the rule with all fields
        def tried(fields)
          rule = Definition.complete(fields)
          @built_in.refuse(rule['uuid'])
          old = @stored[rule['uuid']]
          return { 'uuid' => SecureRandom.uuid }.merge(rule) unless old

          Definition.changed(old, old['sensitive'] ? with_hidden(fields, old) : rule)
        end

        # @return [Hash] the fields, and those of a sensitive rule that nobody sees
        def with_hidden(fields, old)
          hidden = Definition::HIDDEN.reject { |name| fields[name] }
          fields.merge('sensitive' => fields['sensitive'].nil? || fields['sensitive']).merge(old.slice(*hidden))
        end

        def compiled(rules)
          Definition.compile(rules, @site_actions)
        rescue InvalidError => e
          raise InvalidError, Definition.explained_in(rules, e.message), cause: nil
        end
      end
    end
  end
end
