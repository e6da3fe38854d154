# frozen_string_literal: true

require 'simpkv/server/console/rules/outcome'

module Simpkv
  module Server
    # What inspection rules make of a node.
    class Console
      # The rules of a stored outcome that a page shows.
      NODE_RULES = 200
      private_constant :NODE_RULES

      private

      def node_inspection_page
        node_view('Inspection', 'node_inspection', **node_stored_inspection, outcome: nil)
      end

      # Changes nothing, so that its page is the answer.
      def node_inspect
        at('/nodes/{certname}/inspection')
        first = number_field('offset', 0, OFFSETS)
        outcome = api.request('POST', node_inspection_path, query: { 'dry_run' => true, 'stored' => true }).data
        node_view('Inspection', 'node_inspection', **node_stored_inspection,
                  outcome: Rules::Outcome.new(outcome, first))
      end

      def node_inspection_path
        Api.path('v1', 'nodes', @certname, 'inspection')
      end

      # The stored outcome may be malformed. The next inspection replaces it.
      def node_stored_inspection
        stored = subject(404, 500) { api.get(node_inspection_path) }
        missing?(stored) ? demand_node : kind = Estate::Inspections.kind(stored)
        { stored: stored, kind: kind, names: kind ? node_rule_names : {}, inspect: may?('POST', node_inspection_path) }
      end

      # @return [Hash{String => String}] descriptions by UUID, of those rules that the caller may see
      def node_rule_names
        listed = part { rules_of_store(errors: {}) }
        missing?(listed) ? {} : listed.to_h { |rule| rule.values_at('uuid', 'description') }
      end

      # @param outcome [Hash] the stored one
      # @return [String, nil] why the node gets no record
      def node_refusal(outcome)
        rule = outcome['failed'] || outcome['error'] || return
        named = ['the rule', rule['rule'], ("(#{rule['description']})" if rule['description'])].compact.join(' ')
        why = rule['sensitive'] ? 'it is sensitive, so the reason is not shown' : rule['msg'] || rule['message']
        text = [named, rule['place'], why].compact.join(': ')
        cut("#{outcome['failed'] ? 'Refused by' : 'Could not apply'} #{text}", 2000)
      end
    end
  end
end
