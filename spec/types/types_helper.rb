# frozen_string_literal: true

require 'open3'
require_relative '../puppet_helper'
require_relative '../support/ldap_store'
require_relative '../support/scratch'
require_relative 'keys_as_resources'

# rspec-puppet would include its own methods in every example of this folder.
RSpec.configure do |config|
  config.define_derived_metadata(file_path: %r{/spec/types/}) { |metadata| metadata[:type] ||= :resource_types }
end

# Catalogs with keys as resources, applied in this process to a store in files. `backend` has the options of the
# default backend, and `backends` those of all.
RSpec.shared_context 'with keys as resources' do
  let(:scratch) { Scratch.make('simpkv-types') }
  let(:root) { File.join(scratch, 'root') }
  let(:backend) { { 'type' => 'file', 'id' => 'types', 'root_path' => root } }
  let(:backends) { { 'default' => backend } }
  let(:store) { Simpkv::Store.open('file', 'root_path' => root) }
  let(:world) { PuppetWorld.new }

  before do
    ENV['SIMPKV_CONFIG'] = File.join(scratch, 'simpkv.yaml')
    write_options(backends)
  end

  after do
    world.close
    ENV.delete('SIMPKV_CONFIG')
    FileUtils.chmod_R('u+rwx', scratch)
    FileUtils.remove_entry(scratch)
  end

  include KeysAsResources
end

# The same, with a store in a directory.
RSpec.shared_context 'with keys in a directory' do |server, **options|
  include_context 'with a directory', server, **options
  include_context 'with keys as resources'

  let(:backend) { directory.options('type' => 'ldap', 'id' => id) }
  let(:store) { open_store }
end
