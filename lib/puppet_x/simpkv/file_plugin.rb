# frozen_string_literal: true

# Keeps keys in files, one each, below a root folder, in a Simpkv::Store. plugin_template.rb describes plugins.
plugin_class = Class.new do # rubocop:disable Lint/UselessAssignment
  include Simpkv::Adapter::PluginMethods

  # Chooses the root folder and opens the store there.
  def configure(options)
    open_store do
      root = Simpkv::FileRoot.new(settings_from(options, 'file')) { [[Puppet[:vardir]], other_vardirs] }
      store, warning = root.make
      Puppet.warning("simpkv #{name}: #{warning}") if warning
      store
    end
  end

  private

  # Outside puppetserver, its store counts as well: `puppet apply` must not make an empty one beside it.
  def other_vardirs
    Puppet.run_mode.server? ? [] : Simpkv::Vardirs.server
  end
end
