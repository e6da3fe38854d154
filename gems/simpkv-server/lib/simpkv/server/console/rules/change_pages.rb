# frozen_string_literal: true

require 'simpkv/server/console/rules/change'
require 'simpkv/server/console/rules/tool_pages'
require 'simpkv/server/console/rules/rule_text'
require 'simpkv/server/console/rules/rule_pages'

module Simpkv
  module Server
    module Console
      class Rules < Section
        # The form that changes a rule. It has the time of the last change of the rule that it shows, so that nobody
        # changes a rule that he has not seen.
        class EditPage < StoredRulePage
          # Stores the change.
          #
          # @return [String, void] HTML if it is not stored
          def submit
            text = form['text']
            seen = form['seen']
            rule
            return overtaken(text) unless seen == Change.last(rule)

            save(text, seen)
          rescue *ERRORS => e
            problem = Problem.of(e)
            problem.status == 409 ? overtaken(text) : lost(text, problem)
          end

          private

          def content
            rule
            api.check('PATCH', path)
            edited(stored_text)
          end

          def save(text, seen)
            api.check('PATCH', path)
            operations = Change.new(rule, RuleText.rule(text)).operations
            rules.patch(@uuid, operations, seen) if operations.any?
            go_with_notice(url('rules', @uuid), operations.any? ? 'changed' : 'same')
          end

          # @param text [String] what the person has entered, or the rule as it is
          # @param current [String, nil] the rule as it is, if another operator has changed it meanwhile
          def edited(text, problem = nil, current = nil)
            raise Problem.new(400, 'a built-in rule cannot be changed: change its file, or copy it') if rule['built_in']

            view("Edit #{name_of(rule)}", 'rules/form', text: text, problem: problem, rule: rule, current: current,
                                                        seen: Change.last(rule))
          end

          def stored_text
            RuleText.yaml(RuleText.fields(rule))
          end

          # The next attempt replaces the version that the page shows beside the text.
          def overtaken(text)
            rule_again
            edited(text, Problem.new(409, OVERTAKEN), stored_text)
          rescue *ERRORS => e
            # Another operator may have deleted the rule.
            lost(text, Problem.of(e))
          end

          # If the rule does not exist any more, what the person has entered makes a new one.
          def lost(text, problem)
            return edited(text, problem) if @rule && !@rule['built_in']

            if problem.status == 404
              problem = Problem.new(404, 'There is no such rule any more. The button stores what you have entered ' \
                                         'as a new one')
            end
            NewRulePage.new(@visit).again(text, problem)
          end
        end

        # The form that deletes a rule.
        class DeletionPage < StoredRulePage
          # Deletes the rule.
          #
          # @return [String, void] HTML if it is not deleted
          def submit
            seen = form['seen']
            return overtaken if seen.empty? && readable?

            rules.delete(@uuid, seen)
            go_with_notice(url('rules'), 'deleted')
          rescue *ERRORS => e
            raise unless Problem.of(e).status == 409

            overtaken
          end

          private

          def content
            rule
            api.check('DELETE', path)
            confirmation
          end

          def confirmation(problem = nil)
            raise Problem.new(400, 'a built-in rule cannot be deleted: change its file') if rule['built_in']

            view("Delete #{name_of(rule)}", 'rules/delete', rule: rule, seen: Change.last(rule), problem: problem)
          end

          def overtaken
            rule_again
            confirmation(Problem.new(409, OVERTAKEN))
          end

          def deletion?
            true
          end

          # For the form of a rule that could not be read, which has seen no change of it.
          #
          # @return [Boolean]
          def readable?
            rule_again
            true
          rescue *ERRORS => e
            raise unless unreadable?(Problem.of(e))

            false
          end
        end
      end
    end
  end
end
