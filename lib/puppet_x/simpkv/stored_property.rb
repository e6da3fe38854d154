# frozen_string_literal: true

# A property of a simpkv_key: the value or the metadata. Puppet's own properties take an array for several values, and
# ignore a value of false.
#
# Puppet writes current and desired values to reports, to state.yaml and to transactionstore.yaml. A secret is in none
# of them: if the manifest's value or the stored one is or contains a Sensitive, messages say `[redacted]`, and the
# current value is nil for Puppet. The provider compares values with what is stored.
#
# The value of this file is the module.
Module.new do
  sensitive = Puppet::Pops::Types::PSensitiveType::Sensitive
  deferred = Puppet::Pops::Evaluator.const_get(:DeferredValue) if Puppet::Pops::Evaluator.const_defined?(:DeferredValue)

  # Takes true if the manifest has a Sensitive, which Puppet has unwrapped.
  def sensitive=(flag)
    @wrapped = flag
    @sensitive = flag
  end

  define_method(:should=) do |value|
    later = deferred && value.is_a?(deferred)
    later ? keep_sensitive(value) : validate(value)
    @given = value
    # The result of a Deferred may be a secret, also when Puppet does not say so.
    @sensitive = true if later || secret?(value)
    @should = [later ? value : shown(value)]
  end

  # @return [Object, nil] the value for messages and reports; never false, which Puppet takes for none
  def should
    return unless defined?(@should)

    @should.first == false ? :false : @should.first # rubocop:disable Lint/BooleanSymbol
  end

  # @return [Object] the value as functions store it. Metadata are a Hash, so of Sensitive metadata each member is
  #   Sensitive
  define_method(:desired) do
    value = plain(@given)
    unwrapped = value.is_a?(sensitive) ? value.unwrap : value
    next value unless @wrapped || value.is_a?(sensitive)

    name == :metadata && unwrapped.is_a?(Hash) ? unwrapped.transform_values { |each| wrap(each) } : wrap(unwrapped)
  end

  def retrieve
    stored = provider.stored
    return :absent unless stored

    value = stored.fetch(name)
    @sensitive = true if secret?(value) || unasked?
    @sensitive ? nil : shown(value)
  end

  def insync?(_current)
    provider.holds?(name, desired)
  end

  # Puppet asks if the value was changed since the last run.
  def insync_values?(should, current)
    [should].flatten(1) == [current].flatten(1)
  end

  def set(_value)
    provider.write
  end

  def is_to_s(value) # rubocop:disable Naming/PredicatePrefix -- Puppet's name
    value.nil? ? 'undef' : super
  end

  private

  define_method(:wrap) { |value| value.is_a?(sensitive) ? value : sensitive.new(value) }

  # Returns true for the values that `puppet resource` reads, in no catalog or in one without a name. Puppet would print
  # each password that an operator has stored without Sensitive.
  def unasked?
    name == :value && resource.catalog&.name.nil?
  end

  # Newer versions of Puppet unwrap the Sensitive that a function of a Deferred returns.
  def keep_sensitive(later)
    call = later.instance_variable_get(:@proc)
    later.define_singleton_method(:resolve) { call.call } if call.respond_to?(:call)
  end

  define_method(:secret?) do |value|
    case value
    when sensitive then true
    when Hash then value.any? { |key, member| secret?(key) || secret?(member) }
    when Array then value.any? { |member| secret?(member) }
    else false
    end
  end

  # A catalog may have this Symbol for an undef.
  def plain(value)
    case value
    when :undef then nil
    when Hash then value.to_h { |key, member| [key, plain(member)] }
    when Array then value.map { |member| plain(member) }
    else value
    end
  end

  # Copies a value for messages and for Puppet's files, which can hold nothing but data.
  def shown(value)
    case value
    when Hash then value.to_h { |key, member| [shown(key).to_s, shown(member)] }
    when Array then value.map { |member| shown(member) }
    when String then text(value)
    when Integer, Float, true, false, nil then value
    else value.to_s # of a Sensitive, too
    end
  end

  def text(string)
    text = string.encoding == Encoding::BINARY ? string : string.encode(Encoding::UTF_8)
    text.encoding == Encoding::BINARY || !text.valid_encoding? ? [string].pack('m0') : text
  rescue EncodingError
    [string].pack('m0')
  end
end
