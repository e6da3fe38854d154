# frozen_string_literal: true

require 'simpkv/server/api/node_view'

module Simpkv
  module Server
    # Rules before they are stored: /v1/inspection_rules/test and /v1/inspection_rules/import.
    class Application
      # The members of a request for a test.
      TRIED = { 'facts' => Hash, 'rules' => Array, 'record' => Hash, 'name' => String }.freeze
      private_constant :TRIED

      private

      def rule_trials(request)
        request.is('test') do
          at('/v1/inspection_rules/test')
          request.post { json(test_rules) }
        end
        request.is('import') do
          at('/v1/inspection_rules/import')
          request.post { json(import_rules) }
        end
      end

      # Inspects a node of which nothing is stored, with the stored rules and those of the body.
      def test_rules
        query
        given = tried(body(Hash))
        facts, list, record, name = given.values_at(*TRIED.keys)
        name ||= Inspection::GivenFacts.certname(facts)
        engine = rule_errors { rules.trial(list || []) }
        outcome = Inspection::Inspector.new(estate, engine, explain: true).try(name, facts, record)
        Api::NodeView.new(estate, name).outcome(outcome)
      end

      def tried(data)
        unknown = (data.keys - TRIED.keys).first
        raise Problem.new(400, "unknown member '#{unknown}': it has #{TRIED.keys.join(', ')}") if unknown

        given = data.compact
        wrong = TRIED.keys.find { |name| given.key?(name) && !given[name].is_a?(TRIED[name]) }
        wrong ||= 'facts' unless given.key?('facts')
        raise Problem.new(400, "'#{wrong}' must be #{TYPES.fetch(TRIED.fetch(wrong))}") if wrong

        given
      end

      def import_rules
        query('dry_run')
        list = body(Array)
        outcomes = rule_errors { rules.import(list, dry_run: flag('dry_run')) }
        { 'outcomes' => outcomes.map { |outcome, rule| { 'outcome' => outcome.to_s, 'rule' => shown_rule(rule) } } }
      end
    end
  end
end
