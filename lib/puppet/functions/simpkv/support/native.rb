# frozen_string_literal: true

# @summary Loads the gem simpkv, or says how to install it
#
# The one place that does.
# @api private
Puppet::Functions.create_function(:'simpkv::support::native') do
  # @return [Undef]
  # @raise LoadError when it cannot be loaded, or does not fit this module
  # @example Before the first use of the library
  #   simpkv::support::native()
  dispatch(:require_gem) { return_type 'Undef' }

  def require_gem
    activate_gem unless defined?(Simpkv::Store)
    # Also when another thread of this process is in the middle of it: then this waits for that.
    require 'simpkv'
    return if wanted <= Simpkv::API

    raise LoadError, "The gem 'simpkv' #{Simpkv::VERSION} is too old for this module: it offers interface " \
                     "#{Simpkv::API}, #{wanted} is needed. #{remedy}"
  rescue LoadError => e
    raise if e.message.include?(remedy)

    raise LoadError, "The gem 'simpkv' cannot be loaded: #{e.message}. #{remedy}"
  end

  # Asks for the gem first: `puppet apply` has the `lib` of every module on its load path, this module's as well, and
  # what a checkout of the module has there may not be built.
  def activate_gem
    gem('simpkv')
  rescue Gem::LoadError => e
    Puppet.debug { "simpkv is not installed as a gem: #{e.message}" }
  end

  # The interface of the gem that this module is written for. A gem supports older modules through a major version.
  def wanted
    1
  end

  def remedy
    gem = File.join(RbConfig::CONFIG['bindir'], 'gem')
    gem = 'gem' unless File.exist?(gem)
    "For puppet apply and Bolt install it with '#{gem} install simpkv'; for puppetserver with " \
      "'puppetserver gem install simpkv', then restart puppetserver."
  end
end
