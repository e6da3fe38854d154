# frozen_string_literal: true

require 'simpkv/server/console/rules/change'
require 'simpkv/server/console/rules/rule_text'
require 'simpkv/server/console/rules/rules_page'

module Simpkv
  module Server
    module Console
      class Rules < Section
        # A page about a stored rule, which may be one that cannot be read.
        class StoredRulePage < RulesPage
          # @param visit [Visit]
          # @param uuid [String]
          def initialize(visit, uuid)
            super(visit)
            @uuid = uuid
          end

          # @return [String] HTML: the page, or that of a rule that cannot be read
          def show
            content
          rescue *ERRORS => e
            problem = Problem.of(e)
            raise unless unreadable?(problem)

            view("Rule #{@uuid}", 'rules/unreadable', problem: problem, uuid: @uuid, form: deletion?,
                                                      may: may?('DELETE', path))
          end

          private

          # @return [String] the path of the rule in the API
          def path
            Client.path(@uuid)
          end

          # @return [Hash] the rule of the API
          # @raise [Problem]
          def rule
            @rule ||= rules.get(@uuid)
          end

          # @return [Hash] the rule of the API, as it is now
          # @raise [Problem]
          def rule_again
            @rule = nil
            rule
          end

          # @return [Boolean] whether the page of a rule that cannot be read has the form that deletes it
          def deletion?
            false
          end

          # @param problem [Problem]
          # @return [Boolean] whether the document of this rule cannot be read
          def unreadable?(problem)
            problem.status == 500 && problem.key == "#{Estate::FOLDER}/rules/#{@uuid.downcase}"
          end
        end

        # A rule.
        class RulePage < StoredRulePage
          # Characters of the arguments of a step, and of the text of the rule.
          ARGS = 1000
          TEXT = 20_000
          private_constant :ARGS, :TEXT

          # Changes the priority.
          #
          # @return [String, void] HTML if it cannot be changed
          def submit
            rule
            value = Integer(form['priority'], 10, exception: false)
            raise Problem.new(400, 'the priority must be a whole number') unless value

            rules.patch(@uuid, [{ 'op' => 'add', 'path' => '/priority', 'value' => value }], form['seen'])
            go_with_notice(url('rules', @uuid), 'changed')
          rescue *ERRORS => e
            raise unless @rule

            problem = Problem.of(e)
            rule_again
            content(problem.status == 409 ? Problem.new(409, OVERTAKEN) : problem)
          end

          private

          def content(problem = nil)
            fields = RuleText.fields(rule)
            text = RuleText.yaml([fields])
            path = Client.path(rule['uuid'])
            view(name_of(rule), 'rules/rule', rule: rule, problem: problem, may: changes(path), path: path,
                                              seen: Change.last(rule),
                                              text: cut(text, TEXT), json: cut(JSON.pretty_generate([fields]), TEXT),
                                              shortened: text.length > TEXT, kind: kind_of(rule),
                                              steps: %w[conditions actions].to_h { |name| [name, steps(rule[name])] })
          end

          # @return [Hash{String => Boolean}] whether the caller may change the rule, by the method
          def changes(path)
            %w[PATCH DELETE].to_h { |method| [method, may?(method, path)] }
          end

          # @return [Array<Array>] number, name of the operation, arguments in JSON, and what else it has
          def steps(list)
            list.to_a.each_with_index.map do |step, number|
              more = [("loop: #{Native.generate(step['loop'])}" if step.key?('loop')),
                      ("holds for #{step['multiple']} of the loop" if step['multiple'])]
              [number, step['op'], cut(Native.generate(step['args']), ARGS), cut(more.compact.join('; '), ARGS)]
            end
          end
        end
      end
    end
  end
end
