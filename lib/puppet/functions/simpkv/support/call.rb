# frozen_string_literal: true

# @summary What the functions of simpkv have in common
# @api private
Puppet::Functions.create_function(:'simpkv::support::call', Puppet::Functions::InternalFunction) do
  # @param operation Which function is called: its name without `simpkv::`. `find` and `create` are the steps of
  #   `get_or_create`.
  # @param key The key or folder, or what has the keys for many.
  # @param options The options of the call.
  # @param arguments What the adapter's method takes between key and options: value and metadata for `put`.
  # @return [Any] what the function returns
  # @raise ArgumentError when the key or the configuration is wrong
  # @raise LoadError when simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError when the backend fails, unless `softfail` is set
  # @example What simpkv::get does
  #   simpkv::support::call('get', 'app1/token', { 'softfail' => true })
  dispatch :perform do
    scope_param
    param 'Enum[compare_and_put, create, delete, deletetree, exists, find, get, get_many, list, put, put_many, tree]',
          :operation
    param 'Variant[String[1], Collection]', :key
    param 'Hash', :options
    repeated_param 'Any', :arguments
  end

  def perform(scope, operation, key, options, *arguments)
    adapter = adapter_for(scope, key)
    settings = settings(options)
    begin
      merged = adapter.merged_options[settings] || merge(scope, adapter, settings)
      each_key(key) { |each| check_merged(scope, adapter, each, merged) }
      reply = asked(scope, adapter, step(operation, options), key, arguments, merged)
    rescue Simpkv::ConfigError => e
      raise ArgumentError, "simpkv Configuration Error for #{description(operation, key)}: #{e.message}"
    end
    why = reply[:err_msg] || failures(operation, key, reply[:result], merged)
    return fail_softly(merged, "simpkv Error for #{description(operation, key)}: #{why}", operation) if why

    present(operation, reply[:result], merged, options)
  end

  # The options without a value, which nothing but this call is to know.
  def settings(options)
    options.key?('default') ? options.reject { |name, _| name == 'default' } : options
  end

  # The method of the adapter. With a default, that a key is missing is no failure.
  def step(operation, options)
    operation == 'get' && options.key?('default') ? 'find' : operation
  end

  # What the adapter says; of a write that is to be skipped, what it would say.
  def asked(scope, adapter, operation, key, arguments, merged)
    return adapter.public_send(operation, key, *arguments, merged) unless skipped?(scope, operation, merged)

    Puppet.notice("#{description(operation, key)} is not done: this node runs in noop, and 'noop_writes' is skip")
    adapter.rehearse(operation, key, *arguments, merged)
  end

  # Whether it is a write that is not to be done.
  def skipped?(scope, operation, merged)
    return false if merged['noop_writes'].nil? || Simpkv::Config.flag(merged, 'noop_writes') == 'write'
    return false unless operation.match?(/put|delete|create/)

    facts = scope['facts'] if scope.is_a?(Puppet::Parser::Scope) && scope.include?('facts')
    facts.is_a?(Hash) && facts['clientnoop'].to_s == 'true'
  end

  # Yields the key, or each of many.
  def each_key(key)
    return yield key if key.is_a?(String)

    key.each { |each, _| yield each } # rubocop:disable Style/HashEachMethods -- it may be an Array
  end

  # What is done, and with which keys: of many, a few are named.
  def description(operation, key)
    function = %w[find create].include?(operation) ? 'get_or_create' : operation
    if key.is_a?(String)
      return "simpkv::#{function} with #{operation =~ /list|tree/ ? 'keydir' : 'key'}='#{key}'"
    end

    names = key.first(3).map { |each, _| each }
    more = " and #{key.length - 3} more" if key.length > 3
    "simpkv::#{function} with keys='#{names.join("', '")}'#{more}"
  end

  # Checks the keys, and loads the adapter for the first call of a catalog. Capital letters pass until it is known which
  # backend the keys are for.
  def adapter_for(scope, key)
    adapter = loaded_adapter(scope)
    internal_call_function(scope, 'simpkv::support::native', []) unless adapter
    each_key(key) { |each| check_key(scope, each, true) }
    adapter || internal_call_function(scope, 'simpkv::support::load', [])
  end

  # The adapter of this catalog, or of the compiler where there is no catalog; nil before the first call.
  def loaded_adapter(scope)
    return unless scope.is_a?(Puppet::Parser::Scope)

    compiler = scope.compiler
    holder = compiler.is_a?(Puppet::Parser::ScriptCompiler) ? compiler : compiler.catalog
    holder.simpkv if holder.respond_to?(:simpkv)
  end

  def check_key(scope, key, upper)
    Simpkv::Native.key_check(key, upper)
  rescue Simpkv::Error
    internal_call_function(scope, 'simpkv::support::key::validate', [key, upper])
  end

  # What could not be told before it was known which backend the key is for: whether capital letters are allowed, and
  # whether there is room for the prefix.
  def check_merged(scope, adapter, key, merged)
    check_key(scope, key, Simpkv::Config.case_sensitive?(merged)) if key.match?(/[A-Z]/)
    adapter.normalize_key(key, merged) if key.bytesize > 3000
  rescue Simpkv::TooLargeError => e
    raise ArgumentError, e.message
  end

  # Merges once for each distinct set of options, and remembers it under a copy: the caller may change its own.
  def merge(scope, adapter, options)
    merged = internal_call_function(scope, 'simpkv::support::config::merge', [options, adapter.backends])
    adapter.merged_options[Simpkv::Config.copy(options)] = Simpkv::Config.frozen(merged)
  end

  def present(operation, result, merged, options)
    return default(options['default'], merged) if operation == 'get' && result == false

    case operation
    when 'get', 'create', 'find' then result && entry(result, merged)
    when 'list', 'tree', 'get_many', 'put_many' then collection(result, merged)
    else result
    end
  end

  def collection(result, merged)
    found = result.transform_keys(&:to_s)
    found['keys'] = entries(result[:keys], merged) if result.key?(:keys)
    found
  end

  # What simpkv::get answers for a key that there is not.
  def default(value, merged)
    value.nil? ? { 'value' => nil } : entry({ value: value, metadata: {} }, merged)
  end

  # Why some of many keys failed, unless their errors are to be returned.
  def failures(operation, key, result, merged)
    return unless %w[get_many put_many].include?(operation) && result[:errors].any?
    return if Simpkv::Config.flag(merged, 'errors') == 'return'

    errors = result[:errors]
    reasons = errors.first(10).map { |name, why| "'#{name}': #{why}" }
    reasons << "and #{errors.length - 10} more" if errors.length > 10
    "#{errors.length} of #{key.length} keys not #{operation == 'get_many' ? 'read' : 'stored'}: #{reasons.join('; ')}"
  end

  def entries(found, merged)
    found.transform_values { |each| entry(each, merged) }
  end

  # A name without its value stays that.
  def entry(found, merged)
    return found if found.empty?

    value = found[:value]
    value = sensitive(value) if merged['sensitive'] && Simpkv::Config.flag(merged, 'sensitive')
    found[:metadata].empty? ? { 'value' => value } : { 'value' => value, 'metadata' => found[:metadata] }
  end

  def sensitive(value)
    type = Puppet::Pops::Types::PSensitiveType::Sensitive
    value.is_a?(type) ? value : type.new(value)
  end

  def fail_softly(merged, message, operation)
    raise message unless merged['softfail']

    Puppet.warning(message)
    %w[compare_and_put delete deletetree put].include?(operation) ? false : nil
  end
end
