# frozen_string_literal: true

# Makes inspection rules in the store of `estate`.
module RuleHelpers
  # @param action [String] the name of its one action
  # @param arguments [Array] of that
  # @param fields [Hash{Symbol => Object}] of the rule
  # @return [Hash] the stored rule
  def rule(action, *arguments, **fields)
    rules.create({ 'actions' => [{ 'op' => action, 'args' => arguments }] }.merge(fields.transform_keys(&:to_s)))
  end

  # @return [Simpkv::Inspection::Rules]
  def rules
    Simpkv::Inspection::Rules.of(estate)
  end

  # @return [Hash] a condition of a rule
  def condition(name, *arguments)
    { 'op' => name, 'args' => arguments }
  end
end
