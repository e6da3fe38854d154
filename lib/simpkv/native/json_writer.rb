# frozen_string_literal: true

module Simpkv
  # Writes JSON: for the FFI binding all values, for the extension those that its fast path declines, such as unusual
  # keys and encodings, and invalid values. The bytes are those of MRI's json on every Ruby.
  module JsonWriter
    # The maximum depth of nested Arrays and Hashes, with the outermost: as in JSON.generate.
    DEPTH_MAX = 100

    # Bytes in a document: SKV_DATA_MAX of simpkv.h.
    SIZE_MAX = 1 << 30

    ESCAPES = (0...0x20).to_h { |code| [code.chr, format('\u%04x', code)] }.merge(
      '"' => '\"', '\\' => '\\\\', "\b" => '\b', "\f" => '\f', "\n" => '\n', "\r" => '\r', "\t" => '\t'
    ).freeze
    SPECIAL = /["\\\x00-\x1f]/.freeze
    private_constant :ESCAPES, :SPECIAL

    # The reason why a value cannot be written. On its way out it collects the path of the value. It never leaves
    # {located}.
    class Refusal < StandardError
      # @return [Array<String, Integer>] the keys and indexes that lead there, from the outermost on
      attr_reader :path

      def initialize(why)
        super
        @path = []
      end

      # Raises it again, with one more key or index at the start of the path.
      def from(step)
        @path.unshift(step)
        raise self
      end
    end

    class << self
      # @param object [nil, true, false, Integer, Float, String, Symbol, Array, Hash] plain data, at every depth;
      #   keys may be String, Symbol, Integer, Float, true, false and nil
      # @return [String] JSON, in UTF-8
      # @raise [UnencodableError] it contains another object, NaN or an infinity, text without a UTF-8 form, keys that
      #   become the same name, or nests deeper than {DEPTH_MAX}; the message names the place, and no value
      # @raise [TooLargeError] the JSON is above {SIZE_MAX} bytes
      def generate(object)
        out = String.new(encoding: Encoding::UTF_8)
        located { write(out, object, 0) }
        raise TooLargeError, "the document is above #{SIZE_MAX} bytes" if out.bytesize > SIZE_MAX

        out
      end

      # The methods below are also for code that converts other objects to plain data before they are written.

      # Runs a block that may refuse something.
      #
      # @raise [UnencodableError] instead of the {Refusal}; the message names the place
      def located
        yield
      rescue Refusal => e
        raise UnencodableError, "cannot encode #{place(e.path)}: #{e.message}", cause: nil
      end

      # Runs a block that works on the value at this key or index.
      def within(step)
        yield
      rescue Refusal => e
        e.from(step)
      end

      # @param depth [Integer] of an Array or Hash; the outermost has 1
      # @raise [Refusal] it is too deep
      def check_depth(depth)
        raise Refusal, "nested deeper than #{DEPTH_MAX}" if depth > DEPTH_MAX
      end

      # @param object [Object] no Array or Hash
      # @return [String, Integer, Float, true, false, nil] the object that a reader gets
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

      # This method and the next use no blocks: on JRuby each takes many frames, and values of depth 100 needed the
      # whole stack of a JVM thread.
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

      # The core makes the shortest digits, because JRuby's differ.
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

      # Works for a BasicObject, too, which has no methods.
      def class_name(object)
        Kernel.instance_method(:class).bind(object).call.to_s
      end

      # Returns the path in the syntax of manifests: value['a'][3].
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
