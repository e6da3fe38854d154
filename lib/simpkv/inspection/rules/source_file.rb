# frozen_string_literal: true

module Simpkv
  module Inspection
    class Rules
      # The rules of a file: a list.
      module SourceFile
        class << self
          # @param data [Object] the content of the file
          # @param problems [Array<String>, nil] receives the messages of all wrong rules; nil to raise the first one
          # @yieldparam fields [Object] each rule
          # @return [Array] the results of the block; nil for a wrong rule
          # @raise [InvalidError] this is no list; or the block has raised an error, and the message has the place
          # @raise [TooLargeError] it has more rules than an inspection reads
          def each(data, problems = nil)
            raise InvalidError, 'it must have a list of rules' unless data.is_a?(Array)

            Definition.check_number(data.length)
            data.each_with_index.map do |fields, number|
              yield fields
            rescue InvalidError, TooLargeError, UnencodableError => e
              message = "rules[#{number}]: #{e.message}"
              problems ? problems << message : raise(InvalidError, message, cause: nil)
              nil
            end
          end

          # @param rules [Array<Hash, nil>] those of the file; nil for a wrong one
          # @raise [InvalidError] two rules have the same UUID
          def refuse_twice(rules)
            numbers = rules.each_index.select { |number| rules[number] }.group_by { |number| rules[number]['uuid'] }
            first, second = numbers.values.find { |same| same.length > 1 }
            raise InvalidError, "rules[#{second}]: this is the same rule as rules[#{first}]" if second
          end

          # Checks a file without a store.
          #
          # @param data [Object] the content of the file
          # @param site_actions [Array<String>] the names of the site's actions
          # @param built_in [Boolean] whether it is for the option `built_in`
          # @return [Array<String>] the first error of each wrong rule, after its place, such as
          #   `rules[2]: actions[0].op: ...`; if there is none, the limit that the rules exceed together
          def problems(data, site_actions, built_in: false)
            problems = []
            rules = checked(data, site_actions, built_in, problems)
            refuse_twice(rules)
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
            refuse_twice(rules)
            Definition.compile(rules, site_actions) if rules.any?
          end

          private

          def checked(data, site_actions, built_in, problems = nil)
            import = Import.new({}, BuiltIn.new(nil), site_actions)
            each(data, problems) do |fields|
              built_in ? Definition.compiled(BuiltIn.rule(fields), site_actions, terse: false) : import.plan(fields)
            end
          end
        end
      end
    end
  end
end
