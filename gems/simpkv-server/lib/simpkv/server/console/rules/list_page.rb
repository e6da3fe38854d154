# frozen_string_literal: true

require 'simpkv/server/console/rows'
require 'simpkv/server/console/rules/rules_page'

module Simpkv
  module Server
    module Console
      class Rules < Section
        # All rules, in the order in which they run.
        class ListPage < RulesPage
          include Rows

          # What sorts the table. The order in which rules run is that of their numbers.
          COLUMNS = { 'order' => nil, 'rule' => ->(rule) { rule['description'] || rule['uuid'] },
                      'phase' => ->(rule) { rule['phase'] }, 'priority' => ->(rule) { rule['priority'] },
                      'scope' => ->(rule) { rule['scope'] } }.freeze
          private_constant :COLUMNS

          # @return [String] HTML
          def show
            errors = {}
            all = rules.all(errors: errors).each_with_index.map { |rule, index| rule.merge('number' => index + 1) }
            choice = %w[phase scope q].to_h { |name| [name, given(name)] }
            list = page_of(in_order(chosen(all, choice), COLUMNS))
            file_of('rules') { list.rows } || listed(list, all, choice, errors)
          end

          private

          # @return [String] HTML
          def listed(list, all, choice, errors)
            view('Rules', 'rules/list', list: list, all: all, choice: choice, errors: errors,
                                        may: %w[new import].to_h { |name| [name, add?(name)] },
                                        phases: Inspection::Rules::Definition::PHASES,
                                        scopes: all.map { |rule| rule['scope'] }.compact.uniq.sort)
          end

          # @return [Boolean] whether the caller may add rules by the page
          def add?(name)
            may?('POST', Client.path(*('import' if name == 'import')))
          end

          def chosen(rules, choice)
            text = choice['q'].downcase
            rules.select do |rule|
              ['', rule['phase']].include?(choice['phase']) && ['', rule['scope']].include?(choice['scope']) &&
                "#{rule['description']} #{rule['uuid']}".downcase.include?(text)
            end
          end

          # @param what [String] of an error
          # @return [String, nil] HTML: a link to the page that deletes a stored rule
          def deletion_link(what)
            uuid = what[%r{\A#{Estate::FOLDER}/rules/(\h{8}(?:-\h{4}){3}-\h{12})\z}, 1]
            uuid && linked('Delete', url('rules', uuid, 'delete'))
          end
        end
      end
    end
  end
end
