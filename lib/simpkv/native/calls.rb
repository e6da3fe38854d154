# frozen_string_literal: true

module Simpkv
  module Native
    # How the FFI binding calls the core: arguments, replies, exceptions as the extension has them.
    module Calls
      class << self
        # Runs a call with a reply, and answers what it asks of it (:data, :number, or both as an Array). A call on many
        # records has data even if it failed.
        def reply(*wanted, many: false)
          uninterrupted do
            reply = Library.skv_reply_new
            raise NoMemoryError, 'simpkv: out of memory' if reply.null?

            begin
              yield reply
              failure(reply) if failed?(reply, many)
              found = wanted.map { |what| what == :data ? data(reply) : Library.skv_reply_number(reply) }
              found.length > 1 ? found : found.first
            ensure
              Library.skv_reply_free(reply)
            end
          end
        end

        # Runs a block in which other threads' exceptions wait: between a call that has made something and the place
        # where that is kept, they would lose it.
        def uninterrupted(&block)
          Thread.handle_interrupt(Object => :never, &block)
        end

        # Lets them in.
        def interruptible(&block)
          Thread.handle_interrupt(Object => :immediate, &block)
        end

        # The arguments that stand for a String: its bytes, which no other thread can change meanwhile, and how many.
        def bytes(object)
          string = String.try_convert(object)
          raise TypeError, "no implicit conversion of #{name_of(object)} into String" unless string

          string = string.dup.freeze unless string.frozen?
          [string, string.bytesize]
        end

        # Texts in a row, each followed by a NUL, which none may hold.
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
          raise Error.for(name), Library.skv_reply_message(reply).force_encoding(Encoding::UTF_8)
        end

        def data(reply)
          size = Library.skv_reply_size(reply)
          Library.skv_reply_data(reply).read_string(size).force_encoding(Encoding::UTF_8)
        end

        # As Ruby's own messages have it, also of an object without methods.
        def name_of(object)
          case object
          when nil, true, false then object.inspect
          else Kernel.instance_method(:class).bind(object).call.to_s
          end
        end
      end
    end
    private_constant :Calls
  end
end
