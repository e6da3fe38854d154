# frozen_string_literal: true

require 'simpkv/native/json_writer'
require 'simpkv/document/rich_data/converter'

module Simpkv
  module RichData
    # Makes the documents of functions, of values of Puppet's types. An instance makes one document.
    class Encoder
      # Values of these types become strings, unless all types are kept.
      OTHERS = [Symbol, Regexp, URI::Generic, SemanticPuppet::Version, SemanticPuppet::VersionRange,
                Puppet::Pops::Time::Timestamp, Puppet::Pops::Time::Timespan, Puppet::Pops::Types::PAnyType].freeze

      # Their names in Puppet's language, except for types and for `default`, which is a Symbol.
      NAMES = { Regexp => 'Regexp', URI::Generic => 'URI', SemanticPuppet::Version => 'SemVer',
                SemanticPuppet::VersionRange => 'SemVerRange', Puppet::Pops::Time::Timestamp => 'Timestamp',
                Puppet::Pops::Time::Timespan => 'Timespan' }.freeze
      private_constant :OTHERS, :NAMES

      # @return [Array<String>] the types of the values that became strings
      attr_reader :texts

      # @param all [Boolean] whether all types are kept, such as Timestamp, Regexp, SemVer and hash keys; otherwise only
      #   Sensitive and Binary are kept, and the others become strings
      def initialize(all)
        @all = all
        @needed = false
        @texts = []
      end

      # @param value [Object]
      # @param metadata [Hash]
      # @return [String] the document, of plain data unless something in it needs rich data
      # @raise [UnencodableError] names the place of a value that cannot be stored, and nothing inside a Sensitive
      def encode(value, metadata)
        JsonWriter.located do
          value = JsonWriter.within('value') { whole(value) }
          metadata = JsonWriter.within('metadata') { prepared(metadata, 1) }
          return Codec.encode(value, metadata) unless @needed

          value = JsonWriter.within('value') { stored_form(Converter.bytes_as_binary(value)) }
          metadata = JsonWriter.within('metadata') { stored_form(metadata) }
        end
        Codec.encode(value, metadata, ENCODING)
      end

      private

      def refuse(why)
        raise JsonWriter::Refusal, why, cause: nil
      end

      # Names a place in a refusal, and hides the path inside it.
      def concealed(where)
        yield
      rescue JsonWriter::Refusal => e
        refuse("#{where}, #{e.message}")
      end

      # The whole value may be a String of any bytes.
      def whole(value)
        value = Converter.bytes_of(value)
        value.is_a?(String) ? value : prepared(value, 1)
      end

      # Copies a value, so that Puppet can convert everything in it. `depth` is that of the stored Array or Hash around
      # it.
      def prepared(value, depth)
        case value
        when Hash then prepared_hash(value, depth)
        when Array then prepared_array(value, depth + 1)
        else prepared_scalar(value, depth)
        end
      end

      def prepared_scalar(value, depth)
        case value
        when Converter::SENSITIVE then sensitive(value, depth + 1)
        when Converter::BINARY then kept(value, depth)
        when Puppet::Pops::Types::PAnyType then JsonWriter.scalar(value.to_s)
        when *OTHERS then @all ? kept(value, depth) : text(value)
        when Puppet::Pops::Types::PuppetObject then refuse("#{type_name(value)} is not plain data#{remedy(value)}")
        else JsonWriter.scalar(value)
        end
      end

      def text(value)
        @texts |= [NAMES.find { |type, _| value.is_a?(type) }&.last].compact
        JsonWriter.scalar(value.to_s)
      end

      # The class of a type that Puppet's language defines has no name.
      def type_name(object)
        object._pcore_type.name
      end

      def remedy(object)
        return unless type_name(object) == 'Deferred'

        ': its value is known on the agent only. To store that, call simpkv::put by a Deferred there'
      end

      # This method and the next two use no blocks, as in JsonWriter: on JRuby each block takes many frames of the
      # stack.
      def prepared_array(array, depth)
        JsonWriter.check_depth(depth)
        result = []
        result << prepared(array[result.length], depth) while result.length < array.length
        result
      rescue JsonWriter::Refusal => e
        result ? e.from(result.length) : raise
      end

      def prepared_hash(hash, depth)
        keys = hash.keys.map { |key| prepared_key(key, depth + 2) }
        depth += stored_as_list?(keys) ? 2 : 1
        JsonWriter.check_depth(depth)
        prepared_members(keys, hash.values, depth)
      end

      def prepared_members(keys, members, depth)
        result = {}
        while (done = result.length) < keys.length
          refuse('two keys have this name') if result.key?(keys[done])
          result[keys[done]] = prepared(members[done], depth)
        end
        result
      rescue JsonWriter::Refusal => e
        e.from(step(keys[done]))
      end

      # Puppet stores such a Hash as a list.
      def stored_as_list?(keys)
        keys.any? { |key| !key.is_a?(String) || key == TYPE }
      end

      def prepared_key(key, depth)
        rich = case key
               when String, Puppet::Pops::Types::PAnyType then false
               when Converter::SENSITIVE, Converter::BINARY then true
               when Puppet::Pops::Types::PuppetObject then refuse("a key is not plain data, but #{type_name(key)}")
               else @all
               end
        return rich_key(key, depth) if rich

        JsonWriter.name_of(OTHERS.any? { |type| type === key } ? text(key) : key) # rubocop:disable Style/CaseEquality
      end

      def rich_key(key, depth)
        @needed = true
        concealed('in a key') { prepared(key, depth) }
      end

      # The name of a key in a message.
      def step(key)
        case key
        when String, Integer then key
        when Float, Symbol, true, false, nil then key.to_s
        else short_class(key)
        end
      end

      def short_class(object)
        object.class.to_s.split('::').last
      end

      def sensitive(value, depth)
        @needed = true
        JsonWriter.check_depth(depth)
        inside = value.unwrap
        # The option `sensitive` wraps such Strings.
        inside = Converter.bytes_as_binary(inside) if inside.is_a?(String) && inside.encoding == Encoding::BINARY
        Converter::SENSITIVE.new(concealed('inside the Sensitive') { prepared(inside, depth) })
      end

      # Refuses a value that Puppet would change: it loses the zeros in a Timespan's nanoseconds, for instance.
      def kept(value, depth)
        @needed = true
        stored = stored_form(value)
        refuse("#{short_class(value)} does not come back as it is") unless comes_back?(value, stored)
        JsonWriter.check_depth(depth + nesting(stored))
        value
      end

      # Equal Regexps may differ in their options.
      def comes_back?(value, stored)
        back = Converter.load(Native.parse(Native.generate(stored)))
        back == value || (value.is_a?(Regexp) && back.to_s == value.to_s)
      rescue StandardError
        false
      end

      def nesting(data)
        members = data.is_a?(Hash) ? data.values : data
        members.is_a?(Array) ? 1 + (members.map { |member| nesting(member) }.max || 0) : 0
      end

      def stored_form(value)
        Converter.dump(value)
      rescue TypeError
        refuse("#{short_class(value)} has no form as data")
      end
    end
  end
end
