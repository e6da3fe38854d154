# frozen_string_literal: true

require 'securerandom'

module Simpkv
  class Estate
    # The saves of one subject that still run, as two members of a node's record: `saving` has the time of each by its
    # token, and `overtaken_by` the token of the last save that has ended before them. Thus the record differs from what
    # each of them has entered, and the compare-and-swap of each fails.
    class Saving
      # The number of seconds after which a save that has not ended counts as dead.
      SAVING_FOR = 300

      # @param certname [String]
      # @param done [String] what a run that saves keeps from being done, such as `removed`
      # @return [String] a message
      def self.conflict(certname, done)
        "'#{certname}' could not be #{done}: a run of it is saving, or has died while it saved: try again in " \
          "#{SAVING_FOR / 60} minutes"
      end

      # @param estate [Estate]
      # @param subject [String] for messages
      # @param prefix [String] of the names of the members
      def initialize(estate, subject, prefix)
        @estate = estate
        @subject = subject
        @saving = "#{prefix}saving"
        @overtaken_by = "#{prefix}overtaken_by"
      end

      # Calls the block again with the record as it is then, if others have changed it meanwhile.
      #
      # @param certname [String]
      # @param stored [Stored, nil] the record of the inventory
      # @yieldparam stored [Stored, nil] the record
      # @yieldparam token [String] of the save
      # @return [Object] what the block returns
      # @raise [ConflictError] others kept saving
      def repeat(certname, stored)
        token = SecureRandom.hex(8)
        first = true
        CompareAndSwap.repeat("the #{@subject} of '#{certname}' could not be saved: others keep changing them: " \
                              'try again') do
          stored = @estate.inventory.readable(certname) unless first
          first = false
          CompareAndSwap.attempt { yield(stored, token) }
        end
      end

      # @param record [Hash]
      # @return [Hash{String => String}] the times of the saves that may still be on their way, by their tokens
      def of(record)
        now = Time.now.utc
        span = (now - SAVING_FOR).iso8601..(now + SAVING_FOR).iso8601
        all(record).select { |_, time| span.cover?(time.to_s) }
      end

      # @param record [Hash]
      # @return [Hash{String => String}] as {#of}, with saves that have died
      def all(record)
        record[@saving] || {}
      end

      # @param record [Hash]
      # @return [Boolean] whether a save has ended before others that are on their way
      def overtaken?(record)
        record.key?(@overtaken_by)
      end

      # @param record [Hash]
      # @param token [String]
      # @return [Hash] the record with the token of a save
      def enter(record, token)
        record.merge(@saving => all(record).merge(token => Time.now.utc.iso8601))
      end

      # @param record [Hash]
      # @param token [String]
      # @param saves [Hash{String => String}] those of which the record keeps the tokens
      # @return [Array(Hash, Boolean)] the record without the token; whether it has those of others
      def leave(record, token, saves = of(record))
        others = saves.reject { |other, _| other == token }
        record = record.reject { |name, _| [@saving, @overtaken_by].include?(name) }
        record = record.merge(@saving => others, @overtaken_by => token) if others.any?
        [record, others.any?]
      end
    end
    private_constant :Saving
  end
end
