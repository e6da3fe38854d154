# frozen_string_literal: true

require 'simpkv/document/json_pointer'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Rules < Section
        # What a person has changed in the text of a rule: a JSON patch of these fields only, so that those of a
        # sensitive rule that nobody sees stay.
        class Change
          # What a rule has without these fields.
          DEFAULTS = Inspection::Rules::Definition::DEFAULTS
          HIDDEN = Inspection::Rules::Definition::HIDDEN
          private_constant :DEFAULTS, :HIDDEN

          # @param rule [Hash] of the API
          # @return [String] the time of its last change, for the parameter `updated_at`
          def self.last(rule)
            Inspection::Rules::Definition.last_change(rule).to_s
          end

          # @param rule [Hash] of the API
          # @param given [Hash] the fields that the rule is to have; others get their defaults
          def initialize(rule, given)
            @rule = rule
            @given = given
          end

          # @return [Array<Hash>] for PATCH; empty if nothing was changed
          def operations
            (RuleText::FIELDS | @given.keys).reject { |name| same?(name) }.map do |name|
              { 'op' => 'add', 'path' => JsonPointer.of([name]), 'value' => @given[name] }
            end
          end

          private

          def same?(name)
            given = @given[name]
            return true if given.nil? && kept?(name)

            @rule.key?(name) && @rule[name] == (given.nil? ? DEFAULTS[name] : given)
          end

          # @return [Boolean] whether a text without the field leaves it alone
          def kept?(name)
            name == 'uuid' || (@rule['sensitive'] && HIDDEN.include?(name))
          end
        end
      end
    end
  end
end
