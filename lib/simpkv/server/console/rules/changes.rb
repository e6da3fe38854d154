# frozen_string_literal: true

module Simpkv
  module Server
    # Pages that create, change and delete a rule. A form has the time of the last change of the rule that it shows, so
    # that nobody changes a rule that he has not seen.
    class Console
      private

      def new_rule_page(text = nil, problem = nil)
        text ||= given('copy').empty? ? Rules::EXAMPLE : copied_rule(rule_of_store(given('copy')))
        response.status = problem.status if problem
        page('New rule', 'rule_form', text: text, problem: problem, rule: nil, seen: nil, current: nil)
      end

      def copied_rule(rule)
        fields = Rules::RuleText.fields(rule).reject { |name, _| name == 'uuid' }
        priorities = Inspection::Rules::Definition::PRIORITIES
        fields['priority'] = fields['priority'].clamp(priorities.begin, priorities.end)
        fields['description'] = "Copy of #{rule_name(rule)}"[0, 255]
        Rules::RuleText.yaml(fields)
      end

      def create_rule
        text = field('text')
        api.check('POST', rules_path)
        rule = api.request('POST', rules_path, data: Rules::RuleText.rule(text)).data
        go_with_notice(url('rules', rule['uuid']), 'created')
      rescue *Rules::ERRORS => e
        new_rule_page(text, Problem.of(e))
      end

      # @param text [String] what the person has entered, or the rule as it is
      # @param current [String, nil] the rule as it is, if another operator has changed it meanwhile
      def edit_page(rule, text, problem = nil, current = nil)
        raise Problem.new(400, 'a built-in rule cannot be changed: change its file, or copy it') if rule['built_in']

        response.status = problem.status if problem
        page("Edit #{rule_name(rule)}", 'rule_form', text: text, problem: problem, rule: rule,
                                                     seen: Rules::Change.last(rule), current: current)
      end

      def save_rule(uuid)
        text = field('text')
        rule = rule_of_store(uuid)
        seen = field('seen')
        return overtaken_edit(uuid, text) unless seen == Rules::Change.last(rule)

        api.check('PATCH', rules_path(uuid))
        operations = Rules::Change.new(rule, Rules::RuleText.rule(text)).operations
        patch_rule(uuid, operations, seen) if operations.any?
        go_with_notice(url('rules', uuid), operations.any? ? 'changed' : 'same')
      rescue *Rules::ERRORS => e
        problem = Problem.of(e)
        problem.status == 409 ? overtaken_edit(uuid, text) : lost_edit(rule, text, problem)
      end

      def patch_rule(uuid, operations, seen)
        api.request('PATCH', rules_path(uuid), query: { 'updated_at' => seen }, data: operations)
      end

      # The next attempt replaces the version that the page shows beside the text.
      def overtaken_edit(uuid, text)
        rule = rule_of_store(uuid)
        edit_page(rule, text, Problem.new(409, Rules::OVERTAKEN), Rules::RuleText.yaml(Rules::RuleText.fields(rule)))
      rescue *Rules::ERRORS => e
        # Another operator may have deleted the rule.
        lost_edit(rule, text, Problem.of(e))
      end

      # @param rule [Hash, nil] nil if it does not exist any more: what the person has entered makes a new one then
      def lost_edit(rule, text, problem)
        return edit_page(rule, text, problem) if rule && !rule['built_in']
        return new_rule_page(text, problem) if problem.status != 404

        new_rule_page(text, Problem.new(404, 'There is no such rule any more. The button stores what you have ' \
                                             'entered as a new one'))
      end

      def change_priority(uuid)
        rule = rule_of_store(uuid)
        value = Integer(field('priority'), 10, exception: false)
        raise Problem.new(400, 'the priority must be a whole number') unless value

        patch_rule(uuid, [{ 'op' => 'add', 'path' => '/priority', 'value' => value }], field('seen'))
        go_with_notice(url('rules', uuid), 'changed')
      rescue *Rules::ERRORS => e
        raise unless rule

        problem = Problem.of(e)
        problem = Problem.new(409, Rules::OVERTAKEN) if problem.status == 409
        response.status = problem.status
        rule_page(rule_of_store(uuid), problem)
      end

      def rule_deletion_page(rule, problem = nil)
        raise Problem.new(400, 'a built-in rule cannot be deleted: change its file') if rule['built_in']

        response.status = problem.status if problem
        page("Delete #{rule_name(rule)}", 'rule_delete', rule: rule, seen: Rules::Change.last(rule), problem: problem)
      end

      def delete_rule(uuid)
        seen = field('seen')
        return overtaken_deletion(uuid) if seen.empty? && rule_readable?(uuid)

        api.request('DELETE', rules_path(uuid), query: { 'updated_at' => (seen unless seen.empty?) })
        go_with_notice(url('rules'), 'deleted')
      rescue *Rules::ERRORS => e
        raise unless Problem.of(e).status == 409

        overtaken_deletion(uuid)
      end

      def overtaken_deletion(uuid)
        rule_deletion_page(rule_of_store(uuid), Problem.new(409, Rules::OVERTAKEN))
      end

      # For the form of a rule that could not be read, which has seen no change of it.
      #
      # @return [Boolean]
      def rule_readable?(uuid)
        rule_of_store(uuid)
        true
      rescue *Rules::ERRORS => e
        raise unless unreadable_rule?(uuid, Problem.of(e))

        false
      end
    end
  end
end
