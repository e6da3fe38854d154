# frozen_string_literal: true

require 'simpkv/access/status_report'
require 'simpkv/cli/access/access_command'

module Simpkv
  module Cli
    module Commands
      module Access
        # Shows the state of what is declared.
        class Status < AccessCommand
          SUMMARY = 'show the state of users, roles and bindings'
          DESCRIPTION = <<~TEXT
            Shows the state of each declared user, role and binding, and what somebody has changed by hand in the
            directory. A role is "existing" if its entry was there before it was declared. An entry is "foreign" if
            somebody else has made it.

            With --verify, also binds as each user whose password can be read here, and tries each right: it puts a
            key simpkv-probe-... into each folder of the user's roles, and into up to ten folders of other roles,
            and deletes it. It also tries to add an entry of a kind that simpkv does not make, and lists such
            entries of others, with the command that deletes each (with ldapsearch). As each user, and as one without
            roles that it adds meanwhile, it tries whether virtual list views give hidden values away.

            Exits with 1 if something differs from the declarations, which simpkv access apply corrects, or if there
            are foreign entries. A member that no binding names is such a difference; apply removes it only with
            undeclared_members: remove. Exits with 2 if apply would refuse.
          TEXT
          EXAMPLES = {
            'simpkv access status' => 'A table',
            'simpkv access status --verify' => 'And the rights that users have'
          }.freeze

          HEAD = %w[kind name state notes].freeze
          private_constant :HEAD

          def run
            on_access do |access|
              plan = access.plan
              failures = @verify ? access.verify(plan) : []
              show(Simpkv::Access::StatusReport.new(plan), failures, plan)
            end
          end

          private

          def define(parser)
            parser.on('--verify', 'try the rights of each user') { @verify = true }
          end

          # @return [Integer, nil] the exit code
          def show(status, failures, plan)
            rows = status.rows
            output.print('objects' => rows.map { |row| object(row) }, 'rights' => failures,
                         'conflicts' => plan.conflicts) { table(rows) + failures }
            raise Simpkv::Access::Refused, plan.conflicts if plan.conflicts.any?

            Failure::NO if status.differs? || failures.any?
          end

          def object(row)
            HEAD.zip(row.to_a).to_h.compact
          end

          def table(rows)
            Output.table([HEAD, *rows.flat_map do |row|
              first, *others = row.notes
              [[row.kind, row.name || '-', row.state, first || '-'], *others.map { |note| ['', '', '', note] }]
            end])
          end
        end
      end
    end
  end
end
