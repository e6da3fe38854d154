# frozen_string_literal: true

# Keeps keys in files, one each, below a root folder. Simpkv::Store does the work; see plugin_template.rb for what the
# adapter asks of a plugin.
plugin_class = Class.new do # rubocop:disable Lint/UselessAssignment
  # @return [String] `file/<id>`
  attr_reader :name

  def initialize(name)
    @name = name
  end

  # Chooses the root folder and opens the store there.
  def configure(options)
    backend = own_options(options)
    settings = Simpkv::Config.typed(backend, options['backend'])
    limits = settings.slice('lock_timeout_seconds')
    @store = settings['root_path'] ? open_at(settings['root_path'], limits) : default_store(settings['id'], limits)
    { result: true, err_msg: nil }
  rescue Simpkv::ConfigError => e
    { result: false, err_msg: "Plugin misconfigured: #{e.message}" }
  rescue Simpkv::Error, SystemCallError => e
    { result: false, err_msg: e.message }
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
  def list(keydir)
    found = list_partial(keydir)
    return found if found[:result].nil? || found[:result][:errors].empty?

    name, why = found[:result][:errors].min_by(&:first)
    { result: nil, err_msg: "Key '#{name}': #{why}" }
  end

  # What `skip_undecodable` asks for: the entries that cannot be read are told apart, as `errors:`.
  def list_partial(keydir)
    attempt(:list, nil) { @store.list(keydir) }
  end

  def put(key, document)
    attempt(:put, false) { @store.put(key, document) || true }
  end

  private

  def attempt(operation, failed)
    return { result: failed, err_msg: "Internal error: #{operation} called before configure" } if @store.nil?

    { result: yield, err_msg: nil }
  rescue Simpkv::Error => e
    { result: failed, err_msg: e.message }
  end

  def own_options(options)
    backends = options['backends'] if options.is_a?(Hash)
    backend = backends[options['backend']] if backends.is_a?(Hash)
    unless backend.is_a?(Hash) && backend['type'] == 'file' && backend['id']
      raise Simpkv::ConfigError, "no backend with 'type' file and an 'id' is chosen"
    end

    backend
  end

  # An existing root is used or it is an error: a new and empty store beside it would lose what is in the real one.
  def default_store(id, limits)
    preferred = Simpkv::Config.default_root_path(id)
    fallback = File.join(Puppet[:vardir], 'simp', 'simpkv', 'file', id)
    existing = [preferred, fallback].find { |root| there?(root) }
    return open_at(existing, limits) if existing

    first_that_can_be_made(preferred, fallback, limits)
  end

  def first_that_can_be_made(preferred, fallback, limits)
    open_at(preferred, limits)
  rescue Simpkv::Error => e
    why = of_default(e)
    begin
      store = open_at(fallback, limits)
    rescue Simpkv::Error => second
      raise second.class, "#{why}; #{of_default(second)}"
    end
    Puppet.warning("simpkv #{name}: #{why}. Using '#{fallback}' instead.")
    store
  end

  # Nobody has configured the path that the store's message calls configured.
  def of_default(error)
    error.message.sub('Unable to create configured root path', 'Unable to create default root path')
  end

  def open_at(root, limits)
    Simpkv::Store.open('file', limits.merge('root_path' => root))
  end

  # Whether there is something of that name. What a missing permission hides is an error, not an absence.
  def there?(path)
    File.lstat(path) && true
  rescue Errno::ENOENT, Errno::ENOTDIR
    false
  end
end
