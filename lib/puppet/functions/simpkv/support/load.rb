# frozen_string_literal: true

# @summary Returns the adapter, the object between the functions and the backends
#
# Adds a method `simpkv` to the catalog, which returns the adapter. Without a catalog (`puppet script`, Bolt plans,
# Deferred), the compiler gets the method.
Puppet::Functions.create_function(:'simpkv::support::load', Puppet::Functions::InternalFunction) do
  # @return [Any] the adapter
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @example Load simpkv before its first use
  #   simpkv::support::load()
  dispatch :load_adapter do
    scope_param
  end

  def load_adapter(scope)
    holder = holder_of(scope)
    return holder.simpkv if holder.respond_to?(:simpkv)

    internal_call_function(scope, 'simpkv::support::native', [])
    # The path as Puppet knows it, links included: __dir__ would follow them, away from the modulepath.
    file = File.expand_path('../../../../puppet_x/simpkv/loader.rb', File.dirname(__FILE__))
    raise LoadError, "simpkv Internal Error: unable to load #{file}: File not found" unless File.exist?(file)

    read_into(holder, file)
    holder.simpkv
  end

  def holder_of(scope)
    unless scope.is_a?(Puppet::Parser::Scope)
      raise Puppet::Error, 'simpkv functions can only be called where there is a compiler: from a manifest, a plan ' \
                           'or Deferred'
    end

    compiler = scope.compiler
    compiler.is_a?(Puppet::Parser::ScriptCompiler) ? compiler : compiler.catalog
  end

  def read_into(holder, file)
    holder.instance_eval(File.read(file), file)
  rescue SyntaxError, StandardError => e
    raise LoadError, "simpkv Internal Error: unable to load #{file}: #{e.message}"
  end
end
