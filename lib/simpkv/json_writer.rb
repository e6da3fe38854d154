# frozen_string_literal: true

module Simpkv
  # Writes JSON: all of it for the FFI binding, and for the extension what its fast path declines: unusual keys and
  # encodings, and everything that has to be refused. The bytes are those of MRI's json on every Ruby.
  module JsonWriter
    # How deep Arrays and Hashes may be nested, the outermost counted: as in JSON.generate.
    DEPTH_MAX = 100

    # Bytes in a document: SKV_DATA_MAX of simpkv.h.
    SIZE_MAX = 1 << 30

    ESCAPES = (0...0x20).to_h { |code| [code.chr, format('\u%04x', code)] }.merge(
      '"' => '\"', '\\' => '\\\\', "\b" => '\b', "\f" => '\f', "\n" => '\n', "\r" => '\r', "\t" => '\t'
    ).freeze
    SPECIAL = /["\\\x00-\x1f]/.freeze
    private_constant :ESCAPES, :SPECIAL

    # Why something cannot be written; on its way out it gathers where that is. It does not leave {located}.
    class Refusal < StandardError
      # @return [Array<String, Integer>] the keys and indexes that lead there, from the outermost on
      attr_reader :path

      def initialize(why)
        super
        @path = []
      end

      # Raises it again, from where it has passed one more key or index.
      def from(step)
        @path.unshift(step)
        raise self
      end
    end

    class << self
      # @param object [nil, true, false, Integer, Float, String, Symbol, Array, Hash] plain data, through and through;
      #   keys may be String, Symbol, Integer, Float, true, false and nil
      # @return [String] JSON, in UTF-8
      # @raise [UnencodableError] it holds something else, NaN or an infinity, text without a UTF-8 form, keys that
      #   become the same name, or nests deeper than {DEPTH_MAX}; the message names the place, and no value
      # @raise [TooLargeError] the JSON is above {SIZE_MAX} bytes
      def generate(object)
        out = String.new(encoding: Encoding::UTF_8)
        located { write(out, object, 0) }
        raise TooLargeError, "the document is above #{SIZE_MAX} bytes" if out.bytesize > SIZE_MAX

        out
      end

      # What follows is also for those who make plain data of other objects, and refuse some, before they are written.

      # Runs a block that may refuse something.
      #
      # @raise [UnencodableError] instead of the {Refusal}; the message names the place
      def located
        yield
      rescue Refusal => e
        raise UnencodableError, "cannot encode #{place(e.path)}: #{e.message}", cause: nil
      end

      # Runs a block that is about what is at this key or index.
      def within(step)
        yield
      rescue Refusal => e
        e.from(step)
      end

      # @param depth [Integer] that of an Array or Hash, the outermost counted
      # @raise [Refusal] when it is too deep
      def check_depth(depth)
        raise Refusal, "nested deeper than #{DEPTH_MAX}" if depth > DEPTH_MAX
      end

      # @param object [Object] no Array or Hash
      # @return [String, Integer, Float, true, false, nil] what it is read back as
      # @raise [Refusal] it cannot be written
      def scalar(object)
        case object
        when String, Symbol then utf8(object.to_s)
        when Float then digits(object) && object
        when Integer, true, false, nil then object
        else refuse(object)
        end
      end

      # @param key [Object] of a Hash
      # @return [String] the name that is written for it
      # @raise [Refusal] it cannot be written
      def name_of(key)
        case key
        when String then utf8(key)
        when Float then digits(key)
        when Symbol, Integer, true, false, nil then utf8(key.to_s)
        else raise Refusal, "a key is not plain data, but #{class_name(key)}"
        end
      end

      private

      def write(out, object, depth)
        case object
        when String, Symbol then write_string(out, utf8(object.to_s))
        when Hash then write_hash(out, object, depth + 1)
        when Array then write_array(out, object, depth + 1)
        when Integer, true, false then out << object.to_s
        when Float then out << digits(object)
        when nil then out << 'null'
        else refuse(object)
        end
      end

      def refuse(object)
        raise Refusal, "#{class_name(object)} is not plain data"
      end

      def write_string(out, text)
        out << '"' << (text.match?(SPECIAL) ? text.gsub(SPECIAL, ESCAPES) : text) << '"'
      end

      # Here and below without blocks, each of which is many frames on JRuby: with them, what was nested 100 deep needed
      # the whole stack of a thread of the JVM.
      def write_array(out, array, depth)
        check_depth(depth)
        out << '['
        index = 0
        while index < array.length
          out << ',' unless index.zero?
          write(out, array[index], depth)
          index += 1
        end
        out << ']'
      rescue Refusal => e
        index ? e.from(index) : raise
      end

      def write_hash(out, hash, depth)
        check_depth(depth)
        names = {}
        members = hash.to_a
        out << '{'
        while names.length < members.length
          name = nil
          key, value = members[names.length]
          out << ',' unless names.empty?
          name = name_of(key)
          write_name(out, name, names)
          write(out, value, depth)
        end
        out << '}'
      rescue Refusal => e
        name ? e.from(name) : raise
      end

      def write_name(out, name, names)
        raise Refusal, 'two keys have this name' if names.key?(name)

        names[name] = true
        write_string(out, name)
        out << ':'
      end

      # The shortest digits are the core's affair: JRuby's are others.
      def digits(float)
        Native.format_double(float) || raise(Refusal, 'NaN and the infinities have no JSON')
      end

      def utf8(text)
        return text.encoding == Encoding::UTF_8 ? text : text.dup.force_encoding(Encoding::UTF_8) if text.ascii_only?
        raise Refusal, "text that is not valid #{text.encoding}" unless text.valid_encoding?
        return text if text.encoding == Encoding::UTF_8
        raise Refusal, 'binary data inside a value' if text.encoding == Encoding::BINARY

        text.encode(Encoding::UTF_8)
      rescue EncodingError
        raise Refusal, "text without a UTF-8 form, in #{text.encoding}", cause: nil
      end

      # Also of a BasicObject, which has no methods.
      def class_name(object)
        Kernel.instance_method(:class).bind(object).call.to_s
      end

      # As one would write it in a manifest: value['a'][3].
      def place(path)
        return 'this' if path.empty?

        first, *rest = path
        first = "[#{quote(first)}]" unless first.to_s.match?(/\A[a-z_]+\z/)
        rest = rest.map { |step| "[#{quote(step)}]" }
        rest = rest.first(5) + ['...'] + rest.last(5) if rest.size > 12
        first + rest.join
      end

      def quote(step)
        return step.to_s if step.is_a?(Integer)

        step = "#{step[0, 60]}..." if step.size > 64
        "'#{step.gsub(/[[:cntrl:]]/, '?').gsub(/['\\]/) { |c| "\\#{c}" }}'"
      end
    end
  end
end
