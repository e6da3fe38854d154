# frozen_string_literal: true

require 'digest/sha2'
require 'securerandom'

module Simpkv
  module Server
    class SignIn
      # The sessions of people who have signed in, in the memory of this process alone: they end with it. The cookie of
      # one is a random number, of which only a digest is kept. Their ages do not depend on the time of the machine.
      # Thread-safe.
      class Sessions
        # Seconds without use, and in all, after which a session ends; sessions of an account.
        IDLE = 1800
        LONGEST = 28_800
        EACH = 20
        # The bytes of a cookie.
        BYTES = 32
        private_constant :IDLE, :LONGEST, :EACH, :BYTES

        # `key` is the digest of the cookie.
        Session = Struct.new(:key, :account, :began, :used)

        # @param clock [#call] returns seconds of a clock that only goes forward
        def initialize(clock = Clock.method(:now))
          @clock = clock
          @mutex = Mutex.new
          @sessions = {}
        end

        # @param account [Accounts::Account]
        # @return [String] the cookie of a new session
        def begin(account)
          cookie = SecureRandom.urlsafe_base64(BYTES)
          now = @clock.call
          @mutex.synchronize do
            @sessions.delete_if { |_, session| over?(session, now) }
            make_room(account)
            @sessions[digest(cookie)] = Session.new(digest(cookie), account, now, now)
          end
          cookie
        end

        # @param cookie [String, nil]
        # @param use [Boolean] whether the session is used by that
        # @return [Session, nil] nil if there is none, or none any more
        def find(cookie, use: true)
          return unless cookie

          now = @clock.call
          @mutex.synchronize do
            session = @sessions[digest(cookie)]
            next if session.nil?
            next @sessions.delete(session.key) && nil if over?(session, now)

            session.used = now if use
            session.dup
          end
        end

        # @param session [Session]
        # @return [void]
        def end(session)
          @mutex.synchronize { @sessions.delete(session.key) }
        end

        # @return [Integer] their number
        def count
          now = @clock.call
          @mutex.synchronize { @sessions.count { |_, session| !over?(session, now) } }
        end

        private

        # Ends the session of the account that was used longest ago, if it has as many as it may.
        def make_room(account)
          own = @sessions.values.select { |session| session.account.dn == account.dn }
          @sessions.delete(own.min_by(&:used).key) if own.length >= EACH
        end

        def digest(cookie)
          Digest::SHA256.digest(cookie)
        end

        def over?(session, now)
          now - session.used > IDLE || now - session.began > LONGEST
        end
      end
    end
  end
end
