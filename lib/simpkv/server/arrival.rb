# frozen_string_literal: true

require 'puma/client'

module Simpkv
  module Server # rubocop:disable Style/Documentation -- in server.rb
    # Ends requests that arrive slowly. Puma gives each part of a request {SECONDS}, so that a client which sends a byte
    # now and then would keep its connection forever. With this module, the whole request has that time.
    module Arrival
      SECONDS = 30

      # Puma calls this between two requests of a connection.
      def reset
        super
        @arrival_ends = nil
      end

      # Puma calls this with {SECONDS} after each part of a request, and with another time for an idle connection.
      def set_timeout(seconds) # rubocop:disable Naming/AccessorMethodName -- a method of Puma
        return super unless seconds == SECONDS

        now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        @arrival_ends ||= now + seconds
        super(@arrival_ends - now)
      end
    end

    Puma::Client.prepend(Arrival)
  end
end
