# frozen_string_literal: true

require 'simpkv/server/commands/payload'

module Simpkv
  module Server
    module Commands
      # The time of the last catalog of a node, by the clock of its compiler, in the status of the node.
      class CatalogTimes
        MEMBER = Estate::Statuses::KEPT
        # A member of a status that tells an import from a run.
        IMPORTED = 'imported'
        private_constant :IMPORTED

        # @param stored [Object] a time that was entered
        # @param time [Time]
        # @return [Boolean] whether the first one is later; false if it is no time
        def self.later?(stored, time)
          stored = Payload.time(stored) if stored.is_a?(String)
          stored.is_a?(Time) && stored > time
        end

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

        # Enters the time of a catalog, and of the run, unless a newer catalog has been entered before.
        #
        # @param time [Time]
        # @param text [String] the same
        # @param environment [String]
        # @return [Boolean] whether it was entered
        # @raise [Error]
        def enter(time, text, environment)
          newer = false
          @statuses.update(@certname) do |status|
            newer = later?(status, time)
            next if newer

            status = (status || {}).reject { |name, _| [IMPORTED, 'received'].include?(name) }
            status.merge(Estate::Statuses.seen(text, status), 'environment' => environment, MEMBER => text)
          end
          !newer
        end

        private

        def later?(status, time)
          !status.nil? && self.class.later?(status[MEMBER], time)
        end
      end
    end
  end
end
