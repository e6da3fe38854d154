# frozen_string_literal: true

require 'simpkv/server/console/rules/outcome'
require 'simpkv/server/console/rules/preview'
require 'simpkv/server/console/rules/rule_text'
require 'simpkv/server/console/rules/rules_page'

module Simpkv
  module Server
    module Console
      class Rules < Section
        # The form for a new rule.
        class NewRulePage < RulesPage
          # The text of a new rule.
          EXAMPLE = <<~'YAML'
            description: web servers
            priority: 0
            phase: main
            conditions:
              - op: matches
                args: { value: '{node.name}', regex: 'web\d+\..*' }
            actions:
              - op: set-attribute
                args: { path: /parameters/role, value: web }
          YAML
          private_constant :EXAMPLE

          # @return [String] HTML
          def show
            api.check('POST', Client.path)
            copy = given('copy')
            again(copy.empty? ? EXAMPLE : copied(rules.get(copy)))
          end

          # Stores the rule.
          #
          # @return [String, void] HTML if it cannot be stored
          def submit
            text = form['text']
            api.check('POST', Client.path)
            rule = rules.create(RuleText.rule(text))
            go_with_notice(url('rules', rule['uuid']), 'created')
          rescue *ERRORS => e
            again(text, Problem.of(e))
          end

          # @param text [String, nil] what the person has entered; nil if it cannot be read
          # @param problem [Problem, nil] why it is not stored
          # @return [String] HTML
          def again(text, problem = nil)
            view('New rule', 'rules/form', text: text || EXAMPLE, problem: problem, rule: nil, seen: nil, current: nil)
          end

          private

          # @return [String] the text of a copy
          def copied(rule)
            fields = RuleText.fields(rule).reject { |name, _| name == 'uuid' }
            priorities = Inspection::Rules::Definition::PRIORITIES
            fields['priority'] = fields['priority'].clamp(priorities.begin, priorities.end)
            fields['description'] = "Copy of #{name_of(rule)}"[0, 255]
            RuleText.yaml(fields)
          end
        end

        # The form that tries rules before they are stored, and the outcome.
        class TestPage < RulesPage
          # The fields.
          FIELDS = %w[certname facts record rules].freeze

          # @return [String] HTML
          def show
            filled(FIELDS.to_h { |name| [name, given(name)] })
          end

          # Tries the rules. This changes nothing, so that its page is the answer.
          #
          # @return [String] HTML
          def submit
            fields = FIELDS.to_h { |name| [name, form[name]] }
            fields['rules'] = form['text'] if fields['rules'].empty? # of the page of a rule
            return filled(fields) if form.key?('open')

            filled(fields, Outcome.new(outcome(fields)))
          rescue *ERRORS => e
            raise if fields.nil?

            filled(fields, nil, Problem.of(e))
          end

          private

          # @param fields [Hash{String => String}] of {FIELDS}
          # @param outcome [Outcome, nil]
          def filled(fields, outcome = nil, problem = nil)
            view('Test rules', 'rules/test', form: fields, outcome: outcome, problem: problem)
          end

          # @return [Hash] of the API
          def outcome(fields)
            certname = fields['certname'].strip
            facts = fields['facts'].strip
            raise Problem.new(400, 'name a node, or enter facts') if certname.empty? && facts.empty?

            api.check('POST', Client.path('test')) unless facts.empty? && fields['rules'].strip.empty?
            list = RuleText.rules(fields['rules'])
            facts.empty? ? outcome_of_stored(certname, list) : outcome_of_facts(fields, list)
          end

          def outcome_of_facts(fields, list)
            certname = fields['certname'].strip
            rules.try('facts' => RuleText.facts(fields['facts'].strip), 'record' => entered_record(fields['record']),
                      'rules' => list, 'name' => (certname unless certname.empty?))
          end

          # @return [Object, nil] nil for no text
          def entered_record(text)
            RuleText.parse(text, 'record') unless text.strip.empty?
          end

          # Without rules of the form, the API takes the stored facts as they are. With them, it gets what it shows: a
          # rule of the form must not read what the caller may not see.
          def outcome_of_stored(certname, list)
            node = Api.path('v1', 'nodes', certname)
            if list.empty?
              return api.request('POST', "#{node}/inspection", query: { 'stored' => true, 'dry_run' => true }).data
            end

            facts = api.get("#{node}/facts")
            trusted = facts['trusted'] ? { 'trusted' => facts['trusted'] } : {}
            rules.try('facts' => facts['values'].merge(trusted), 'record' => declared_record(node), 'rules' => list,
                      'name' => certname)
          end

          # @return [Hash, nil] nil for a node without one
          def declared_record(node)
            api.get("#{node}/record")
          rescue Problem, Error => e
            raise unless Problem.of(e).status == 404
          end
        end

        # The form that brings the rules of a file into the store.
        class ImportPage < RulesPage
          # @return [String] HTML
          def show
            api.check('POST', Client.path('import'))
            filled('')
          end

          # Shows what would be done first, and does it if that has not changed since.
          #
          # @return [String, void] HTML if nothing is imported
          def submit
            text = entered
            api.check('POST', Client.path('import'))
            list = RuleText.rules(text)
            preview = Preview.new(rules.import(list, dry_run: true), rules.all(detail: true))
            seen = form['seen']
            return filled(text, preview: preview) if seen.empty?
            return overtaken(text, preview) unless seen == preview.digest

            rules.import(list)
            go_with_notice(url('rules'), 'imported')
          rescue *ERRORS => e
            filled(text.to_s, problem: Problem.of(e))
          end

          private

          def filled(text, preview: nil, problem: nil)
            view('Import rules', 'rules/import', text: text, preview: preview, problem: problem)
          end

          def overtaken(text, preview)
            problem = Problem.new(409, 'Another operator has changed rules since this page was shown, and nothing ' \
                                       'was imported. The import would do the following now')
            filled(text, preview: preview, problem: problem)
          end

          # @return [String] the file, if there is one, or the text of the form
          # @raise [Problem]
          def entered
            text = form.file('file')
            text = form['text'] if text.empty?
            raise Problem.new(400, 'the file is not UTF-8') unless text.valid_encoding?
            raise Problem.new(400, 'choose a file, or enter rules') if text.strip.empty?

            text
          end
        end
      end
    end
  end
end
