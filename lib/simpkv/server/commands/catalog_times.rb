# frozen_string_literal: true

require 'simpkv/server/commands/payload'

module Simpkv
  module Server
    module Commands
      # The time of the last catalog of a node, by the clock of its compiler, in the status of the node.
      class CatalogTimes
        MEMBER = 'catalog_timestamp'
        # A member of a status that tells an import from a run.
        IMPORTED = 'imported'
        private_constant :MEMBER, :IMPORTED

        # @param estate [Estate]
        # @param certname [String]
        def initialize(estate, certname)
          @statuses = estate.statuses
          @certname = certname
        end

        # @param time [Time]
        # @return [Boolean] whether a newer catalog is stored
        # @raise [Error]
        def newer?(time)
          later?(@statuses.readable(@certname)&.value, time)
        end

        # Enters the time of a catalog, and of the run, unless a newer catalog has been stored meanwhile.
        #
        # @param time [Time]
        # @param environment [String]
        # @return [void]
        # @raise [Error]
        def enter(time, environment)
          @statuses.update(@certname) do |status|
            next if later?(status, time)

            (status || {}).reject { |name, _| name == IMPORTED }
                          .merge('last_seen' => Time.now.utc.iso8601, 'environment' => environment,
                                 MEMBER => time.iso8601(3))
          end
        end

        private

        def later?(status, time)
          stored = status && status[MEMBER]
          stored = Payload.time(stored) if stored.is_a?(String)
          stored.is_a?(Time) && stored > time.floor(3)
        end
      end
    end
  end
end
