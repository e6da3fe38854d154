# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'
require 'simpkv/cli/estate/node_reports'

module Simpkv
  module Cli
    module Commands
      module Node
        # Prints what is known of a node in short.
        class Show < EstateCommand
          SUMMARY = 'print the record, the status and the last reports of a node'
          ARGUMENTS = 'NODE'
          NODES_IN = %w[status inventory nodes].freeze
          ANYWHERE = true
          DESCRIPTION = <<~TEXT
            Prints what is known of a node: the last run and its status, the facts of the option indexed_facts, the
            types that it exports, the declared environment, classes and parameters, the outcome of the last inspection
            by rules, and its last reports in short. Prints [redacted] for secrets, as simpkv node inspect does, unless
            --show-secrets is given, and for values that sensitive rules have set. Exits with 66 if there is nothing.
          TEXT
          EXAMPLES = {
            'simpkv node show web1' => 'A node',
            'simpkv node show web1 -o json' => 'For a program'
          }.freeze

          def run(name)
            errors = {}
            parts = on_estate { |estate| read(estate, name) { |key, why| errors[key] = why } }
            known = parts.values.any? { |part| part && part != [] }
            not_there(name, 'there is no node', node_names) unless known || errors.any?
            parts = without_secrets(parts, secrets(estate))
            output.print({ 'name' => name }.merge(parts)) { lines(name, parts) }
            report(errors)
          end

          private

          def define(parser)
            define_show_secrets(parser)
          end

          # @yieldparam key [String] of a document that cannot be read
          # @yieldparam why [String]
          # @return [Hash{String => Object}] the parts; nil, or empty, for one that is missing
          def read(estate, name, &block)
            documents = [estate.statuses, estate.inventory, estate.nodes, estate.inspections]
            status, record, declared, inspection = documents.map { |each| readable(each, name, &block) }
            { 'declared' => declared, 'inspection' => inspection, 'status' => status, 'inventory' => record,
              'expired' => estate.statuses.expired_of({ name => status }, { name => record }).any?,
              'reports' => estate.reports.all(name, &block) }
          end

          # @param secrets [Estate::Secrets]
          def without_secrets(parts, secrets)
            declared, inspection, inventory = parts.values_at('declared', 'inspection', 'inventory')
            facts = inventory && inventory['facts']
            reports = parts['reports'].map { |each| Estate::Reports.summary(secrets.report(each)) }
            parts.merge('reports' => reports, 'declared' => declared && secrets.declared(declared),
                        'inspection' => inspection && secrets.inspection(inspection),
                        'inventory' => facts ? inventory.merge('facts' => secrets.facts(facts)) : inventory)
          end

          def lines(name, parts)
            rows = [['name:', name], *status_rows(parts), *declared_rows(parts['declared'] || {}),
                    *inspection_rows(parts['inspection'])]
            reports = NodeReports.table(parts['reports'])
            Output.table(rows) + (reports.empty? ? [] : ['', *reports])
          end

          def status_rows(parts)
            status, record = parts.values_at('status', 'inventory').map { |part| part || {} }
            facts = (record['facts'] || {}).sort.map { |fact, value| ["#{fact}:", shown(value)] }
            { 'environment:' => status['environment'] || record['environment'],
              'last seen:' => seen(status, record, parts['expired']),
              'deactivated:' => record[Estate::Deactivation::MEMBER],
              'status:' => outcome(status), 'exports:' => joined((record['exports'] || {}).keys) }.compact.to_a + facts
          end

          def seen(status, record, expired)
            time = Estate::Statuses.last_seen(status, record)
            expired ? "#{time} (expired)" : time
          end

          def outcome(status)
            return unless status['status']

            noop = ', noop' if status['noop']
            "#{status['status']}#{noop}, #{Output.count(status['changes'].to_i, 'change')}, " \
              "#{Output.count(status['failures'].to_i, 'failure')}"
          end

          def declared_rows(record)
            classes = record['classes'].is_a?(Hash) ? record['classes'].keys : record['classes'].to_a
            { 'declared environment:' => record['environment'], 'declared classes:' => joined(classes) }.compact.to_a +
              (record['parameters'] || {}).sort.map { |name, value| ["declared parameter #{name}:", shown(value)] }
          end

          def inspection_rows(inspection)
            return [] unless inspection

            record, failed, error = inspection.values_at('record', 'failed', 'error')
            refusal = Inspection::Inspector::Outcome.new(record: record, failed: failed, error: error).refusal
            matched = "#{Output.count(inspection['rules'].length, 'rule')} matched"
            [['inspection:', refusal ? refusal.message : matched]]
          end

          def joined(names)
            names.sort.join(', ') if names.any?
          end
        end
      end
    end
  end
end
