# frozen_string_literal: true

require 'uri'
require 'simpkv/server/api/node_view'
require 'simpkv/server/api/rule_list'
require 'simpkv/server/api/rule_trial'
require 'simpkv/server/api/version'
require 'simpkv/server/application'

module Simpkv
  module Server
    module Api
      # Inspection rules: /v1/inspection_rules.
      class InspectionRules < Application
        # The fields of a rule that the service sets in answers, and ignores in requests.
        ANSWERED = %w[built_in links].freeze
        private_constant :ANSWERED

        route do |r|
          Version.check(env)
          refuse_conditions
          r.is(['', true]) do
            at('/v1/inspection_rules')
            r.get { list }
            r.post { create }
            r.delete do
              query
              rules.delete_all
              no_content
            end
          end
          trials(r)
          r.is(String, ['', true]) do |uuid|
            at('/v1/inspection_rules/{uuid}')
            requests(r, uuid)
          end
        end

        private

        def requests(request, uuid)
          request.get { json(fields_of(existing(uuid), query('fields')['fields'])) }
          request.patch do
            operations = body(Array)
            json(shown(client_errors { rules.patch(known_uuid(uuid), operations, updated_at: seen) }))
          end
          request.delete { rules.delete(known_uuid(uuid), updated_at: seen) ? no_content : raise(no_rule(uuid)) }
        end

        # Requests about rules before they are stored.
        def trials(request)
          request.is('test') do
            at('/v1/inspection_rules/test')
            request.post { json(plain { test(RuleTrial.new(body(Hash))) }) }
          end
          request.is('import') do
            at('/v1/inspection_rules/import')
            request.post { json('outcomes' => import) }
          end
        end

        # Inspects a node of which nothing is stored, with the stored rules and those of the body.
        def test(trial)
          engine = client_errors { rules.trial(trial.rules.map { |fields| given(fields) }) }
          outcome = Inspection::Inspector.new(estate, engine, explain: true).try(trial.name, trial.facts, trial.record)
          NodeView.new(estate, trial.name).outcome(outcome)
        end

        def import
          query('dry_run')
          list = body(Array).map { |fields| given(fields) }
          outcomes = client_errors { rules.import(list, dry_run: flag('dry_run')) }
          outcomes.map { |outcome, rule| { 'outcome' => outcome.to_s, 'rule' => shown(rule) } }
        end

        # @return [String, nil] the time of the last change that the client has seen
        def seen
          query('updated_at')['updated_at']
        end

        def fields_of(rule, fields)
          RuleList.new({ 'fields' => fields }.compact, fields.nil?).shown(shown(rule))
        end

        def list
          chosen = RuleList.new(query(*RuleList::PARAMETERS, 'errors'), flag('detail'))
          errors = {} if errors_returned?
          page, last = chosen.page(rules, errors)
          data = { 'inspection_rules' => page.map { |rule| chosen.shown(shown(rule)) }, 'errors' => errors }.compact
          data['next'] = next_url(last) if last
          json(data)
        end

        def next_url(marker)
          "#{base_url}/v1/inspection_rules?#{URI.encode_www_form(request.GET.merge('marker' => marker))}"
        end

        def create
          query
          fields = given(body(Hash))
          rule = client_errors { rules.create(fields) }
          response['location'] = url(rule['uuid'])
          json(shown(rule), 201)
        end

        # @param fields [Object] of a rule that a client sends
        # @return [Object] without those that only answers have: what GET returns can be sent back
        def given(fields)
          fields.is_a?(Hash) ? fields.reject { |name, _| ANSWERED.include?(name) } : fields
        end

        def existing(uuid)
          rules.get(known_uuid(uuid)) || raise(no_rule(uuid))
        end

        # A text that is no UUID names no rule.
        def known_uuid(uuid)
          uuid.match?(/\A\h{8}(-\h{4}){3}-\h{12}\z/) ? uuid : raise(no_rule(uuid))
        end

        def no_rule(uuid)
          Problem.new(404, "there is no rule #{uuid}")
        end

        # What is wrong with a rule is the client's mistake, also if it is too large.
        def client_errors
          yield
        rescue TooLargeError, UnencodableError => e
          raise Problem.new(400, Inspection::ActionFiles.usual.explained(e.message))
        end

        def url(uuid, prefix = '/v1')
          "#{base_url}#{prefix}/inspection_rules/#{uuid}"
        end

        # @param rule [Hash] of {Rules}
        # @return [Hash] all fields
        def shown(rule)
          uuid = rule['uuid']
          Inspection::Rules::Definition::DEFAULTS.merge(rule).merge(
            'built_in' => rule['built_in'] ? true : false,
            'links' => [{ 'href' => url(uuid), 'rel' => 'self' },
                        { 'href' => url(uuid, ''), 'rel' => 'bookmark' }]
          )
        end
      end
    end
  end
end
