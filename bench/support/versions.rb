# frozen_string_literal: true

require 'json'
require 'open3'
require 'simpkv'

# What the numbers were made with.
module Versions
  # @return [Hash{String => String}] of this process
  def self.own
    { 'simpkv' => Simpkv::VERSION, 'binding' => Simpkv::Native.binding_name, RUBY_ENGINE => RUBY_ENGINE_VERSION,
      'json' => JSON::VERSION }
  end

  # @return [Hash{String => String}] of what stands on the other side, and beside
  def self.of(*names)
    names.to_h { |name| [name, name == 'JRuby' ? jruby : Gem.loaded_specs[name]&.version || package(name)] }
  end

  def self.jruby
    Open3.capture2({ 'RUBYOPT' => nil }, 'jruby', '--version').first[/\d[\d.]+/]
  end

  # Of a Debian package.
  def self.package(name)
    Open3.capture2('dpkg-query', '-W', '-f', '${Version}', name).first
  end
  private_class_method :jruby, :package
end
