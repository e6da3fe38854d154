# frozen_string_literal: true

require 'simpkv/json_writer'

# Makes documents of values of Puppet's own types, in Puppet's own rich data, and such values of documents:
# docs/adr/0008-rich-data.md says how. An instance serves one document.
#
# The adapter evaluates this file, and takes the class from the variable. It has no name, so that every environment has
# its own.
rich_data_class = Class.new do # rubocop:disable Lint/UselessAssignment
  # Local variables, and methods that see them: a constant would be seen by other environments.
  types = Puppet::Pops::Types
  sensitive_class = types::PSensitiveType::Sensitive
  binary_class = types::PBinaryType::Binary
  # What becomes a string, unless all types are to be kept.
  others = [Symbol, Regexp, URI::Generic, SemanticPuppet::Version, SemanticPuppet::VersionRange,
            Puppet::Pops::Time::Timestamp, Puppet::Pops::Time::Timespan, types::PAnyType].freeze
  # The names in a document of all that may be kept. Types that are values themselves are not: Puppet generates classes
  # of what a document says of a type, and follows references (LocalRef) by calling methods that the document names.
  # Either runs the Ruby of who can write to the store.
  names = %w[Sensitive Binary Symbol Default Regexp URI SemVer SemVerRange Timestamp Timespan Hash].freeze
  converter = Class.new(Puppet::Pops::Serialization::ToDataConverter) do
    private

    # Puppet's own warns or fails, and quotes the value.
    def serialization_issue(*)
      raise TypeError
    end
  end

  # @param all [Boolean] whether everything comes back as what it is, Timestamp, Regexp, SemVer, hash keys and the like
  #   included; else these become strings, and only Sensitive and Binary are kept
  def initialize(all = false) # rubocop:disable Style/OptionalBooleanParameter -- the adapter hands on its own
    @all = all
    @needed = false
  end

  # @param value [Object]
  # @param metadata [Hash]
  # @return [String] the document: that of plain data, unless there is something in it that needs rich data
  # @raise [Simpkv::UnencodableError] for what cannot be stored; names the place, and nothing inside a Sensitive
  def encode(value, metadata)
    Simpkv::JsonWriter.located do
      value = within('value') { whole(value) }
      metadata = within('metadata') { prepared(metadata, 1) }
      return Simpkv::Codec.encode(value, metadata) unless @needed

      value = within('value') { stored_form(bytes_as_binary(value)) }
      metadata = within('metadata') { stored_form(metadata) }
    end
    Simpkv::Codec.encode(value, metadata, 'pcore')
  end

  # @param stored [Hash] `{ value:, metadata: }` as they stand in a document
  # @return [Hash] `{ value:, metadata: }`
  # @raise [Simpkv::MalformedError] when they are not rich data of the types that `encode` writes; quotes nothing
  def decode(stored)
    value = bytes_of(restored(stored[:value]))
    metadata = restored(stored[:metadata])
    raise TypeError unless metadata.is_a?(Hash)

    { value: value, metadata: metadata }
  rescue StandardError # Puppet's own quote.
    raise Simpkv::MalformedError, 'Failed to deserialize: not rich data that can be read', cause: nil
  end

  # @param value [Object] what `encode` takes or `decode` answers
  # @return [Object] for comparisons with `eql?`: without any Sensitive, and bytes as a Binary
  define_method(:bare) do |value|
    case value
    when sensitive_class then bare(value.unwrap)
    when Hash then value.transform_values { |member| bare(member) }
    when Array then value.map { |member| bare(member) }
    else bytes_as_binary(value)
    end
  end

  private

  def within(step, &block)
    Simpkv::JsonWriter.within(step, &block)
  end

  def refuse(why)
    raise Simpkv::JsonWriter::Refusal, why, cause: nil
  end

  # For a place that may not be named.
  def concealed(where)
    yield
  rescue Simpkv::JsonWriter::Refusal => e
    refuse("#{where}, #{e.message}")
  end

  # A Binary that is the whole value comes back as a String of bytes, whatever the envelope.
  define_method(:bytes_of) do |value|
    case value
    when binary_class then value.binary_buffer.dup
    else value
    end
  end

  # Such a String has no other form beside metadata that need rich data.
  define_method(:bytes_as_binary) do |value|
    next value unless value.is_a?(String) && !Simpkv::Codec.text?(value)

    binary_class.from_binary_string(value.b)
  end

  # The whole value may be a String of any bytes.
  def whole(value)
    value = bytes_of(value)
    case value
    when String then value
    else prepared(value, 1)
    end
  end

  # A copy of a value in which there is nothing that Puppet cannot convert. `depth` is that of the stored Array or Hash
  # around it.
  def prepared(value, depth)
    case value
    when Hash then prepared_hash(value, depth)
    when Array then prepared_array(value, depth + 1)
    else prepared_scalar(value, depth)
    end
  end

  define_method(:prepared_scalar) do |value, depth|
    case value
    when sensitive_class then sensitive(value, depth + 1)
    when binary_class then kept(value, depth)
    when types::PAnyType then Simpkv::JsonWriter.scalar(value.to_s)
    when *others then @all ? kept(value, depth) : Simpkv::JsonWriter.scalar(value.to_s)
    else Simpkv::JsonWriter.scalar(value)
    end
  end

  # Here and below without blocks, as JsonWriter does it, for the sake of JRuby's stack.
  def prepared_array(array, depth)
    Simpkv::JsonWriter.check_depth(depth)
    result = []
    result << prepared(array[result.length], depth) while result.length < array.length
    result
  rescue Simpkv::JsonWriter::Refusal => e
    result ? e.from(result.length) : raise
  end

  def prepared_hash(hash, depth)
    keys = hash.keys.map { |key| prepared_key(key, depth + 2) }
    depth += stored_as_list?(keys) ? 2 : 1
    Simpkv::JsonWriter.check_depth(depth)
    prepared_members(keys, hash.values, depth)
  end

  def prepared_members(keys, members, depth)
    result = {}
    while (done = result.length) < keys.length
      refuse('two keys have this name') if result.key?(keys[done])
      result[keys[done]] = prepared(members[done], depth)
    end
    result
  rescue Simpkv::JsonWriter::Refusal => e
    e.from(step(keys[done]))
  end

  # As Puppet does, which needs the one name for itself.
  def stored_as_list?(keys)
    keys.any? { |key| !key.is_a?(String) || key == '__ptype' }
  end

  define_method(:prepared_key) do |key, depth|
    rich = case key
           when String, types::PAnyType then false
           when sensitive_class, binary_class then true
           else @all
           end
    next rich_key(key, depth) if rich

    Simpkv::JsonWriter.name_of(others.any? { |type| type === key } ? key.to_s : key) # rubocop:disable Style/CaseEquality
  end

  def rich_key(key, depth)
    @needed = true
    concealed('in a key') { prepared(key, depth) }
  end

  # What names a key in a message.
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

  define_method(:sensitive) do |value, depth|
    @needed = true
    Simpkv::JsonWriter.check_depth(depth)
    inside = value.unwrap
    # What the option `sensitive` has wrapped.
    inside = bytes_as_binary(inside) if inside.is_a?(String) && inside.encoding == Encoding::BINARY
    sensitive_class.new(concealed('inside the Sensitive') { prepared(inside, depth) })
  end

  # What Puppet would change is refused: it loses the zeros in a Timespan's nanoseconds, for one.
  def kept(value, depth)
    @needed = true
    stored = stored_form(value)
    refuse("#{short_class(value)} does not come back as it is") unless comes_back?(value, stored)
    Simpkv::JsonWriter.check_depth(depth + nesting(stored))
    value
  end

  # Regexps that match the same may differ in their options.
  def comes_back?(value, stored)
    found = restored(Simpkv::Native.parse(Simpkv::Native.generate(stored)))
    found == value || (value.is_a?(Regexp) && found.to_s == value.to_s)
  rescue StandardError
    false
  end

  def nesting(data)
    case data
    when Hash then 1 + (data.values.map { |member| nesting(member) }.max || 0)
    when Array then 1 + (data.map { |member| nesting(member) }.max || 0)
    else 0
    end
  end

  # Without references inside the document: they come from the identity of objects, so that an equal value would make
  # another document.
  define_method(:stored_form) do |value|
    with_loaders { converter.convert(value, rich_data: true, local_reference: false) }
  rescue StandardError
    refuse("#{short_class(value)} has no form as data")
  end

  def restored(data)
    check_types(data)
    with_loaders { Puppet::Pops::Serialization::FromDataConverter.convert(data) }
  end

  def check_types(data)
    case data
    when Array then data.each { |member| check_types(member) }
    when Hash
      raise TypeError unless known?(data['__ptype'])

      data.each_value { |member| check_types(member) }
    end
  end

  # Who can write to the store can make no other object with it: a Deferred, say, which an agent would call.
  define_method(:known?) do |name|
    name.nil? || names.include?(name)
  end

  # Every compiler has loaders. Without them Puppet can restore next to nothing, and would bind the type of a data type
  # to a class that it makes up, for the rest of the process.
  def with_loaders(&block)
    return yield if Puppet.lookup(:loaders) { nil }

    loaders = Puppet::Pops::Loaders.new(Puppet.lookup(:current_environment))
    Puppet.override({ loaders: loaders }, 'rich data of simpkv', &block)
  end
end
