# frozen_string_literal: true

# The methods of a plugin over a Simpkv::Store, for the plugins of the types file and ldap. Their `configure` opens the
# store. The adapter calls the store itself; these methods are for code that calls a plugin. plugin_template.rb
# describes them.
#
# The value of this file is the module: a plugin evaluates the file and includes the module.
Module.new do
  # @return [String] `<type>/<id>`
  attr_reader :name

  # @return [Simpkv::Store, nil] the store, once it is configured
  attr_reader :simpkv_store

  def initialize(name)
    @name = name
  end

  # @param error [Simpkv::Error] of the store
  # @return [String] its text, to which a plugin may add advice
  def explain(error)
    error.message
  end

  def delete(key)
    attempt(:delete, false) { |store| store.delete(key) || true }
  end

  def deletetree(keydir)
    attempt(:deletetree, false) { |store| store.deletetree(keydir) || true }
  end

  def exists(key)
    attempt(:exists, nil) { |store| store.exist?(key) }
  end

  def get(key)
    attempt(:get, nil) { |store| store.get(key) }
  end

  def list(keydir, &block)
    attempt(:list, nil) { |store| store.list(keydir, partial: false, &block) }
  end

  def list_partial(keydir, &block)
    attempt(:list, nil) { |store| store.list(keydir, &block) }
  end

  def list_present(keydir, &block)
    attempt(:list, nil) { |store| if_found { store.list(keydir, &block) } }
  end

  def tree(keydir, values = true, &block) # rubocop:disable Style/OptionalBooleanParameter -- as plugins take theirs
    attempt(:tree, nil) { |store| store.tree(keydir, values: values, &block) }
  end

  def tree_present(keydir, values = true, &block) # rubocop:disable Style/OptionalBooleanParameter -- as above
    attempt(:tree, nil) { |store| if_found { store.tree(keydir, values: values, &block) } }
  end

  def put(key, document)
    attempt(:put, false) { |store| store.put(key, document) || true }
  end

  def fetch(key)
    attempt(:fetch, nil) { |store| store.get(key, required: false) || false }
  end

  def fetch_latest(key)
    attempt(:fetch_latest, nil) { |store| store.get(key, latest: true, required: false) || false }
  end

  def put_new(key, document)
    attempt(:put_new, nil) { |store| put_if?(store, key, document, condition: :absent) }
  end

  def exchange(key, old, document)
    attempt(:exchange, nil) { |store| put_if?(store, key, document, condition: :expect, expect: old) }
  end

  def get_many(keys)
    attempt(:get_many, nil) { |store| results(store.get_many(keys)) }
  end

  def put_many(documents)
    attempt(:put_many, nil) { |store| results(store.put_many(documents)).transform_values { |each| each || true } }
  end

  private

  def if_found
    yield
  rescue Simpkv::NotFoundError
    false
  end

  def put_if?(store, key, document, **condition)
    store.put(key, document, non_unique: true, **condition)
    true
  rescue Simpkv::ConditionError
    false
  end

  # If no key was reached, the backend failed.
  def results(outcomes)
    failed = outcomes.values.all?(Simpkv::TransientError)
    raise outcomes.values.first if failed && outcomes.any?

    outcomes.transform_values do |outcome|
      case outcome
      when Simpkv::NotFoundError then false
      when Simpkv::Error then { err_msg: outcome.message }
      else outcome
      end
    end
  end

  # The block opens the store, and returns it. This is the answer of `configure`.
  def open_store
    @simpkv_store = yield
    { result: true, err_msg: nil }
  rescue Simpkv::ConfigError => e
    { result: false, err_msg: "Plugin misconfigured: #{e.message}" }
  rescue Simpkv::Error, SystemCallError => e
    { result: false, err_msg: e.message }
  end

  def attempt(operation, failed)
    raise Simpkv::InvalidError, "Internal error: #{operation} called before configure" if simpkv_store.nil?

    { result: yield(simpkv_store), err_msg: nil }
  rescue Simpkv::Error => e
    { result: failed, err_msg: explain(e) }
  end

  # The options of this plugin's own backend, converted.
  def settings_from(options, type)
    backends = options['backends'] if options.is_a?(Hash)
    backend = backends[options['backend']] if backends.is_a?(Hash)
    unless backend.is_a?(Hash) && backend['type'] == type && backend['id']
      raise Simpkv::ConfigError, "no backend with 'type' #{type} and an 'id' is chosen"
    end

    Simpkv::Config.typed(backend, options['backend'])
  end
end
