# frozen_string_literal: true

require 'simpkv/audit'
require 'simpkv/server/outcomes'

module Simpkv
  module Server
    class SignIn
      # Writes who has signed in, from where, and each refusal, to the log of the service and to the audit log. A name
      # that belongs to no account is in neither: it may be a password.
      class Journal
        # @param log [Log]
        # @param audit [Hash{String => Object}, nil] the option `audit` of the backend
        def initialize(log, audit)
          @log = log
          @audit = audit
          @outcomes = Outcomes.new(:accepted, :wrong, :unknown, :incomplete, :locked, :change, :waiting, :error)
        end

        # @return [Outcomes] of attempts to sign in: `accepted`, `error`, or the reason of a refusal
        attr_reader :outcomes

        # @param text [String] for the log of the service
        # @param where [Hash{Symbol => Object}] see {Log#call}
        # @return [void]
        def say(text, **where)
          @log.call(text, **where)
        end

        # @param operation [String] `sign_in` or `sign_out`
        # @param outcome [String] `accepted`, `refused` or `error`; of `sign_out`, `done`
        # @param account [String, nil] the name of the account; nil if there is none
        # @param address [String] of the client
        # @param reason [String, nil] why it was refused
        # @param id [String] of the request
        # @return [void]
        # @raise [AuditError] the line cannot be written to the audit log, and has to be
        def note(operation, outcome, account:, address:, id:, reason: nil)
          who = account ? "account:#{account}" : 'an unknown account'
          @log.call("#{operation} of #{who}: #{[outcome, reason].compact.join(', ')}", id: id, from: address)
          return unless @audit

          members = { 'operation' => operation, 'account' => account, 'address' => address, 'outcome' => outcome,
                      'reason' => reason, 'host' => Audit.host, 'user' => Audit.user }
          write(members.compact)
        end

        private

        def write(members)
          texts = members.map { |name, value| %("#{name}":#{Audit::Line.text(value)}) }
          line = %({"time":"#{Audit::Line.now}",#{texts.join(',')},"pid":#{Process.pid}}\n)
          Audit::Log.to(@audit.fetch('to')).write(line)
        rescue Error => e
          say("#{e.message}: lines of the audit log are lost")
          return unless @audit['required']

          raise AuditError, "#{e.message}. The option 'required' of 'audit' is set, so nobody signs in", cause: nil
        end
      end
    end
  end
end
