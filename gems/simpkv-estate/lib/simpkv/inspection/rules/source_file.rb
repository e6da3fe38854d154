# frozen_string_literal: true

module Simpkv
  module Inspection
    class Rules
      # Checks and compiles the rules of a file without a store.
      module SourceFile
        class << self
          # @param data [Object] the content of the file
          # @param site_actions [Array<String>] the names of the site's actions
          # @param built_in [Boolean] whether it is for the option `built_in`
          # @return [Array<String>] the first error of each wrong rule, after its place, such as
          #   `rules[2]: actions[0].op: ...`; if there is none, the limit that the rules exceed together
          def problems(data, site_actions, built_in: false)
            problems = []
            rules = checked(data, site_actions, built_in, problems)
            RuleList.refuse_twice(rules)
            total = problems.empty? ? Total.fault(rules, site_actions) : nil
            [*problems, *total]
          rescue InvalidError, TooLargeError => e
            problems << e.message
          end

          # Compiles the rules of a file without a store.
          #
          # @param data [Object] see {problems}
          # @param site_actions [Array<String>]
          # @param built_in [Boolean]
          # @return [Native::Rules, nil] nil if there are no rules
          # @raise [InvalidError, TooLargeError] as {problems} describes it
          def engine(data, site_actions, built_in: false)
            rules = checked(data, site_actions, built_in)
            RuleList.refuse_twice(rules)
            Definition.compile(rules, site_actions) if rules.any?
          end

          private

          def checked(data, site_actions, built_in, problems = nil)
            import = Import.new({}, BuiltIn.new(nil), site_actions)
            RuleList.each(data, problems) do |fields|
              built_in ? Definition.compiled(BuiltIn.rule(fields), site_actions, terse: false) : import.plan(fields)
            end
          end
        end
      end
    end
  end
end
