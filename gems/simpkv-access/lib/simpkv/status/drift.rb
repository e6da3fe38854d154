# frozen_string_literal: true

require 'simpkv/access/site'

module Simpkv
  module Status
    # Counts what differs in a directory from the declared users, roles and bindings. Changes nothing. Does not try
    # passwords: a directory may lock the account of a user after binds that it has refused.
    module Drift
      # @param access [Access::Site]
      # @return [Hash{String => Integer}] `differences`: the steps of `simpkv access apply`, and the members that no
      #   binding has and that apply would leave; `conflicts`, for which apply would refuse; `warnings`
      # @raise [Error, ConfigError] the directory or what is declared cannot be read
      def self.of(access)
        plan = access.reconciler.plan(passwords: false)
        { 'differences' => plan.drift.length + undeclared(plan), 'conflicts' => plan.conflicts.length,
          'warnings' => plan.warnings.length }
      end

      # @return [Integer] the members that no step removes
      def self.undeclared(plan)
        return 0 if plan.observed.exclusive

        plan.state.roles.keys.sum { |role| plan.undeclared_members(role).length }
      end
      private_class_method :undeclared
    end
  end
end
