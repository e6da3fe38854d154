# frozen_string_literal: true

require 'simpkv/server/connection'

module Simpkv
  module Server
    # Starts the service anew, in the same process and with the same sockets, so that no client loses a request. A
    # client that keeps its connection is told with its next response that the connection ends. New connections are
    # served meanwhile, and at the end wait for the new program.
    class Restart
      # Seconds until idle connections have ended, each of them at its own time: see {Service}.
      IDLE = 25
      private_constant :IDLE

      # @param launcher [Puma::Launcher]
      # @param connections [Connections]
      # @param watches [Watches]
      # @param signals [Signals]
      # @param log [Log]
      def initialize(launcher, connections, watches, signals, log)
        @launcher = launcher
        @connections = connections
        @watches = watches
        @signals = signals
        @log = log
        @mutex = Mutex.new
      end

      # Tells Puma what to do before the new program starts.
      #
      # @yield ends what the service has started, and would be left over
      # @return [void]
      def prepare(&stop)
        @launcher.events.after_stopped { @stopped = true }
        @launcher.events.before_restart do
          stop.call
          stop_instead if @stopped
          @signals.ignore
        end
      end

      # @yield checks the configuration of the new program
      # @return [void]
      # @raise [Error, ConfigError, SystemCallError] of the block: nothing has changed
      def perform
        @mutex.synchronize do
          next if @connections.retiring?

          yield
          @log.call('the service starts anew as soon as its connections have ended')
          @connections.retire(IDLE)
          @launcher.binder.ios.each(&:shut)
          @watches.stop # Their clients connect again, to the new program.
          @connections.drain(Connection::PAUSE)
          @launcher.restart
        end
      end

      private

      # SIGTERM has arrived while the service ends for the new program.
      def stop_instead
        @launcher.close_binder_listeners
        exit
      end
    end
  end
end
