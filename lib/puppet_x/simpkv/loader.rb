# frozen_string_literal: true

# simpkv::support::load evaluates this file in the catalog object, or in the compiler if there is no catalog. From then
# on `catalog.simpkv` is the adapter.
#
# Nothing here has a name that another environment could see: different versions of this module live side by side in one
# puppetserver.

adapter_file = File.join(File.dirname(__FILE__), 'simpkv.rb')
unless File.exist?(adapter_file)
  raise LoadError, "simpkv Internal Error: unable to load #{adapter_file}: File not found"
end

# In a catalog, the name Simpkv alone could mean its terminus, Puppet::Resource::Catalog::Simpkv.
begin
  require 'simpkv/adapter'
  # rubocop:disable-next Style/RedundantConstantBase
  simp_simpkv_adapter_class = ::Simpkv::Adapter::EnvironmentCode.kept(:@simpkv_adapter_class) do
    ::Simpkv::Adapter::EnvironmentCode.evaluate(adapter_file, :simp_simpkv_adapter_class)
  end
  adapter = simp_simpkv_adapter_class.new
  adapter.node = respond_to?(:node_name) ? node_name : name
rescue ScriptError, StandardError => e
  raise LoadError, "simpkv Internal Error: unable to load #{adapter_file}: #{e.message}"
end

class << self
  # @return the adapter: see simpkv.rb in this folder
  attr_accessor :simpkv
end
self.simpkv = adapter
