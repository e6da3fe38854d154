# frozen_string_literal: true

require 'digest/sha2'
require 'simpkv/server/problem'

module Simpkv
  module Server
    class SignIn
      # How long a person waits after a wrong password: for one account from one address a second, then twice as long
      # each time. An address with many wrong passwords waits for all accounts, but not long: many people may share it.
      # An attempt counts as a wrong one until it is known to be right, so that attempts at once gain nothing.
      # Thread-safe.
      class Waits
        # The longest waits, in seconds: for an account, and for an address.
        ACCOUNT = 900
        ADDRESS = 30
        # Wrong passwords of an address that cost no wait.
        FREE = 10
        # Seconds after which the last wrong password is forgotten; how many accounts and addresses are remembered.
        FORGOTTEN = 7200
        REMEMBERED = 20_000
        Record = Struct.new(:wrong, :time, :told)
        private_constant :ACCOUNT, :ADDRESS, :FREE, :FORGOTTEN, :REMEMBERED, :Record

        # An attempt before the end of a wait.
        class TooEarly < Problem
          # @param what [String] of which there were too many
          # @param seconds [Integer] left
          # @param first [Boolean]
          def initialize(what, seconds, first)
            super(429, "too many #{what}: try again in #{Counted.of(seconds, 'second')}",
                  headers: { 'retry-after' => seconds.to_s })
            @first = first
          end

          # @return [Boolean] whether it is the first one of this wait
          def first?
            @first
          end
        end

        # @param clock [#call] returns seconds of a clock that only goes forward
        # @param what [String] makes clients wait, for messages
        def initialize(clock = Clock.method(:now), what: 'wrong passwords')
          @clock = clock
          @what = what
          @mutex = Mutex.new
          @records = {} # The one that was changed last is the last one.
        end

        # Looks whether an address has to wait, before the directory is asked for the account.
        #
        # @param address [Object] what tells the client from others
        # @return [void]
        # @raise [TooEarly] 429, with the seconds to wait
        def check(address)
          @mutex.synchronize { refuse_early(address => [FREE, ADDRESS]) }
        end

        # Counts an attempt, for the address also if it comes too early: the directory has been asked for the account.
        #
        # @param account [String] what tells the account from others. Only a digest of it is kept
        # @param address [Object] what tells the client from others
        # @return [void]
        # @raise [TooEarly] 429, with the seconds to wait
        def attempt(account, address)
          keys = keys(account, address)
          @mutex.synchronize do
            refuse_early(keys)
            change(keys.keys.first, 1)
          ensure
            change(address, 1)
          end
        end

        # Counts an attempt that was wrong, and is for no account.
        #
        # @param address [Object] what tells the client from others
        # @return [void]
        def wrong(address)
          @mutex.synchronize { change(address, 1) }
        end

        # Forgets the attempt, which was no wrong password.
        #
        # @param right [Boolean] whether to forget the wrong ones before it for this account and address, too
        # @return [void]
        def forget(account, address, right:)
          of_account, of_address = keys(account, address).keys
          @mutex.synchronize do
            right ? @records.delete(of_account) : change(of_account, -1)
            change(of_address, -1)
          end
        end

        private

        # @return [Hash{String => Array(Integer, Integer)}] by key, the number of wrong passwords without a wait, and
        #   the longest wait
        def keys(account, address)
          { Digest::SHA256.digest("#{account}\0#{address}") => [0, ACCOUNT], address => [FREE, ADDRESS] }
        end

        # @return [Numeric] the seconds until the next attempt
        def left(record, free, longest)
          return 0 if record.nil? || record.wrong <= free

          record.time + [2**[record.wrong - free - 1, 20].min, longest].min - @clock.call
        end

        def change(key, difference)
          now = @clock.call
          known = @records.delete(key)
          known = nil if known && now - known.time > FORGOTTEN
          count = (known ? known.wrong : 0) + difference
          @records[key] = Record.new(count, difference.positive? ? now : known.time) if count.positive?
          @records.shift if @records.length > REMEMBERED
        end

        def refuse_early(keys)
          key, limits = keys.max_by { |each, of_each| left(@records[each], *of_each) }
          record = @records[key]
          left = left(record, *limits)
          return unless left.positive?

          first = !record.told
          record.told = true
          raise TooEarly.new(@what, left.ceil, first)
        end
      end
    end
  end
end
