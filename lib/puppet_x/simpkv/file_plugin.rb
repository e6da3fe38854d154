# frozen_string_literal: true

# Keeps keys in files, one each, below a root folder, in a Simpkv::Store. plugin_template.rb describes plugins.
plugin_methods = File.join(File.dirname(__FILE__), 'plugin_methods.rb')
plugin_class = Class.new do # rubocop:disable Lint/UselessAssignment
  include TOPLEVEL_BINDING.eval(File.read(plugin_methods), plugin_methods)

  # Chooses the root folder and opens the store there.
  def configure(options)
    open_store do
      settings = settings_from(options, 'file')
      limits = settings.slice('lock_timeout_seconds')
      settings['root_path'] ? open_at(settings['root_path'], limits) : default_store(settings['id'], limits)
    end
  end

  private

  # The command simpkv finds it by the same rule.
  def default_store(id, limits)
    default = default_root(id)
    existing = default.existing
    return open_at(existing, limits) if existing

    store, warning = default.make { |root| open_at(root, limits) }
    Puppet.warning("simpkv #{name}: #{warning}") if warning
    store
  end

  # Outside puppetserver, its store counts as well: `puppet apply` must not make an empty one beside it.
  def default_root(id)
    more = Puppet.run_mode.server? ? [] : Simpkv::Vardirs.server
    Simpkv::DefaultRoot.new(id, [Puppet[:vardir]], more)
  end

  def open_at(root, limits)
    Simpkv::Store.open('file', limits.merge('root_path' => root))
  end
end
