# frozen_string_literal: true

module Simpkv
  module Server
    module Api
      # The versions of the API of inspection rules, which clients of other services of this kind negotiate.
      module Version
        MIN = '1.1'
        MAX = '1.115'
        # The header in which clients name the version that they want.
        WANTED = 'HTTP_X_OPENSTACK_IRONIC_API_VERSION'
        PREFIX = 'x-openstack-ironic-api'
        private_constant :WANTED, :PREFIX

        class << self
          # @param env [Hash{String => Object}]
          # @return [Hash{String => String}] the headers of each answer
          def headers(env)
            wanted = env.fetch(WANTED, MIN)
            { "#{PREFIX}-version" => supported?(wanted) ? wanted : MAX, "#{PREFIX}-minimum-version" => MIN,
              "#{PREFIX}-maximum-version" => MAX }
          end

          # @param env [Hash{String => Object}]
          # @return [String] the type of problems. Clients that send this header read the reason from JSON only, and
          #   ignore the type of RFC 9457
          def error_type(env)
            env.key?(WANTED) ? 'application/json' : Problem::TYPE
          end

          # @param env [Hash{String => Object}]
          # @return [void]
          # @raise [Problem] the client wants a version that there is not
          def check(env)
            wanted = env.fetch(WANTED, MIN)
            return if wanted == 'latest' || supported?(wanted)

            raise Problem.new(406, "this service has the versions #{MIN} to #{MAX} of the API")
          end

          # @return [Hash{String => Object}] the description of this version
          def description(url)
            { 'id' => 'v1', 'links' => [{ 'href' => "#{url}/v1/", 'rel' => 'self' }], 'status' => 'CURRENT',
              'min_version' => MIN, 'version' => MAX }
          end

          private

          def supported?(version)
            return false unless version.match?(/\A\d{1,3}\.\d{1,4}\z/)

            low, number, high = [MIN, version, MAX].map { |text| text.split('.').map(&:to_i) }
            (low <=> number) <= 0 && (number <=> high) <= 0
          end
        end
      end
    end
  end
end
