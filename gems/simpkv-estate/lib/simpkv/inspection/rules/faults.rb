# frozen_string_literal: true

module Simpkv
  module Inspection
    class Rules
      # Checks all rules, for simpkv doctor.
      class Faults
        BUILT_IN = 'built-in rules'
        ALL = 'all rules'
        private_constant :BUILT_IN, :ALL

        # @param stored [StoredRules]
        # @param built_in [BuiltIn]
        # @param site_actions [Array<String>]
        def initialize(stored, built_in, site_actions)
          @stored = stored
          @built_in = built_in
          @site_actions = site_actions
        end

        # @yieldparam what [String] see {Rules#each_fault}
        # @yieldparam why [String]
        # @return [Integer] the number of rules
        # @raise [Error]
        def each
          faulty = false
          fault = lambda do |what, why|
            faulty = true
            yield what, why
          end
          stored = @stored.all { |key, why| fault.call(key, "it cannot be read: #{why}") }
          built_in = built_in_rules(&fault)
          check_rules(stored, built_in, &fault)
          check_all(built_in + stored, &fault) unless faulty
          stored.length + built_in.length
        end

        private

        def built_in_rules
          @built_in.rules
        rescue ConfigError => e
          yield BUILT_IN, e.message
          []
        end

        # Checks the limits of all rules together.
        def check_all(rules)
          Definition.check_number(rules.length)
          Definition.compile(rules, @site_actions)
        rescue InvalidError, TooLargeError => e
          yield ALL, Definition.explained_in(rules, e.message)
        end

        # @param how [:check, :compiled] a method of {Definition}
        # @yieldparam why [String] if the rule is wrong
        def check(rule, how)
          Definition.public_send(how, rule, @site_actions)
        rescue InvalidError, TooLargeError => e
          yield Definition.explained(rule, e.message)
        end

        def check_rules(stored, built_in)
          built_in.each { |rule| check(rule, :compiled) { |why| yield BUILT_IN, why } }
          stored.each { |rule| check(rule, :check) { |why| yield rule['uuid'], why } }
          (built_in.map { |rule| rule['uuid'] } & stored.map { |rule| rule['uuid'] }).each do |uuid|
            yield @stored.path(uuid), "a built-in rule has the UUID #{uuid} as well"
          end
        end
      end
    end
  end
end
