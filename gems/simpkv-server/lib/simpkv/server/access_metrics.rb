# frozen_string_literal: true

require 'simpkv/status/exposition'

module Simpkv
  module Server
    # How people sign in, how programs use tokens, and who waits for changes of keys.
    class AccessMetrics
      # @param sign_in [SignIn, nil]
      # @param guard [TokenGuard]
      # @param watches [Watches]
      def initialize(sign_in, guard, watches)
        @sign_in = sign_in
        @guard = guard
        @watches = watches
      end

      # @return [String] in the text format of Prometheus
      def text
        page = Status::Exposition.new
        clients, folders = @watches.counts
        page.gauge(:simpkv_watch_clients, 'Clients that wait for changes of keys.', clients)
        page.gauge(:simpkv_watch_folders, 'Folders that are watched for them.', folders)
        count(page, :simpkv_sign_ins_total, 'Attempts of people to sign in, by outcome.', @sign_in)
        count(page, :simpkv_token_uses_total, 'Requests with a token, by outcome.', @guard)
        page.gauge(:simpkv_sessions, 'Sessions of people who have signed in.', @sign_in.sessions.count) if @sign_in
        page.text
      end

      private

      def count(page, name, help, source)
        source&.outcomes.to_h.each { |outcome, number| page.counter(name, help, number, outcome: outcome) }
      end
    end
  end
end
