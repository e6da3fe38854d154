# frozen_string_literal: true

# Converts values of Puppet's types to documents of Puppet's rich data, and back (docs/adr/0008-rich-data.md). An
# instance serves one document.
rich_data_class = Class.new do # rubocop:disable Lint/UselessAssignment
  # Local variables, and blocks that see them: a constant would be visible in other environments.
  types = Puppet::Pops::Types
  sensitive_class = types::PSensitiveType::Sensitive
  binary_class = types::PBinaryType::Binary
  # Values of these types become strings, unless `all` is set.
  others = [Symbol, Regexp, URI::Generic, SemanticPuppet::Version, SemanticPuppet::VersionRange,
            Puppet::Pops::Time::Timestamp, Puppet::Pops::Time::Timespan, types::PAnyType].freeze
  # The types that a document may name. Types as values are not among them, nor are references (LocalRef): Puppet
  # generates classes from the former, and calls methods that the latter name. With either, a client that can write to
  # the store could run Ruby code.
  names = %w[Sensitive Binary Symbol Default Regexp URI SemVer SemVerRange Timestamp Timespan Hash].freeze
  converter = Class.new(Puppet::Pops::Serialization::ToDataConverter) do
    private

    # Puppet's own method quotes the value.
    def serialization_issue(*)
      raise TypeError
    end
  end

  # @param all [Boolean] whether all types are kept, such as Timestamp, Regexp, SemVer and hash keys; otherwise only
  #   Sensitive and Binary are kept, and the others become strings
  def initialize(all = false) # rubocop:disable Style/OptionalBooleanParameter -- the adapter hands on its own
    @all = all
    @needed = false
  end

  # @param value [Object]
  # @param metadata [Hash]
  # @return [String] the document, of plain data unless something in it needs rich data
  # @raise [Simpkv::UnencodableError] names the place of a value that cannot be stored, and nothing inside a Sensitive
  def encode(value, metadata)
    Simpkv::JsonWriter.located do
      value = Simpkv::JsonWriter.within('value') { whole(value) }
      metadata = Simpkv::JsonWriter.within('metadata') { prepared(metadata, 1) }
      return Simpkv::Codec.encode(value, metadata) unless @needed

      value = Simpkv::JsonWriter.within('value') { stored_form(bytes_as_binary(value)) }
      metadata = Simpkv::JsonWriter.within('metadata') { stored_form(metadata) }
    end
    Simpkv::Codec.encode(value, metadata, 'pcore')
  end

  # @param stored [Hash] `{ value:, metadata: }` of a document
  # @return [Hash] `{ value:, metadata: }`
  # @raise [Simpkv::MalformedError] they are not rich data of the types that `encode` writes; quotes nothing
  def decode(stored)
    value = bytes_of(restored(stored[:value]))
    metadata = restored(stored[:metadata])
    raise TypeError unless metadata.is_a?(Hash)

    { value: value, metadata: metadata }
  rescue StandardError # Puppet's own messages quote the value.
    raise Simpkv::MalformedError, 'Failed to deserialize: not rich data that can be read', cause: nil
  end

  # @param value [Object] one that `encode` takes, or that `decode` returns
  # @return [Object] the value for comparisons with `eql?`: without any Sensitive, and bytes as a Binary
  define_method(:bare) do |value|
    case value
    when sensitive_class then bare(value.unwrap)
    when Hash then value.transform_values { |member| bare(member) }
    when Array then value.map { |member| bare(member) }
    else bytes_as_binary(value)
    end
  end

  private

  def refuse(why)
    raise Simpkv::JsonWriter::Refusal, why, cause: nil
  end

  # Refuses without the path inside a place that may not be named.
  def concealed(where)
    yield
  rescue Simpkv::JsonWriter::Refusal => e
    refuse("#{where}, #{e.message}")
  end

  # A Binary that is the whole value comes back as a String of bytes, whatever the envelope.
  define_method(:bytes_of) do |value|
    value.is_a?(binary_class) ? value.binary_buffer.dup : value
  end

  # Beside metadata that need rich data, such a String has no other form.
  define_method(:bytes_as_binary) do |value|
    next value unless value.is_a?(String) && !Simpkv::Codec.text?(value)

    binary_class.from_binary_string(value.b)
  end

  # The whole value may be a String of any bytes.
  def whole(value)
    value = bytes_of(value)
    value.is_a?(String) ? value : prepared(value, 1)
  end

  # Copies a value, so that Puppet can convert everything in it. `depth` is that of the stored Array or Hash around it.
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

  # This method and the next two use no blocks, as in JsonWriter: on JRuby each block takes many frames of the stack.
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

  # Puppet stores such a Hash as a list. It needs the name '__ptype' for itself.
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

  define_method(:sensitive) do |value, depth|
    @needed = true
    Simpkv::JsonWriter.check_depth(depth)
    inside = value.unwrap
    # The option `sensitive` wraps such Strings.
    inside = bytes_as_binary(inside) if inside.is_a?(String) && inside.encoding == Encoding::BINARY
    sensitive_class.new(concealed('inside the Sensitive') { prepared(inside, depth) })
  end

  # Refuses a value that Puppet would change: it loses the zeros in a Timespan's nanoseconds, for instance.
  def kept(value, depth)
    @needed = true
    stored = stored_form(value)
    refuse("#{short_class(value)} does not come back as it is") unless comes_back?(value, stored)
    Simpkv::JsonWriter.check_depth(depth + nesting(stored))
    value
  end

  # Equal Regexps may differ in their options.
  def comes_back?(value, stored)
    back = restored(Simpkv::Native.parse(Simpkv::Native.generate(stored)))
    back == value || (value.is_a?(Regexp) && back.to_s == value.to_s)
  rescue StandardError
    false
  end

  def nesting(data)
    members = data.is_a?(Hash) ? data.values : data
    members.is_a?(Array) ? 1 + (members.map { |member| nesting(member) }.max || 0) : 0
  end

  # Converts without references inside the document: these depend on the identity of objects, so equal values would have
  # different documents.
  define_method(:stored_form) do |value|
    with_loaders { converter.convert(value, rich_data: true, local_reference: false) }
  rescue StandardError
    refuse("#{short_class(value)} has no form as data")
  end

  def restored(data)
    check_types(data)
    with_loaders { Puppet::Pops::Serialization::FromDataConverter.convert(data) }
  end

  # A document with other types could make other objects, such as a Deferred, which an agent would call.
  define_method(:check_types) do |data|
    case data
    when Array then data.each { |member| check_types(member) }
    when Hash
      raise TypeError unless data['__ptype'].nil? || names.include?(data['__ptype'])

      data.each_value { |member| check_types(member) }
    end
  end

  # Every compiler has loaders. Without them Puppet can restore few types, and would bind a data type to a class that it
  # generates, for the rest of the process.
  def with_loaders(&block)
    return yield if Puppet.lookup(:loaders) { nil }

    loaders = Puppet::Pops::Loaders.new(Puppet.lookup(:current_environment))
    Puppet.override({ loaders: loaders }, 'rich data of simpkv', &block)
  end
end
