# frozen_string_literal: true

module Simpkv
  # What the plugins of the types file and ldap have in common: they ask a {Store}, `@store`, which their `configure`
  # opens. Other plugins have no need of it. See plugin_template.rb of the Puppet module for what is asked of a plugin.
  module PluginOperations
    # @return [String] `<type>/<id>`
    attr_reader :name

    def initialize(name)
      @name = name
    end

    def delete(key)
      attempt(:delete, false) { @store.delete(key) || true }
    end

    def deletetree(keydir)
      attempt(:deletetree, false) { @store.deletetree(keydir) || true }
    end

    def exists(key)
      attempt(:exists, nil) { @store.exist?(key) }
    end

    def get(key)
      attempt(:get, nil) { @store.get(key) }
    end

    # An entry that cannot be read makes the whole list fail.
    def list(keydir, &block)
      found = list_partial(keydir, &block)
      return found if found[:result].nil? || found[:result][:errors].empty?

      name, why = found[:result][:errors].min_by(&:first)
      { result: nil, err_msg: "Key '#{name}': #{why}" }
    end

    # What `skip_undecodable` asks for: the entries that cannot be read are told apart, as `errors:`.
    def list_partial(keydir, &block)
      attempt(:list, nil) { @store.list(keydir, &block) }
    end

    # What is in a folder and in all folders below it, told as {#list_partial} tells it, with paths from the folder on.
    # Without `values`, documents are ''.
    def tree(keydir, values = true, &block) # rubocop:disable Style/OptionalBooleanParameter -- as plugins take theirs
      attempt(:tree, nil) { @store.tree(keydir, values: values, &block) }
    end

    # As {#list_partial}, but false when there is no such folder.
    def list_present(keydir, &block)
      attempt(:list, nil) { if_found { @store.list(keydir, &block) } }
    end

    # As {#tree}, but false when there is no such folder.
    def tree_present(keydir, values = true, &block) # rubocop:disable Style/OptionalBooleanParameter -- as above
      attempt(:tree, nil) { if_found { @store.tree(keydir, values: values, &block) } }
    end

    def put(key, document)
      attempt(:put, false) { @store.put(key, document) || true }
    end

    # The document, or false when there is no such key.
    def fetch(key)
      attempt(:fetch, nil) { present(key) }
    end

    # The same, of the server that is written to.
    def fetch_latest(key)
      attempt(:fetch_latest, nil) { present(key, latest: true) }
    end

    # Stores a document if there is none; whether it did.
    def put_new(key, document)
      attempt(:put_new, nil) do
        @store.put(key, document, condition: :absent, alike: true)
        true
      rescue ExistsError
        false
      end
    end

    # Replaces a document if it is still that one; whether it did.
    def exchange(key, old, document)
      attempt(:exchange, nil) do
        @store.put(key, document, condition: :expect, expect: old, alike: true)
        true
      rescue ConflictError
        false
      end
    end

    # By key, the document, false when there is no such key, or why it cannot be read.
    def get_many(keys)
      attempt(:get_many, nil) { told(@store.get_many(keys)) }
    end

    # By key, true, or why it was not stored.
    def put_many(documents)
      attempt(:put_many, nil) { told(@store.put_many(documents)).transform_values { |outcome| outcome || true } }
    end

    private

    def present(key, latest: false)
      if_found { @store.get(key, latest: latest) }
    end

    def if_found
      yield
    rescue NotFoundError
      false
    end

    # What came of each of many keys. Where none was reached, it is the backend that failed.
    def told(outcomes)
      gone = outcomes.values.all? { |outcome| [UnavailableError, TimeoutError].include?(outcome.class) }
      raise outcomes.values.first if gone && outcomes.any?

      outcomes.transform_values do |outcome|
        case outcome
        when NotFoundError then false
        when Error then { err_msg: outcome.message }
        else outcome
        end
      end
    end

    # What `configure` answers: the block opens the store, and answers it.
    def open_store
      @store = yield
      { result: true, err_msg: nil }
    rescue ConfigError => e
      { result: false, err_msg: "Plugin misconfigured: #{e.message}" }
    rescue Error, SystemCallError => e
      { result: false, err_msg: e.message }
    end

    def attempt(operation, failed)
      return { result: failed, err_msg: "Internal error: #{operation} called before configure" } if @store.nil?

      { result: yield, err_msg: nil }
    rescue Error => e
      { result: failed, err_msg: explain(e) }
    end

    # What is said of an operation that failed; a plugin may have more to say.
    def explain(error)
      error.message
    end

    # The options of this plugin's own backend, converted.
    def settings_from(options, type)
      backends = options['backends'] if options.is_a?(Hash)
      backend = backends[options['backend']] if backends.is_a?(Hash)
      unless backend.is_a?(Hash) && backend['type'] == type && backend['id']
        raise ConfigError, "no backend with 'type' #{type} and an 'id' is chosen"
      end

      Config.typed(backend, options['backend'])
    end
  end
end
