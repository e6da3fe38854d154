# frozen_string_literal: true

module Simpkv
  module Server
    # Delivers what runs have left in the spool of this machine, in the background: see {Estate::Spool}.
    class SpoolDelivery
      # Seconds between two deliveries.
      PERIOD = 5
      # The part of the reason that differs each time.
      REST = / \(tried again in \d+ ms\)/.freeze
      private_constant :PERIOD, :REST

      # @param site [Site]
      # @param owner [Caller] in whose name the service writes
      # @param log [Log]
      def initialize(site, owner, log)
        @site = site
        @owner = owner
        @log = log
      end

      # Starts the thread. No error ends it.
      #
      # @return [Thread]
      def start
        Thread.new do
          loop do
            deliver
            sleep(PERIOD)
          end
        end
      end

      # Delivers once. Logs what it has done, and each reason why it cannot.
      #
      # @return [void]
      def deliver
        delivery = @site.estate(@owner).spool&.deliver or return

        report(delivery)
      rescue Error, ConfigError => e
        tell(e.message)
      rescue StandardError => e
        tell(e.class.name) # Its message may have a value.
      end

      private

      def report(delivery)
        stored, overtaken = delivery.to_a.first(2)
        @log.call("the spool: #{stored} stored, #{overtaken} left out") if (stored + overtaken).positive?
        why = delivery.ended_by&.message || delivery.errors.values.first
        why ? tell(why) : @told = nil
      end

      # Tells each reason once.
      def tell(why)
        why = why.gsub(REST, '')
        @log.call("the spool cannot be delivered: #{why}") unless why == @told
        @told = why
      end
    end
  end
end
