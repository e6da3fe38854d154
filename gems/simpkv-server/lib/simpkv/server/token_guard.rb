# frozen_string_literal: true

require 'digest/sha2'
require 'simpkv/server/outcomes'
require 'simpkv/server/sign_in/waits'

module Simpkv
  module Server
    # Makes an address wait that sends tokens which nobody knows, as {SignIn::Waits} does for passwords. A token that
    # was right from an address does not wait there: programs behind one address with the one that guesses go on. Counts
    # what becomes of tokens. Thread-safe.
    class TokenGuard
      # Tokens that are remembered, each for an address.
      REMEMBERED = 20_000
      private_constant :REMEMBERED

      # @return [Outcomes] of tokens in requests: `accepted`, `unknown`, `waiting`, `maker` (of whom it depends is not
      #   known any more), `plain` (without TLS), `error` (it could not be checked)
      attr_reader :outcomes

      # @param waits [SignIn::Waits]
      def initialize(waits = SignIn::Waits.new(what: 'unknown tokens'))
        @waits = waits
        @mutex = Mutex.new
        @right = {} # By a digest, the one that was used last is the last one.
        @outcomes = Outcomes.new(:accepted, :unknown, :waiting, :maker, :plain, :error)
      end

      # @param text [String] the token of a request
      # @param address [Object] what tells the client from others
      # @yieldreturn [Object, nil] what the token stands for; nil if it is not right
      # @return [Object, nil] it
      # @raise [SignIn::Waits::TooEarly] 429: the address has to wait
      def check(text, address)
        key = Digest::SHA256.digest("#{address}\0#{text}")
        wait(address) unless @mutex.synchronize { @right.delete(key) && (@right[key] = true) }
        found = yield
        found ? remember(key) : forget(key, address)
        found
      end

      private

      def wait(address)
        @waits.check(address)
      rescue SignIn::Waits::TooEarly
        @outcomes.count(:waiting)
        raise
      end

      def remember(key)
        @mutex.synchronize do
          @right[key] = true
          @right.shift if @right.length > REMEMBERED
        end
      end

      def forget(key, address)
        @mutex.synchronize { @right.delete(key) }
        @waits.wrong(address)
        @outcomes.count(:unknown)
      end
    end
  end
end
