# frozen_string_literal: true

# @summary Finds stored values for lookups of Hiera
#
# A backend of Hiera 5, for hiera.yaml: `lookup_key: simpkv::lookup_key`. Manifests do not call it.
#
# It does not use `simpkv::options`, because Hiera itself may have to look it up, and never finds keys that begin with
# `simpkv::`. Each catalog reads a folder once, however many keys it looks up there.
Puppet::Functions.create_function(:'simpkv::lookup_key', Puppet::Functions::InternalFunction) do
  # @param key
  #   The key to look up, such as `profile::db::password`.
  # @param options
  #   The options of the level of hiera.yaml: docs/configuration.md has a table of them.
  # @param context
  #   Hiera's context.
  # @return [Any] the stored value
  # @raise ArgumentError if the options are invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise LookupError if the backend fails, unless `softfail` is set, or if the stored document cannot be read
  # @example In hiera.yaml
  #   hierarchy:
  #     - name: stored
  #       lookup_key: simpkv::lookup_key
  #       options:
  #         folder: hiera/common
  #         confine_to_keys: ['^profile::']
  dispatch :lookup_key do
    scope_param
    param 'String[1]', :key
    param 'Hash[String[1], Any]', :options
    param 'Puppet::LookupContext', :context
  end

  def lookup_key(scope, key, options, context)
    absent(context, "not asked for '#{key}': simpkv finds no keys of its own") if key.match?(/\A(::)?simpkv(::|\z)/)
    adapter = internal_call_function(scope, 'simpkv::support::load', [])
    begin
      level = context.cached_value(nil) || context.cache(nil, adapter.hiera_level(options, compiling(scope)))
      present, value, explanation = level.find(key)
    rescue Simpkv::ConfigError => e
      raise ArgumentError, "simpkv Configuration Error for simpkv::lookup_key: #{e.message}"
    rescue RuntimeError => e
      failed(adapter, level, key, e.message, context)
    end
    absent(context, explanation) unless present
    context.explain { explanation }
    value
  end

  def compiling(scope)
    scope.compiler.environment.name.to_s
  end

  # Tells Hiera that the key is missing. Does not return.
  def absent(context, explanation)
    context.explain { explanation }
    context.not_found
  end

  def failed(adapter, level, key, why, context)
    what = 'simpkv Error for simpkv::lookup_key'
    where = "in folder '#{level.folder}'"
    raise Puppet::DataBinding::LookupError, "#{what} with key='#{key}' #{where}: #{why}" unless level.softfail?

    adapter.warn_of(["#{what} #{where}: #{why}"])
    absent(context, "asked simpkv backend #{level.backend} #{where}, which failed: #{why}")
  end
end
