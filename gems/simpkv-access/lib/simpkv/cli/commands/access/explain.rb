# frozen_string_literal: true

require 'simpkv/access/explanation'
require 'simpkv/cli/access/access_command'

module Simpkv
  module Cli
    module Commands
      module Access
        # Shows the roles that give rights on a key.
        class Explain < AccessCommand
          SUMMARY = 'show which roles give rights on a key'
          ARGUMENTS = 'PATH'
          DESCRIPTION = <<~TEXT
            Shows the declared roles that give rights on a key or a folder, and the users and groups that have these
            roles. PATH is the path that errors name, such as environments/dev/app1/password or globals/shared. Reads
            only what is declared: simpkv access status shows what the directory lacks. Exits with 1 if no role gives
            a right.
          TEXT
          EXAMPLES = {
            'simpkv access explain environments/dev/app1/password' => 'Who may read or write it',
            'simpkv access explain globals/shared -o json' => 'For a program'
          }.freeze

          HEAD = %w[role folder rights users groups].freeze
          private_constant :HEAD

          def run(path)
            check(path)
            on_access do |access|
              rows = Simpkv::Access::Explanation.new(access.snapshot).rows(path)
              output.print(rows.map { |row| HEAD.zip(row.to_a).to_h }) do
                rows.empty? ? ["no role gives a right on '#{path}'"] : table(rows)
              end
              Failure::NO if rows.empty?
            end
          end

          private

          def check(path)
            return if Simpkv::Access::Explanation.path?(path)

            raise Failure.new("'#{path}' is not a path: expected globals/... or environments/NAME/...", Failure::USAGE)
          end

          def table(rows)
            Output.table([HEAD, *rows.map do |row|
              rights = row.rights ? row.rights.join(', ') : 'existed before'
              [row.role, row.folder, rights, *[row.users, row.groups].map { |list| list.empty? ? '-' : list.join(' ') }]
            end])
          end
        end
      end
    end
  end
end
