# frozen_string_literal: true

require 'simpkv/estate'
require_relative '../support/eventually'
require_relative '../support/ldap_store'
require_relative '../support/processes'
require_relative '../support/scratch'
require_relative '../support/service'

# A service over a store in files, or in a directory.
#
#   include_context 'with a service'
#   service.client.get('/v1/nodes')
RSpec.shared_context 'with a service' do |*arguments, env: {}|
  around do |example|
    Scratch.make('service') do |folder|
      @root = File.join(folder, 'store')
      Dir.mkdir(@root)
      example.run
    ensure
      @service&.stop
    end
  end

  let(:backends) { { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => @root } } }
  # The section `server` of the configuration.
  let(:section) { {} }
  let(:options) { { 'backends' => backends, 'server' => { 'index' => "#{@root}.index" }.merge(section) } }
  let(:service) { @service = Service.new(options, *arguments, env: env).tap(&:start) }
  let(:client) { service.client }
  # The store, as other processes use it.
  let(:store) { Simpkv::Store.open('file', 'root_path' => @root) }

  before { store }

  # Makes the estate, as `simpkv init` does.
  def make_estate
    Simpkv::Estate.new(options).make
  end
end

RSpec.configure do |config|
  config.include(Eventually)
  config.include(Processes)
  config.define_derived_metadata(file_path: %r{/spec/server/}) { |metadata| metadata[:needs] ||= :cext }
end
