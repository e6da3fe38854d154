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
        # @return [Float, nil] the age of the index, in seconds; nil before it was complete, or if the clock was set
        #   back since: then nothing tells how old it is
        def age(now = Time.now)
          now.to_f - refreshed if refreshed && refreshed <= now.to_f
        end

        # @param limit [Numeric] the age that an answer may have, in seconds
        # @param now [Time]
        # @return [void]
        # @raise [StaleError] the index is older, or of an unknown age, or is not complete yet
        def demand(limit = State::LIMIT, now = Time.now)
          age = age(now)
          return if age && age <= limit

          raise StaleError, refreshed ? old(age) : building
        end

        private

        def old(age)
          what = age ? "is #{age.round} s old" : 'is of a time that is yet to come, until the next refresh'
          "the index of queries #{what}#{": #{failure}" if failure}"
        end

        def building
          return "the index of queries cannot be built: #{failure}" if failure

          "the index of queries is being built#{", #{done} of #{total} nodes" if total}"
        end
      end
    end
  end
end
