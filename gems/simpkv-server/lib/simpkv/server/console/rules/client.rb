# frozen_string_literal: true

require 'simpkv/server/console/api'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Rules < Section
        # The rules, as the API has them.
        class Client
          # The fields of a rule that a list shows.
          LISTED = %w[uuid description scope priority phase sensitive built_in].freeze
          private_constant :LISTED

          # @param segments [Array<String>]
          # @return [String] the path of the API
          def self.path(*segments)
            Api.path('v1', 'inspection_rules', *segments)
          end

          # @param api [Api]
          def initialize(api)
            @api = api
          end

          # @param uuid [String]
          # @return [Hash] all fields of the rule
          # @raise [Problem]
          def get(uuid)
            @api.get(self.class.path(uuid))
          end

          # @param detail [Boolean] whether to include conditions and actions
          # @param errors [Hash{String => String}, nil] receives why a rule cannot be used
          # @return [Array<Hash>] all rules, in the order in which they run
          # @raise [Problem] a rule cannot be read, and there are no `errors`
          def all(detail: false, errors: nil)
            rules = []
            chosen = detail ? { 'detail' => true } : { 'fields' => LISTED.join(',') }
            chosen['errors'] = 'return' if errors
            loop do
              page = @api.get(self.class.path, 'marker' => rules.last&.fetch('uuid'), **chosen)
              rules.concat(page['inspection_rules'])
              errors&.merge!(page['errors'])
              return rules unless page['next']
            end
          end

          # @param data [Hash] the fields
          # @return [Hash] the new rule
          # @raise [Problem]
          def create(data)
            request('POST', data: data).data
          end

          # @param uuid [String]
          # @param operations [Array<Hash>] a JSON patch
          # @param seen [String] the time of the last change that the caller has seen
          # @return [void]
          # @raise [Problem] 409: there was another change since
          def patch(uuid, operations, seen)
            request('PATCH', uuid, query: { 'updated_at' => seen }, data: operations)
          end

          # @param uuid [String]
          # @param seen [String] as for {#patch}; empty for any
          # @return [void]
          # @raise [Problem] as {#patch}
          def delete(uuid, seen)
            request('DELETE', uuid, query: { 'updated_at' => (seen unless seen.empty?) })
          end

          # @param list [Array<Hash>]
          # @param dry_run [Boolean, nil]
          # @return [Array<Hash>] the outcomes
          # @raise [Problem]
          def import(list, dry_run: nil)
            request('POST', 'import', query: { 'dry_run' => dry_run }, data: list).data['outcomes']
          end

          # @param members [Hash] see the API
          # @return [Hash] the outcome
          # @raise [Problem]
          def try(members)
            request('POST', 'test', data: members).data
          end

          private

          def request(method, *segments, query: {}, data: nil)
            @api.request(method, self.class.path(*segments), query: query, data: data)
          end
        end
      end
    end
  end
end
