# frozen_string_literal: true

module Simpkv
  module Native
    # Calls the core for the FFI binding: converts arguments and replies, and raises the exceptions of the extension.
    module Calls
      # The status of a list that has no further page.
      END_OF_LIST = Library::HEADER.constant('SKV_END')

      class << self
        # Runs a call with a reply, and returns its :data or :number on request; with :optional, its data unless the
        # number is 0. With `many`, a failed call may have data, too.
        def reply(wanted = nil, many: false)
          uninterrupted do
            reply = Library.skv_reply_new
            raise NoMemoryError, 'simpkv: out of memory' if reply.null?

            begin
              yield reply
              outcome(reply, wanted, many: many)
            ensure
              Library.skv_reply_free(reply)
            end
          end
        end

        # Returns the same of the reply of a call that has ended.
        def outcome(reply, wanted, many: false)
          failure(reply) if failed?(reply, many)
          case wanted
          when :data then data(reply)
          when :number then Library.skv_reply_number(reply)
          when :optional then data(reply) unless Library.skv_reply_number(reply).zero?
          end
        end

        # Runs a call that makes a handle.
        # @return [FFI::AutoPointer] the handle, which the function `release` releases
        def handle(release)
          handle = nil
          reply { |r| handle = yield(r) }
          FFI::AutoPointer.new(handle, Library.method(release))
        end

        # Names the key or folder that errors of the block are about.
        def about(key)
          yield
        rescue Error => e
          raise e.about(key)
        end

        # Delays the exceptions of other threads while the block runs: raised between a call that makes a handle and its
        # assignment, they would leak the handle.
        def uninterrupted(&block)
          Thread.handle_interrupt(Object => :never, &block)
        end

        # Allows these exceptions again.
        def interruptible(&block)
          Thread.handle_interrupt(Object => :immediate, &block)
        end

        # Returns the two arguments for a String: its bytes, which no other thread can change, and their number.
        def bytes(object)
          string = String.try_convert(object)
          raise TypeError, "no implicit conversion of #{name_of(object)} into String" unless string

          string = string.dup.freeze unless string.frozen?
          [string, string.bytesize]
        end

        # Returns the texts, each followed by a NUL.
        # @raise [InvalidError] a text holds a NUL; `what` names it
        def packed(texts, what)
          texts.map do |text|
            bytes = bytes(text).first.b
            raise InvalidError, "#{what} holds a NUL byte" if bytes.include?("\0")

            bytes << "\0"
          end.join
        end

        def check(type, object)
          case object
          when type then nil
          else raise TypeError, "wrong argument type #{name_of(object)} (expected #{type})"
          end
        end

        # @return [Integer] the number for a Symbol
        def choice(name, choices, wanted)
          case wanted
          when *choices.keys then choices[wanted]
          else raise ArgumentError, "#{name} is #{choices.keys.map(&:inspect).join(' or ')}"
          end
        end

        private

        def failed?(reply, many)
          Library.skv_reply_status(reply) > END_OF_LIST && !(many && Library.skv_reply_size(reply).positive?)
        end

        def failure(reply)
          name = Library.skv_status_name(Library.skv_reply_status(reply))
          error = Error.for(name).new(Library.skv_reply_message(reply).force_encoding(Encoding::UTF_8))
          raise error.with_fault(Library.skv_reply_fault(reply))
        end

        def data(reply)
          size = Library.skv_reply_size(reply)
          Library.skv_reply_data(reply).read_string(size).force_encoding(Encoding::UTF_8)
        end

        # Returns the name that Ruby's messages give an object, even an object without methods.
        def name_of(object)
          case object
          when nil, true, false then object.inspect
          else Kernel.instance_method(:class).bind(object).call.to_s
          end
        end
      end
    end
    private_constant :Calls

    # An object that owns a handle of the core: read-only, so that any number of threads may use it at once.
    module Handle
      KEEPING = Mutex.new
      private_constant :KEEPING

      # Makes an object without a handle, as the extension does.
      def initialize_copy(_original)
        @handle = nil
      end

      private

      def hold(release, taken, &block)
        raise InvalidError, taken if @handle

        Calls.uninterrupted do
          made = Calls.handle(release, &block)
          # Another thread may have initialized the object meanwhile.
          KEEPING.synchronize do
            raise InvalidError, taken if @handle

            @handle = made
          end
        end
      end

      def with_handle(missing)
        handle = @handle
        raise InvalidError, missing unless handle

        begin
          yield handle
        ensure
          # This reference keeps the garbage collector from releasing the handle during the call.
          handle.address
        end
      end
    end
    private_constant :Handle
  end
end
