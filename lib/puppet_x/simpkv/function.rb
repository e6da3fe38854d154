# frozen_string_literal: true

# The base class of simpkv's Puppet functions: it finds the adapter of the catalog.
#
# The value of this file is the class.
Class.new(Puppet::Functions::InternalFunction) do
  # @param scope [Puppet::Parser::Scope]
  # @param operation [Symbol] see calls.rb
  # @param key [String, Array<String>, Hash{String => Object}] the key or folder, or the keys of many
  # @param options [Hash] of the call
  # @param arguments [Array] the others, such as value and metadata
  # @return [Object] the result of the function
  def simpkv(scope, operation, key, options, *arguments)
    adapter = adapter_of(scope) || load_adapter(scope, key)
    adapter.calls.run(self, scope, operation, key, options, arguments)
  end

  # Puppet's dispatcher checks the types of the arguments and of the result. For the usual arguments, this checks the
  # same in less time (docs/adr/0101), and calls the method `direct` of the function, if it has one.
  def call(scope, *arguments, &block)
    return super if block || !respond_to?(:direct) || !usual?(*arguments)

    direct(scope, *arguments)
  end

  # @param upper [Boolean] whether the key may have capital letters, which is unknown before options are merged
  # @raise [ArgumentError] the key is malformed
  def check_key(scope, key, upper = true) # rubocop:disable Style/OptionalBooleanParameter
    Simpkv::Native.key_check(key, upper)
  rescue Simpkv::Error
    call_puppet(scope, 'simpkv::support::key::validate', key, upper)
  end

  # @return [Object] the result of another Puppet function
  def call_puppet(scope, name, *arguments)
    internal_call_function(scope, name, arguments)
  end

  private

  # @return [Boolean] whether these are `String[1]` and, if given, `Hash`, as Puppet defines them
  def usual?(key = nil, options = {}, *others)
    others.empty? && key.is_a?(String) && !key.empty? && options.instance_of?(Hash)
  end

  # @return [Object, nil] the adapter of the catalog, or of the compiler if there is no catalog; nil before the first
  #   call
  def adapter_of(scope)
    return unless scope.is_a?(Puppet::Parser::Scope)

    compiler = scope.compiler
    holder = compiler.is_a?(Puppet::Parser::ScriptCompiler) ? compiler : compiler.catalog
    holder.simpkv if holder.respond_to?(:simpkv)
  end

  # Reports a malformed key before a module that cannot be loaded. Keys with capital letters wait for the options.
  def load_adapter(scope, key)
    call_puppet(scope, 'simpkv::support::native')
    Array(key.is_a?(Hash) ? key.keys : key).each { |each| check_key(scope, each) unless each.match?(/[A-Z]/) }
    call_puppet(scope, 'simpkv::support::load')
  end
end
