# frozen_string_literal: true

require 'simpkv/cli/commands/rule/set'

module Simpkv
  module Cli
    module Commands
      module Rule
        # Sets fields of an inspection rule to their defaults.
        class Unset < Set
          SUMMARY = 'set fields of an inspection rule to their defaults'
          SUGGEST_FOR = {}.freeze
          ARGUMENTS = 'ID [FIELD...]'
          DESCRIPTION = <<~TEXT
            Sets fields of a stored inspection rule to their defaults: description, scope and conditions to none,
            priority to 0, phase to main. A field is named by its name or as an option: scope or --scope. The actions
            of a rule are required, and a sensitive rule stays sensitive.
            Exits with 66 if there is no such rule.
          TEXT
          EXAMPLES = {
            'simpkv rule unset 6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90 scope' => 'A rule for all nodes again',
            'simpkv rule unset 6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90 --conditions' => 'A rule that always applies'
          }.freeze

          def run(uuid, *names)
            names |= @named
            raise Failure.new('which fields? (simpkv rule unset --help)', Failure::USAGE) if names.empty?

            names.each { |name| check(name) }
            change(uuid, names.to_h { |name| [name, nil] })
          end

          # @return [Array<String>] the names of the fields, for completion
          def fields
            FIELDS
          end

          private

          def check(name)
            return if FIELDS.include?(name)

            raise Failure.new("'#{name}' cannot be unset, only #{FIELDS.join(', ')}", Failure::USAGE)
          end

          def define(parser)
            @named = []
            FIELDS.each { |name| parser.on("--#{name}", "unset #{name}") { @named << name } }
            define_condition(parser)
          end
        end
      end
    end
  end
end
