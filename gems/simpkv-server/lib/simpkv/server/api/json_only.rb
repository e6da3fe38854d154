# frozen_string_literal: true

require 'simpkv/server/problem'

module Simpkv
  module Server
    module Api
      # For applications that answer with JSON whatever is asked for, as PuppetDB does.
      module JsonOnly
        # What a client accepts who takes JSON.
        JSON_TYPES = %w[application/json application/* */*].freeze
        private_constant :JSON_TYPES

        private

        # Refuses a client whose header Accept does not allow JSON.
        #
        # @return [void]
        # @raise [Problem] 406
        def demand_json
          accepted = Rack::Utils.q_values(env['HTTP_ACCEPT'])
          return if accepted.empty? || accepted.any? { |type, quality| quality.positive? && JSON_TYPES.include?(type) }

          raise Problem.new(406, 'must accept application/json')
        end
      end
    end
  end
end
