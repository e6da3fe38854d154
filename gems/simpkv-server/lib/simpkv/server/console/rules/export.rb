# frozen_string_literal: true

require 'simpkv/server/console/rules/rule_text'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Rules < Section
        # A file of rules for `simpkv rule import`.
        class Export
          HEAD = '# Inspection rules, for simpkv rule import'
          private_constant :HEAD

          # @param rules [Array<Hash>] of the API, with all fields
          def initialize(rules)
            @left_out, @rules = rules.partition { |rule| rule['sensitive'] || rule['built_in'] }
          end

          # @return [String] YAML. Comments name the rules that are left out
          def text
            notes = @left_out.map do |rule|
              kind = rule['built_in'] ? 'built in' : 'sensitive'
              # A description could have a character that ends the line, and begin a rule of its own.
              "# Left out, because it is #{kind}: #{UnsafeCharacters.escaped(Inspection::Rules::Definition.named(rule))}"
            end
            [HEAD, *notes, RuleText.yaml(@rules.map { |rule| RuleText.fields(rule) })].join("\n")
          end
        end
      end
    end
  end
end
