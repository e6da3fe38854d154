# frozen_string_literal: true

module Simpkv
  class Estate
    # The result of a block that takes long. A process calls the block at most once a minute. While one thread calls it,
    # the others get the last result.
    class Recent
      # The number of seconds for which the block is not called again.
      SECONDS = 60

      # The result, and the time until which it counts.
      Known = Struct.new(:value, :until)
      private_constant :SECONDS, :Known

      def initialize(&find)
        @find = find
        @mutex = Mutex.new
      end

      # @return [Object]
      # @raise [Error] what the block raises
      def value
        known = @known
        return known.value if known && (known.until > Clock.now || @mutex.locked?)

        @mutex.synchronize do
          @known = Known.new(@find.call, Clock.now + SECONDS) unless @known && @known.until > Clock.now
          @known.value
        end
      end
    end
    private_constant :Recent
  end
end
