# frozen_string_literal: true

# Tells if the gem simpkv can be loaded for the resource types, also after a run has installed it.
#
# The value of this file is the class.
Class.new do
  include PuppetX::Simpkv.part(__FILE__, 'gem_loading')

  # @return [true, nil] nil if the gem may become available later
  def available
    return true if defined?(Simpkv::Resources::Key)

    problem ? nil : true
  end

  # @return [String, nil] why it cannot be loaded, with the remedy; nil if it can
  def problem
    @problem = loaded || nil unless @installed == (now = installed)
    @installed = now
    @problem
  end

  private

  # @return [String, nil] see {#problem}
  def loaded
    Gem.clear_paths
    require_gem
    require_parts
    nil
  rescue LoadError => e
    e.message
  end

  def require_parts
    require 'simpkv/resources'
  rescue LoadError => e
    raise LoadError, "the gem 'simpkv' #{Simpkv::VERSION} does not load the resource types: #{e.message}. #{remedy}"
  end

  def missing
    "the gem 'simpkv' is not installed for this Puppet"
  end

  def remedy
    "Install it with 'puppet resource package simpkv ensure=installed provider=#{provider}', or with '#{gem_command} " \
      "install simpkv'"
  end

  # @return [String] the provider of packages that uses the gem of this Ruby
  def provider
    gem_command.start_with?('/opt/puppetlabs/') ? 'puppet_gem' : 'gem'
  end

  # @return [Array] changes with each gem or file that is installed
  def installed
    [*Gem.path.map { |path| File.join(path, 'specifications') }, *$LOAD_PATH].map do |folder|
      File.stat(folder.to_s).mtime
    rescue SystemCallError
      nil
    end
  end
end
