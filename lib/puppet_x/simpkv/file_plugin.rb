# frozen_string_literal: true

# Keeps keys in files, one each, below a root folder. Simpkv::Store does the work; see plugin_template.rb for what the
# adapter asks of a plugin.
plugin_class = Class.new do # rubocop:disable Lint/UselessAssignment
  include Simpkv::PluginOperations

  # Chooses the root folder and opens the store there.
  def configure(options)
    open_store do
      settings = settings_from(options, 'file')
      limits = settings.slice('lock_timeout_seconds')
      settings['root_path'] ? open_at(settings['root_path'], limits) : default_store(settings['id'], limits)
    end
  end

  private

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
