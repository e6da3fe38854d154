# frozen_string_literal: true

require 'puma'
require 'puma/launcher'

module Simpkv
  module Server
    # The signals SIGHUP and SIGUSR2, whose default action would end the process. One that arrives before the service is
    # ready is kept until then. SIGUSR1 has no meaning, and does nothing.
    class Signals
      NAMES = %w[HUP USR2].freeze
      UNUSED = 'USR1'
      private_constant :NAMES, :UNUSED

      # Puma installs handlers of its own for these signals, with which it would end, or restart without a look at the
      # configuration.
      class Launcher < Puma::Launcher
        # @return [Signals]
        attr_writer :signals

        private

        def setup_signals
          super
          @signals.install
        end
      end

      def initialize
        @early = []
        install
      end

      # @return [void]
      def install
        NAMES.each { |name| trap(name) { receive(name) } }
        trap(UNUSED, 'IGNORE')
      end

      # Obeys the signals that have arrived, and those that will.
      #
      # @param actions [Hash{String => #call}] by the name of the signal
      # @return [void]
      def obey(actions)
        @actions = actions
        @early.uniq.each { |name| receive(name) }
      end

      # Ignores the signals, also in the program that takes the place of this one, until it has handlers.
      #
      # @return [void]
      def ignore
        [*NAMES, UNUSED].each { |name| trap(name, 'IGNORE') }
      end

      private

      def receive(name)
        @actions ? Thread.new { @actions.fetch(name).call } : @early.push(name)
      end
    end
  end
end
