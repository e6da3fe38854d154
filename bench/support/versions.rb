# frozen_string_literal: true

require 'json'
require 'open3'
require 'simpkv'

# The versions that a result depends on.
module Versions
  # @return [Hash{String => String}] versions of this process
  def self.own
    { 'simpkv' => Simpkv::VERSION, 'binding' => Simpkv::Native.binding_name, RUBY_ENGINE => RUBY_ENGINE_VERSION,
      'json' => JSON::VERSION }
  end

  # @return [Hash{String => String}] versions of servers, gems and packages
  def self.of(*names)
    names.to_h { |name| [name, name == 'JRuby' ? jruby : Gem.loaded_specs[name]&.version || package(name)] }
  end

  def self.jruby
    Open3.capture2({ 'RUBYOPT' => nil }, 'jruby', '--version').first[/\d[\d.]+/]
  end

  # @return [String] the version of a Debian package
  def self.package(name)
    Open3.capture2('dpkg-query', '-W', '-f', '${Version}', name).first
  end
  private_class_method :jruby, :package
end
