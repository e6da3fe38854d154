# frozen_string_literal: true

require 'etc'
require_relative '../puppet_helper'
require_relative '../support/command'
require_relative '../support/ssh_keys'

# Keys of the folders ssh/felix and ssh/anna, for files of the user that runs the examples.
RSpec.shared_context 'with authorized keys' do
  include_context 'with the command'

  let(:store) { Simpkv::Store.open('file', 'root_path' => backends['default']['root_path']) }
  let(:world) { PuppetWorld.new }
  let(:user) { Etc.getpwuid.name }
  let(:options) do
    "simpkv_options => { backends => { 'default' => { type => file, id => spec, root_path => '#{folder}/keys' } } }"
  end

  before do
    File.symlink('/usr/share/puppet/modules/sshkeys_core', File.join(world.dir, 'modules', 'sshkeys_core'))
  end

  after do
    store.close
    world.close
  end

  # Stores documents.
  #
  # @param values [Hash{String => Object}] by name
  def fill(values, name = 'felix')
    values.each do |key, value|
      store.put("environments/production/ssh/#{name}/#{key}", Simpkv::Codec.encode(value, {}))
    end
  end

  # @param parameters [String] of the resource
  # @return [String] its declaration
  def authorized_keys(parameters, title = 'felix')
    "simpkv::authorized_keys { '#{title}': #{options}, #{parameters} }\n"
  end
end
