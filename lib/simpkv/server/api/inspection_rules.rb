# frozen_string_literal: true

require 'simpkv/server/api/rule_list'
require 'simpkv/server/api/rule_trials'

module Simpkv
  module Server
    # Inspection rules: /v1/inspection_rules.
    class Application
      hash_branch('/v1', 'inspection_rules') do |r|
        Api::Version.check(env)
        refuse_conditions
        r.is(['', true]) do
          at('/v1/inspection_rules')
          r.get { list_rules }
          r.post { create_rule }
          r.delete do
            query
            rules.delete_all
            no_content
          end
        end
        rule_trials(r)
        r.is(String, ['', true]) do |uuid|
          at('/v1/inspection_rules/{uuid}')
          rule_requests(r, uuid)
        end
      end

      private

      def rule_requests(request, uuid)
        request.get { json(rule_fields(existing_rule(uuid), query('fields')['fields'])) }
        request.patch do
          operations = body(Array)
          json(shown_rule(rule_errors { rules.patch(known_uuid(uuid), operations, updated_at: seen) }))
        end
        request.delete { rules.delete(known_uuid(uuid), updated_at: seen) ? no_content : raise(no_rule(uuid)) }
      end

      # @return [String, nil] the time of the last change that the client has seen
      def seen
        query('updated_at')['updated_at']
      end

      def rule_fields(rule, fields)
        Api::RuleList.new({ 'fields' => fields }.compact, fields.nil?).shown(shown_rule(rule))
      end

      # @return [Inspection::Rules] with the actions of the site, which the service does not carry out
      def rules
        @rules ||= Inspection::Rules.new(site.estate(caller), Inspection::ActionFiles.usual.names)
      end

      def list_rules
        list = Api::RuleList.new(query(*Api::RuleList::PARAMETERS, 'errors'), flag('detail'))
        errors = {} if errors_returned?
        page, last = list.page(rules, errors)
        data = { 'inspection_rules' => page.map { |rule| list.shown(shown_rule(rule)) }, 'errors' => errors }.compact
        data['next'] = next_url(last) if last
        json(data)
      end

      def next_url(marker)
        "#{base_url}/v1/inspection_rules?#{URI.encode_www_form(request.GET.merge('marker' => marker))}"
      end

      def create_rule
        query
        fields = body(Hash)
        refuse_assigned(fields)
        rule = rule_errors { rules.create(fields) }
        response['location'] = rule_url(rule['uuid'])
        json(shown_rule(rule), 201)
      end

      def refuse_assigned(fields)
        return if fields['built_in'].nil?

        raise Problem.new(400, "built_in: only the file of the option 'built_in' has built-in rules")
      end

      def existing_rule(uuid)
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
      def rule_errors
        yield
      rescue TooLargeError, UnencodableError => e
        raise Problem.new(400, Inspection::ActionFiles.usual.explained(e.message))
      end

      def rule_url(uuid, prefix = '/v1')
        "#{base_url}#{prefix}/inspection_rules/#{uuid}"
      end

      # @param rule [Hash] of {Rules}
      # @return [Hash] all fields
      def shown_rule(rule)
        uuid = rule['uuid']
        Inspection::Rules::Definition::DEFAULTS.merge(rule).merge(
          'built_in' => rule['built_in'] ? true : false,
          'links' => [{ 'href' => rule_url(uuid), 'rel' => 'self' },
                      { 'href' => rule_url(uuid, ''), 'rel' => 'bookmark' }]
        )
      end
    end
  end
end
