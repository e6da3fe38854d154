# frozen_string_literal: true

# Loads the gem simpkv for the module's code, in Puppet's functions and on agents.
#
# The value of this file is the module.
Module.new do
  private

  # @return [void]
  # @raise [LoadError] it cannot be loaded, or does not fit this module; says how to install it
  def require_gem
    load_gem
    return if wanted.between?(Simpkv::OLDEST_API, Simpkv::API)

    raise LoadError, "The gem 'simpkv' #{Simpkv::VERSION} is #{too_what}: it offers the interfaces " \
                     "#{Simpkv::OLDEST_API} to #{Simpkv::API}, the module needs #{wanted}. #{remedy}"
  end

  def load_gem
    activate_gem unless defined?(Simpkv::Store)
    # If another thread is loading it, `require` waits for that thread. If that thread fails, JRuby's `require` returns
    # here without an error.
    3.times { defined?(Simpkv::Store) || require('simpkv') }
    raise LoadError, 'another thread tried, and failed' unless defined?(Simpkv::Store)
  rescue LoadError => e
    raise LoadError, "#{missing}: #{e.message}. #{remedy}"
  end

  # Activates the gem first: `puppet apply` has the `lib` of every module on its load path, this module's as well, and
  # the extension in a checkout of the module may not be built.
  def activate_gem
    gem('simpkv')
  rescue Gem::LoadError => e
    Puppet.debug { "simpkv is not installed as a gem: #{e.message}" }
  end

  # The interface of the gem that this module is written for. A gem supports older modules through a major version.
  def wanted
    6
  end

  def missing
    "The gem 'simpkv' cannot be loaded"
  end

  def too_what
    return 'too old for this module' if wanted > Simpkv::API

    'too new for this module. Update the module, or install the gem of its version (--version)'
  end

  def remedy
    "For puppet apply, puppet agent and Bolt install it with '#{gem_command} install simpkv'; for puppetserver with " \
      "'puppetserver gem install simpkv', then restart puppetserver."
  end

  # @return [String] the command gem of this Ruby
  def gem_command
    command = File.join(RbConfig::CONFIG['bindir'], 'gem')
    File.exist?(command) ? command : 'gem'
  end
end
