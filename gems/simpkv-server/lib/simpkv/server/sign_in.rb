# frozen_string_literal: true

require 'simpkv/server/problem'

module Simpkv
  module Server
    # Signs people in with an account of a directory, and knows their sessions. Thread-safe.
    class SignIn
      # The longest name or password that may be right, in bytes.
      BYTES = 1024
      # Sign-ins that wait for the directory at once: other requests need threads, too.
      AT_ONCE = 4
      WRONG = 'the user name or the password is wrong'
      # The account may do nothing else in the directory, whose other clients refuse it as well.
      CHANGE = 'the directory wants a new password for this account first: change it there, and then sign in'
      LOCKED = 'the directory has locked this account: its administrator can unlock it'
      BUSY = 'too many people sign in at the moment: try again'
      # An error names servers, files and identities, which strangers must not see.
      DOWN = 'nobody can sign in at the moment: the log of the service says why'
      # By the reason of a refusal, what the person is told. Other reasons help who guesses.
      REASONS = { 'locked' => LOCKED, 'change' => CHANGE }.freeze
      private_constant :BYTES, :AT_ONCE, :WRONG, :LOCKED, :CHANGE, :REASONS, :BUSY, :DOWN

      # @return [Accounts]
      attr_reader :accounts

      # @return [Sessions]
      attr_reader :sessions

      # @return [Outcomes] see {Journal#outcomes}
      def outcomes
        @journal.outcomes
      end

      # @param options [Hash{String => Object}, nil] `sign_in` of the section `server`
      # @param site [Site]
      # @param log [Log]
      # @return [SignIn, nil] nil without options
      # @raise [ConfigError]
      def self.of(options, site, log)
        return unless options

        settings = site.backend(options['backend']).settings
        audit = settings['audit'] || site.backend.settings['audit']
        new(Accounts.new(options, settings), Journal.new(log, audit))
      end

      # @param accounts [Accounts]
      # @param journal [Journal]
      # @param sessions [Sessions]
      # @param waits [Waits]
      def initialize(accounts, journal, sessions: Sessions.new, waits: Waits.new)
        @accounts = accounts
        @journal = journal
        @sessions = sessions
        @waits = waits
        @mutex = Mutex.new
        @running = 0
      end

      # @param name [String]
      # @param password [String]
      # @param client [Client]
      # @return [String] the cookie of a new session
      # @raise [Problem] 403 if the name or the password is wrong, or the account is locked or needs a new password; 429
      #   if the person has to wait; 503 if the directory does not answer, or the audit log cannot be written
      def call(name, password, client)
        alone { session_of(accepted(name, password, client), client) }
      rescue Error => e
        @journal.say("sign_in: #{e.message}", id: client.id, from: client.address)
        raise Problem.new(503, DOWN), cause: nil
      end

      # @param session [Sessions::Session]
      # @param client [Client]
      # @return [void]
      def end(session, client)
        @sessions.end(session)
        note('sign_out', 'done', session.account.name, client)
      end

      # Says that the sessions end with this process.
      #
      # @return [void]
      def farewell
        @journal.say("#{Counted.of(@sessions.count, 'session')} of people who have signed in will end with that")
      end

      # Who sends the request: `peer` tells clients apart, `address` is for the logs, and `id` is that of the request.
      Client = Struct.new(:peer, :address, :id)

      private

      # An empty password would be an anonymous bind, which servers accept.
      def complete?(name, password)
        [name, password].all? do |text|
          text.valid_encoding? && !text.empty? && text.bytesize <= BYTES && !text.include?("\0")
        end
      end

      # @return [Accounts::Account] whose password it is
      # @raise [Problem] the attempt comes too early, or the password is not right
      def accepted(name, password, client)
        wait(nil, client) { @waits.check(client.peer) }
        complete = complete?(name, password)
        account = @accounts.find(name) if complete
        key = account ? account.dn.downcase : name.b.downcase
        wait(account, client) { @waits.attempt(key, client.peer) }
        refuse(nil, 'incomplete', client) unless complete
        outcome = outcome(account, key, password, client)
        @waits.forget(key, client.peer, right: true) if %i[right change].include?(outcome)
        refuse(account, outcome.to_s, client) unless outcome == :right
        account
      end

      # Who does not wait gets the same answer again and again, and fills no log with it.
      def wait(account, client)
        yield
      rescue Waits::TooEarly => e
        outcomes.count(:waiting)
        note('sign_in', 'refused', account&.name, client, 'waiting') if e.first?
        raise
      end

      # @return [Symbol] that of {Accounts#check}, or `:unknown`
      def outcome(account, key, password, client)
        account ? @accounts.check(account, password) : :unknown
      rescue Error => e
        @waits.forget(key, client.peer, right: false)
        outcomes.count(:error)
        note('sign_in', 'error', account.name, client, e.class.name.split('::').last)
        raise
      end

      # @return [String] the cookie
      def session_of(account, client)
        account = @accounts.with_groups(account)
        note('sign_in', 'accepted', account.name, client)
        outcomes.count(:accepted)
        @sessions.begin(account)
      end

      def refuse(account, reason, client)
        outcomes.count(reason.to_sym)
        note('sign_in', 'refused', account&.name, client, reason)
        raise Problem.new(403, REASONS.fetch(reason, WRONG))
      end

      def note(operation, outcome, account, client, reason = nil)
        @journal.note(operation, outcome, account: account, address: client.address, id: client.id, reason: reason)
      end

      def alone
        @mutex.synchronize do
          raise Problem.new(503, BUSY) if @running >= AT_ONCE

          @running += 1
        end
        begin
          yield
        ensure
          @mutex.synchronize { @running -= 1 }
        end
      end
    end
  end
end

require 'simpkv/server/sign_in/accounts'
require 'simpkv/server/sign_in/journal'
require 'simpkv/server/sign_in/sessions'
require 'simpkv/server/sign_in/waits'
