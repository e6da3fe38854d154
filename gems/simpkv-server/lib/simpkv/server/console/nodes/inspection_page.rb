# frozen_string_literal: true

require 'simpkv/server/console/nodes/node_page'
require 'simpkv/server/console/rules/client'
require 'simpkv/server/console/rules/outcome'

module Simpkv
  module Server
    module Console
      class Nodes < Section
        # What inspection rules make of a node.
        class InspectionPage < NodePage
          TITLE = 'Inspection'
          # The rules of a stored outcome that the page shows.
          RULES = 200
          private_constant :RULES

          # Inspects the node anew. This changes nothing, so that its page is the answer.
          #
          # @return [String] HTML
          def submit
            @anew = true
            show
          end

          private

          def content
            outcome = inspected if @anew
            view(TITLE, 'nodes/inspection', **stored_inspection, outcome: outcome)
          end

          def inspected
            first = form.number('offset', 0, OFFSETS)
            data = api.request('POST', api_path('inspection'), query: { 'dry_run' => true, 'stored' => true }).data
            Rules::Outcome.new(data, first)
          end

          # The stored outcome may be malformed. The next inspection replaces it.
          #
          # @return [Hash{Symbol => Object}] for the template
          def stored_inspection
            stored = subject(404, 500) { api.get(api_path('inspection')) }
            missing?(stored) ? demand_node : kind = Estate::Inspections.kind(stored)
            { stored: stored, kind: kind, names: kind ? rule_names : {}, inspect: may?('POST', api_path('inspection')) }
          end

          # @return [Hash{String => String}] descriptions by UUID, of those rules that the caller may see
          def rule_names
            listed = part { Rules::Client.new(api).all(errors: {}) }
            missing?(listed) ? {} : listed.to_h { |rule| rule.values_at('uuid', 'description') }
          end

          # @param outcome [Hash] the stored one
          # @return [String, nil] why the node gets no record
          def refusal(outcome)
            rule = outcome['failed'] || outcome['error'] || return
            named = ['the rule', rule['rule'], ("(#{rule['description']})" if rule['description'])].compact.join(' ')
            why = rule['sensitive'] ? 'it is sensitive, so the reason is not shown' : rule['msg'] || rule['message']
            text = [named, rule['place'], why].compact.join(': ')
            cut("#{outcome['failed'] ? 'Refused by' : 'Could not apply'} #{text}", 2000)
          end
        end
      end
    end
  end
end
