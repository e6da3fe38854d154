# frozen_string_literal: true

# The property `directory` of simpkv_user, simpkv_role and simpkv_role_binding: what somebody has changed by hand.
#
# The value of this file is the module.
Module.new do
  def retrieve
    drift = provider.drift
    drift.empty? ? :in_sync : "needs: #{drift.join('; ')}"
  end

  def insync?(current)
    current == :in_sync
  end

  def set(_value)
    provider.declare
  end

  # With noop, there is no outcome.
  def change_to_s(current, _wanted)
    provider.outcome || current
  end
end
