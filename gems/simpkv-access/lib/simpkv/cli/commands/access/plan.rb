# frozen_string_literal: true

require 'simpkv/cli/access/access_command'

module Simpkv
  module Cli
    module Commands
      module Access
        # Shows what `simpkv access apply` would do.
        class Plan < AccessCommand
          SUMMARY = 'show what apply would change'
          ARGUMENTS = '[FILE]'
          DESCRIPTION = <<~TEXT
            Shows what simpkv access apply would do with a file of users, roles and bindings, in YAML or JSON, and
            changes nothing. Without FILE, shows what is left to do for those that are declared in the store. Exits
            with 1 if there is something to do, and with 2 if apply would refuse. Warns about rules of the whole server
            that give values away, which apply changes only with --narrow-vlv.
          TEXT
          EXAMPLES = {
            'simpkv access plan access.yaml' => 'What a file would change',
            'simpkv access plan access.yaml --prune' => 'The same, if the file has everything that is declared'
          }.freeze

          def run(file = nil)
            need_file_to_prune(file)
            wish = wish(file && declarations(file))
            on_access do |access|
              plan = access.plan(&wish)
              plan.warnings.each { |warning| complain(warning) }
              show(plan)
            end
          end

          private

          def define(parser)
            define_prune(parser)
            define_narrow(parser)
          end

          # @return [Integer, nil] the exit code
          def show(plan)
            output.print('steps' => plan.steps.map(&:plain), 'conflicts' => plan.conflicts,
                         'warnings' => plan.warnings) { plan.steps.flat_map(&:lines) }
            raise Simpkv::Access::Refused, plan.conflicts if plan.conflicts.any?

            Failure::NO if plan.steps.any?
          end
        end
      end
    end
  end
end
