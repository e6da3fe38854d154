# frozen_string_literal: true

module Simpkv
  class Estate
    # When nodes were removed, by their names, so that what waits in a spool does not bring them back (docs/adr/0121):
    #
    #     { 'purged' => '2026-11-29T16:00:00.123Z' }
    class Purged < Documents
      MEMBER = 'purged'
      private_constant :MEMBER

      def initialize(estate)
        super(estate, 'purged')
      end

      # @param certname [String]
      # @return [String, nil] the time of the last removal; nil for a node that was not removed, or long ago
      # @raise [Error]
      def time(certname)
        get(certname)&.fetch(MEMBER)
      end

      # @param certname [String]
      # @param time [String] of RFC 3339 in UTC; a later one stays
      # @return [void]
      # @raise [Error]
      def enter(certname, time)
        update(certname) do |stored|
          { MEMBER => time } unless stored && Produced.order(stored[MEMBER]) > Produced.order(time)
        end
      end

      # Forgets the nodes that were removed before a time.
      #
      # @param limit [String] the time
      # @return [void]
      # @raise [Error]
      def forget(limit)
        old = all { |_key, _why| nil }.select { |_, value| Produced.order(value[MEMBER]) < Produced.order(limit) }
        old.each_key { |certname| delete(certname) }
      end

      private

      def valid?(value)
        value.is_a?(Hash) && Produced.time?(value[MEMBER])
      end
    end
  end
end
