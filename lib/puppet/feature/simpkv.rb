# frozen_string_literal: true

# True if the gem simpkv can be loaded. A run may install it, so a failure counts only until a gem is installed.
simpkv_gem = Class.new do
  loading = File.expand_path('../../puppet_x/simpkv/gem_loading.rb', File.dirname(__FILE__))
  include TOPLEVEL_BINDING.eval(File.read(loading), loading)

  # @return [true, nil] nil if the gem may become available later
  def available
    return true if defined?(Simpkv::Catalog)
    return if @failed_with == installed

    @failed_with = installed
    Gem.clear_paths
    require_gem
    load_catalog
    true
  rescue LoadError => e
    Puppet.warning(e.message)
    nil
  end

  private

  def load_catalog
    require 'simpkv/catalog'
  rescue LoadError
    raise LoadError, "The gem 'simpkv' #{Simpkv::VERSION} is too old for the resource types of this module. #{remedy}"
  end

  # @return [Object] changes with each gem that is installed
  def installed
    Gem.path.map { |path| File.stat(File.join(path, 'specifications')).mtime if File.directory?(path) }
  rescue SystemCallError
    []
  end
end.new

Puppet.features.add(:simpkv) { simpkv_gem.available }
