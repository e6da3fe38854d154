# frozen_string_literal: true

module Simpkv
  module Inspection
    class Rules
      # The rules of a file: a list.
      module RuleList
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
        end
      end
    end
  end
end
