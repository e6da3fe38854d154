# frozen_string_literal: true

require 'simpkv/server/console/rules/change'
require 'simpkv/server/console/rules/export'
require 'simpkv/server/console/rules/outcome'
require 'simpkv/server/console/rules/preview'
require 'simpkv/server/console/rules/rule_text'
require 'simpkv/server/console/rules/settings'

module Simpkv
  module Server
    # Inspection rules: /rules.
    class Console
      # The methods of the API for changes of a rule.
      RULE_CHANGES = { 'edit' => 'PATCH', 'priority' => 'PATCH', 'delete' => 'DELETE' }.freeze
      private_constant :RULE_CHANGES

      hash_branch('', 'rules') do |r|
        r.is do
          at('/rules')
          r.get { rules_page }
        end
        r.is(%w[new test import export]) do |name|
          at("/rules/#{name}")
          r.get { rule_tool(name) }
          r.post { send_rule_tool(name) }
        end
        r.is(String) do |uuid|
          at('/rules/{uuid}')
          r.get { rule_readable(uuid) { rule_page(rule_of_store(uuid)) } }
        end
        r.is(String, %w[edit priority delete]) do |uuid, name|
          at("/rules/{uuid}/#{name}")
          r.get { rule_readable(uuid, form: name == 'delete') { rule_form_page(uuid, name) } }
          r.post { change_rule(uuid, name) }
        end
      end

      private

      def rule_tool(name)
        case name
        when 'new'
          api.check('POST', rules_path)
          new_rule_page
        when 'test' then rule_test_page(Rules::TRIAL.to_h { |field| [field, given(field)] })
        when 'import'
          api.check('POST', rules_path('import'))
          rule_import_page('')
        when 'export' then export_rules
        end
      end

      def send_rule_tool(name)
        case name
        when 'new' then create_rule
        when 'test' then try_rules
        when 'import' then import_rules
        when 'export' then no_such_page
        end
      end

      def rule_form_page(uuid, name)
        rule = rule_of_store(uuid)
        api.check(RULE_CHANGES.fetch(name), rules_path(uuid))
        case name
        when 'edit' then edit_page(rule, Rules::RuleText.yaml(Rules::RuleText.fields(rule)))
        when 'delete' then rule_deletion_page(rule)
        when 'priority' then no_such_page
        end
      end

      def change_rule(uuid, name)
        case name
        when 'edit' then save_rule(uuid)
        when 'delete' then delete_rule(uuid)
        when 'priority' then change_priority(uuid)
        end
      end

      def no_such_page
        raise Problem.new(404, "there is no page #{request.path_info}")
      end

      # @return [String] the path of the API
      def rules_path(*segments)
        Api.path('v1', 'inspection_rules', *segments)
      end

      # @return [Hash] a rule of the API
      # @raise [Problem]
      def rule_of_store(uuid)
        api.get(rules_path(uuid))
      end

      # @param uuid [String]
      # @param form [Boolean] whether a page for a rule that cannot be read has the form that deletes it
      # @yieldreturn [String] the page
      # @return [String] it, or the page of a rule that cannot be read
      def rule_readable(uuid, form: false)
        yield
      rescue *Rules::ERRORS => e
        problem = Problem.of(e)
        raise unless unreadable_rule?(uuid, problem)

        response.status = problem.status
        page("Rule #{uuid}", 'rule_unreadable', uuid: uuid, problem: problem, form: form,
                                                may: may?('DELETE', rules_path(uuid)))
      end

      # @param problem [Problem]
      # @return [Boolean] whether the document of this rule cannot be read
      def unreadable_rule?(uuid, problem)
        problem.status == 500 && problem.key == "#{Estate::FOLDER}/rules/#{uuid.downcase}"
      end

      # @param detail [Boolean] whether to include conditions and actions
      # @param errors [Hash{String => String}, nil] receives why a rule cannot be used
      # @return [Array<Hash>] all rules, in the order in which they run
      # @raise [Problem] a rule cannot be read, and there are no `errors`
      def rules_of_store(detail: false, errors: nil)
        rules = []
        chosen = detail ? { 'detail' => true } : { 'fields' => Rules::LISTED.join(',') }
        chosen['errors'] = 'return' if errors
        loop do
          page = api.get(rules_path, 'marker' => rules.last&.fetch('uuid'), **chosen)
          rules.concat(page['inspection_rules'])
          errors&.merge!(page['errors'])
          return rules unless page['next']
        end
      end

      def rules_page
        errors = {}
        all = rules_of_store(errors: errors).each_with_index.map { |rule, index| rule.merge('number' => index + 1) }
        choice = %w[phase scope q].to_h { |name| [name, given(name)] }
        rules = chosen_rules(all, choice)
        offset, limit = window
        page('Rules', 'rules', rules: rules[offset, limit] || [], all: all, choice: choice, total: rules.length,
                               errors: errors, offset: offset, limit: limit,
                               phases: Inspection::Rules::Definition::PHASES,
                               scopes: all.map { |rule| rule['scope'] }.compact.uniq.sort, may: rule_additions,
                               notice: Rules::NOTICES[@notice])
      end

      # @param what [String] of an error
      # @return [String, nil] HTML: a link to the page that deletes a stored rule
      def rule_deletion_link(what)
        uuid = what[%r{\A#{Estate::FOLDER}/rules/(\h{8}(?:-\h{4}){3}-\h{12})\z}, 1]
        uuid && linked('Delete', url('rules', uuid, 'delete'))
      end

      # @return [Hash{String => Boolean}] whether the caller may add rules, by the page
      def rule_additions
        { 'new' => may?('POST', rules_path), 'import' => may?('POST', rules_path('import')) }
      end

      def chosen_rules(rules, choice)
        text = choice['q'].downcase
        rules.select do |rule|
          ['', rule['phase']].include?(choice['phase']) && ['', rule['scope']].include?(choice['scope']) &&
            "#{rule['description']} #{rule['uuid']}".downcase.include?(text)
        end
      end

      # @param rule [Hash] of the API
      # @return [String] what a page calls it
      def rule_name(rule)
        rule['description'].to_s.empty? ? rule['uuid'] : rule['description']
      end

      # @return [String] what is special about a rule
      def rule_kind(rule)
        [('built in' if rule['built_in']), ('sensitive' if rule['sensitive'])].compact.join(', ')
      end

      # @return [Array<Array>] number, name of the operation, arguments in JSON, and what else it has
      def rule_steps(steps)
        steps.each_with_index.map do |step, number|
          more = [("loop: #{Native.generate(step['loop'])}" if step.key?('loop')),
                  ("holds for #{step['multiple']} of the loop" if step['multiple'])]
          [number, step['op'], cut(Native.generate(step['args']), Rules::ARGS), cut(more.compact.join('; '), Rules::ARGS)]
        end
      end

      def rule_page(rule, problem = nil)
        fields = Rules::RuleText.fields(rule)
        text = Rules::RuleText.yaml([fields])
        page(rule_name(rule), 'rule', rule: rule, problem: problem, notice: Rules::NOTICES[@notice],
                                      may: rule_changes(rule['uuid']), seen: Rules::Change.last(rule), text: cut(text, Rules::TEXT),
                                      json: cut(JSON.pretty_generate([fields]), Rules::TEXT),
                                      shortened: text.length > Rules::TEXT, kind: rule_kind(rule),
                                      steps: %w[conditions actions].to_h { |name| [name, rule_steps(rule[name].to_a)] })
      end

      # @return [Hash{String => Boolean}] whether the caller may change the rule, by the method
      def rule_changes(uuid)
        RULE_CHANGES.values.uniq.to_h { |method| [method, may?(method, rules_path(uuid))] }
      end

      def export_rules
        uuid = given('uuid')
        rules = uuid.empty? ? rules_of_store(detail: true) : [rule_of_store(uuid)]
        response['content-type'] = 'text/yaml; charset=utf-8'
        response['content-disposition'] = 'attachment; filename="simpkv-rules.yaml"'
        Rules::Export.new(rules).text
      end
    end
  end
end

require 'simpkv/server/console/rules/changes'
require 'simpkv/server/console/rules/trials'
