# frozen_string_literal: true

require 'simpkv/server/console/rules/client'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Rules < Section
        # What the pages of rules have in common.
        class RulesPage < Page
          OVERTAKEN = 'Another operator has changed the rule since this page was shown, and nothing was done'
          # What a form has done, by {Visit#notice}.
          NOTICES = { 'created' => 'The rule is stored.', 'changed' => 'The change is stored.',
                      'same' => 'Nothing was changed: the text is that of the stored rule.',
                      'deleted' => 'The rule is deleted.',
                      'imported' => 'The rules are imported, as the page before has shown it.' }.freeze
          private_constant :NOTICES

          private

          # @return [Client]
          def rules
            @rules ||= Client.new(api)
          end

          # @param title [String]
          # @param template [String]
          # @param problem [Problem, nil] whose status the page has
          # @return [String] HTML
          def view(title, template, problem: nil, **locals)
            response.status = problem.status if problem
            page(title, template, problem: problem, notice: NOTICES[notice], **locals)
          end

          # @return [String] what a page calls a rule of the API
          def name_of(rule)
            rule['description'].to_s.empty? ? rule['uuid'] : rule['description']
          end

          # @return [String] what is special about a rule
          def kind_of(rule)
            [('built in' if rule['built_in']), ('sensitive' if rule['sensitive'])].compact.join(', ')
          end
        end
      end
    end
  end
end
