# frozen_string_literal: true

require 'simpkv/server/problem'

module Simpkv
  module Server
    module Api
      # The operations of a batch, as a client sends them: `{"operations": [{"op": "get", "key": "app1/token"}]}`.
      module BatchOperations
        MOST = 500
        CONDITIONS = %w[if_match if_none_match].freeze
        # By operation, the members that it may have beside op and key.
        MEMBERS = { 'get' => [], 'put' => ['body', *CONDITIONS], 'delete' => CONDITIONS }.freeze
        private_constant :MOST, :CONDITIONS, :MEMBERS

        class << self
          # @param body [Hash{String => Object}] of the request
          # @return [Array<Hash>]
          # @raise [Problem] an operation is wrong; the message has its place
          def of(body)
            list = body['operations']
            refuse("the body must be {\"operations\": [...]}, with at most #{MOST} operations") unless
              body.keys == %w[operations] && list.is_a?(Array) && list.length <= MOST

            list.each_with_index { |operation, number| check(operation, "operations[#{number}]") }
            check_unique(list.map { |operation| operation['key'] })
            list
          end

          private

          def refuse(why)
            raise Problem.new(400, why)
          end

          def check(operation, where)
            refuse("#{where}: it must be an object") unless operation.is_a?(Hash)
            known = MEMBERS[operation['op']] || refuse("#{where}.op: it must be #{MEMBERS.keys.join(' or ')}")
            unknown = (operation.keys - %w[op key] - known).first
            refuse("#{where}: unknown member '#{unknown}': there are #{['op', 'key', *known].join(', ')}") if unknown

            check_key(operation['key'], where)
            check_conditions(operation, where)
            return if !known.include?('body') || operation['body'].is_a?(Hash)

            refuse("#{where}.body: it must be an object, as the body of a PUT")
          end

          def check_unique(keys)
            twice = keys.find { |key| keys.count(key) > 1 } unless keys.uniq.length == keys.length
            refuse("operations: a key may be in one operation, and '#{twice}' is in several") if twice
          end

          def check_key(key, where)
            return if key.is_a?(String) && !key.empty? && !key.end_with?('/')

            refuse("#{where}.key: it must be the name of a key, such as app1/token")
          end

          def check_conditions(operation, where)
            wrong = CONDITIONS.find { |name| operation.key?(name) && !header?(operation[name]) }
            refuse("#{where}.#{wrong}: it must be '*' or an ETag") if wrong
          end

          def header?(text)
            text.is_a?(String) && text.match?(/\A[ -~]+\z/)
          end
        end
      end
    end
  end
end
