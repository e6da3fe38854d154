# frozen_string_literal: true

# @summary What the functions of simpkv have in common
# @api private
Puppet::Functions.create_function(:'simpkv::support::call', Puppet::Functions::InternalFunction) do
  # @param operation Which function is called: its name without `simpkv::`.
  # @param key The key or folder.
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
    param 'Enum[delete, deletetree, exists, get, list, put]', :operation
    param 'String[1]', :key
    param 'Hash', :options
    repeated_param 'Any', :arguments
  end

  def perform(scope, operation, key, options, *arguments)
    adapter = adapter_for(scope, key)
    where = "simpkv::#{operation} with #{operation =~ /list|tree/ ? 'keydir' : 'key'}='#{key}'"
    begin
      merged = adapter.merged_options[options] || merge(scope, adapter, options)
      check_merged(scope, adapter, key, merged)
      reply = adapter.public_send(operation, key, *arguments, merged)
    rescue Simpkv::ConfigError => e
      raise ArgumentError, "simpkv Configuration Error for #{where}: #{e.message}"
    end
    return present(operation, reply[:result]) if reply[:err_msg].nil?

    fail_softly(merged, "simpkv Error for #{where}: #{reply[:err_msg]}", operation)
  end

  # Checks the key, and loads the adapter for the first call of a catalog. Capital letters pass until it is known which
  # backend the key is for.
  def adapter_for(scope, key)
    adapter = loaded_adapter(scope)
    internal_call_function(scope, 'simpkv::support::native', []) unless adapter
    check_key(scope, key, true)
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

  def present(operation, result)
    case operation
    when 'get'
      entry(result)
    when 'list'
      { 'keys' => result[:keys].transform_values { |found| entry(found) }, 'folders' => result[:folders] }
    else
      result
    end
  end

  def entry(found)
    return { 'value' => found[:value] } if found[:metadata].empty?

    { 'value' => found[:value], 'metadata' => found[:metadata] }
  end

  def fail_softly(merged, message, operation)
    raise message unless merged['softfail']

    Puppet.warning(message)
    operation =~ /put|delete/ ? false : nil
  end
end
