# frozen_string_literal: true

module Simpkv
  module Query
    class Index
      # What an index says about itself.
      #
      # - `refreshed`: the time, in seconds since 1970, at which the last complete refresh began: all that the store had
      #   then is in the index; nil before the first one
      # - `failed`: the time since which refreshes fail; nil if the last one did not
      # - `failure`: why the last refresh failed
      # - `done`, `total`: the number of nodes that are in the index, and that will be, while it is built
      State = Struct.new(:refreshed, :failed, :failure, :done, :total) do
        # The age that the answers of a service may have, in seconds. A directory may fail over meanwhile.
        const_set(:LIMIT, 60)

        # @param database [SQLite3::Database]
        # @return [State]
        def self.of(database)
          new(*values(database, *members.map(&:to_s)))
        end

        # @param database [SQLite3::Database]
        # @param names [Array<String>]
        # @return [Array] the values of these names; nil for each in a database that is not filled yet
        def self.values(database, *names)
          database.execute('SELECT name, value FROM meta').to_h.values_at(*names)
        rescue SQLite3::SQLException
          names.map { nil } # It has no such table.
        end

        # @param now [Time]
        # @return [Float, nil] the age of the index, in seconds; nil before it was complete
        def age(now = Time.now)
          refreshed && [now.to_f - refreshed, 0.0].max
        end

        # @param limit [Numeric] the age that an answer may have, in seconds
        # @param now [Time]
        # @return [void]
        # @raise [StaleError] the index is older, or is not complete yet
        def demand(limit = State::LIMIT, now = Time.now)
          return if refreshed && age(now) <= limit

          raise StaleError, refreshed ? old(now) : building
        end

        private

        def old(now)
          "the index of queries is #{age(now).round} s old#{": #{failure}" if failure}"
        end

        def building
          return "the index of queries cannot be built: #{failure}" if failure

          "the index of queries is being built#{", #{done} of #{total} nodes" if total}"
        end
      end
    end
  end
end
