# frozen_string_literal: true

module Simpkv
  module Native
    # A place for what a call of simpkv_answer.h returns. Each fiber keeps one.
    class Answer
      WIPED = ("\0" * Library::HEADER.constant('SKV_ANSWER_MAX')).freeze
      private_constant :WIPED

      # Takes that of this fiber. A signal handler, which may make a call meanwhile, makes another one; after an
      # interrupt, the garbage collector frees it.
      def self.take
        answer = Thread.current[:simpkv_answer] || new
        Thread.current[:simpkv_answer] = nil
        answer
      end

      def initialize
        Calls.uninterrupted do
          answer = Library.skv_answer_new
          raise NoMemoryError, 'simpkv: out of memory' if answer.null?

          @answer = FFI::AutoPointer.new(answer, Library.method(:skv_answer_free))
        end
      end

      # @return [Hash, String, nil] see {Simpkv::Store#get_decoded}
      def get(store, folder, key, upper, timeout_ms)
        request = [timeout_ms, upper ? UPPER : 0, folder.bytesize].pack('qLL') << folder.b << Calls.bytes(key).first.b
        size = Library.skv_answer_get(store, request, request.bytesize, @answer)
        return loaded(size) unless size.zero?

        path = Native.path_below(folder, key, upper)
        path ? Calls.about(path) { unanswered } : keep
      end

      # @return [Hash, nil] see {Codec.decode}; nil if it takes more steps
      def document(bytes, size)
        size = Library.skv_answer_document(bytes, size, @answer)
        size.zero? ? keep : loaded(size)
      end

      private

      # The core has made the bytes: no document makes other objects of them than JSON.parse does (docs/adr/0139). An
      # idle thread keeps no value.
      def loaded(size)
        bytes = @answer.get_bytes(0, size.abs)
        @answer.put_bytes(0, WIPED, 0, size.abs)
        keep
        size.positive? ? Marshal.load(bytes) : bytes.force_encoding(Encoding::UTF_8) # rubocop:disable Security/MarshalLoad
      end

      # Returns the data of the reply, which are large, or raises. The fiber does not keep them. On MRI, an exception of
      # another thread within AutoPointer#free would have the garbage collector free the answer again.
      def unanswered
        Calls.uninterrupted do
          Calls.outcome(Library.skv_answer_reply(@answer), :data)
        ensure
          @answer.free
        end
      end

      def keep
        Thread.current[:simpkv_answer] = self
        nil
      end
    end
    private_constant :Answer
  end
end
