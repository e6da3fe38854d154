# frozen_string_literal: true

require 'time'

module Simpkv
  module Audit
    # Who has changed a key, by the lines of an audit log. Where the lines leave a doubt, the result is nil.
    class Changes
      DONE = %w[written deleted].freeze
      # Errors after which nothing was written. After other errors, the write may have been done.
      REFUSALS = %w[IsFolderError IsKeyError InvalidError TooLargeError UnencodableError TypeError].freeze
      # The operations that store a value.
      STORES = %w[put put_many].freeze
      # The limits, in seconds, from the time in a document, which has no fractions, to the write of the document.
      EARLY = 0.1
      LATE = 1.25
      # The members of a line that tell who it was.
      MEMBERS = %w[time operation outcome identity user node pid].freeze
      private_constant :DONE, :REFUSALS, :STORES, :EARLY, :LATE, :MEMBERS

      class << self
        # @param line [Hash{String => Object}]
        # @return [Boolean] whether the operation has changed the key
        def done?(line)
          DONE.include?(line['outcome'])
        end

        # @param line [Hash{String => Object}]
        # @return [Boolean] whether the operation may have changed the key
        def in_doubt?(line)
          line['outcome'] == 'error' && !REFUSALS.include?(line['error'])
        end

        # @param line [Hash{String => Object}]
        # @return [Hash{String => Object}] the members of a line that tell who it was
        def who(line)
          line.slice(*MEMBERS)
        end
      end

      # @param lines [Array<Hash{String => Object}>] of {Trail}, the newest first
      def initialize(lines)
        @lines = lines
      end

      # Finds who has stored each version: the only line of a write that began when the version was made. A line that
      # fits two versions counts for neither.
      #
      # @param versions [Array<Hash{String => Object}>] of {Versions.log}
      # @return [Hash{Integer => Hash{String => Object}}] by version, {Changes.who} of its line
      def writers(versions)
        candidates = versions.to_h { |version| [version['version'], candidates(version['stored_at'])] }
        uses = candidates.values.flatten(1).each_with_object({}.compare_by_identity) do |line, count|
          count[line] = count.fetch(line, 0) + 1
        end
        sure = candidates.select { |_, lines| lines.one? && uses[lines.first] == 1 && self.class.done?(lines.first) }
        sure.transform_values { |lines| self.class.who(lines.first) }
      end

      private

      def candidates(stored_at)
        return [] if stored_at.nil?

        stored = Time.iso8601(stored_at)
        @lines.select do |line|
          STORES.include?(line['operation']) && (began = began(line)) && began.between?(stored - EARLY, stored + LATE)
        end
      rescue ArgumentError
        []
      end

      # @return [Time, nil] when the operation began
      def began(line)
        Time.iso8601(line['time']) - Rational(line['duration_us'].to_i, 1_000_000)
      rescue ArgumentError, TypeError
        nil
      end
    end
  end
end
