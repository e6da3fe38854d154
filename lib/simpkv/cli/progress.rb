# frozen_string_literal: true

require 'simpkv/cli/output'

module Simpkv
  module Cli
    # Shows the progress of long work on standard error: a bar with rate and time left on a terminal, a line from time
    # to time elsewhere. Thread-safe.
    class Progress
      # Seconds between two lines.
      EVERY = 5
      FORMAT = '%%t |%%B| %%c of %%u, %d/s, %%e'
      private_constant :EVERY, :FORMAT

      # Shows the progress of the block's work.
      #
      # @param title [String] of the work, such as `storing`
      # @param total [Integer, nil] the number of keys, if it is known
      # @param noun [String] for something other than keys, in the singular
      # @yieldparam [Progress]
      # @return the value of the block
      def self.of(title, total = nil, noun = 'key')
        progress = new(title, total, noun)
        yield(progress).tap { progress.finish }
      rescue Exception # rubocop:disable Lint/RescueException -- re-raised
        progress&.stop
        raise
      end

      def initialize(title, total, noun = 'key', stream = $stderr)
        @title = title
        @total = total
        @noun = noun
        @stream = stream
        @lock = Mutex.new
        @done = 0
        @began = @said = Clock.now
        @bar = bar if stream.tty?
      end

      # @param number [Integer] of finished keys
      # @return [void]
      def advance(number = 1)
        @lock.synchronize do
          @done += number
          # A bar redrawn for each key would take longer than the key.
          next if Clock.now - @said < (@bar ? 0.1 : EVERY)

          @said = Clock.now
          @bar ? draw : @stream.puts(line)
        end
      end

      # @return [void]
      def finish
        return @stream.puts(line) unless @bar

        draw
        @bar.total ||= @done
        @bar.finish unless @bar.finished?
      end

      # Leaves the bar as it is.
      #
      # @return [void]
      def stop
        @bar&.stop
      end

      private

      def bar
        require 'ruby-progressbar'
        ProgressBar.create(title: @title, total: @total, output: @stream, format: format(FORMAT, 0),
                           unknown_progress_animation_steps: ['   '], throttle_rate: 0.1)
      rescue LoadError
        nil # In a checkout, and where packages of the distribution lack it: lines will do.
      end

      def draw
        @bar.total = @done if @total && @done > @total
        # The library counts the rate in whole seconds.
        @bar.format = format(FORMAT, rate)
        @bar.progress = @done
      end

      def seconds_left
        ((@total - @done) * (Clock.now - @began) / @done).ceil
      end

      # Keys a second.
      def rate
        (@done / [Clock.now - @began, 0.001].max).round
      end

      def line
        left = ", #{seconds_left} s left" if @total && @done.between?(1, @total - 1)
        done = @total ? "#{@done} of #{Output.count(@total, @noun)}" : Output.count(@done, @noun)
        "#{@title}: #{done}, #{rate}/s#{left}"
      end
    end
  end
end
