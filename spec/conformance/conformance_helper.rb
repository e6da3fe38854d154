# frozen_string_literal: true

require_relative '../puppet_helper'

# What the conformance suite runs over. Another backend is another entry.
module Conformance
  # name:: for the examples' descriptions
  # fresh:: answers the configuration of a new and empty backend
  # cleanup:: is given that configuration when it is not needed any more
  Backend = Struct.new(:name, :fresh, :cleanup)

  BACKENDS = [
    Backend.new('file',
                lambda {
                  { 'type' => 'file', 'id' => 'conformance', 'root_path' => File.join(Dir.mktmpdir('simpkv'), 'root') }
                },
                ->(entry) { FileUtils.rm_rf(File.dirname(entry['root_path'])) }),
    Backend.new('memory, a third-party plugin made from the template',
                -> { { 'type' => 'memory', 'id' => 'conformance' } },
                ->(_entry) { MemoryStore.clear })
  ].freeze

  # Describes the same for every backend.
  def self.describe(what, &block)
    BACKENDS.each do |backend|
      RSpec.describe("#{what}, on backend #{backend.name}") do
        include_context 'with a backend', backend
        class_exec(&block)
      end
    end
  end
end

RSpec.shared_context 'with a backend' do |backend|
  let(:entry) { backend.fresh.call }
  let(:site) { { 'backends' => { 'default' => entry } } }
  let!(:world) { PuppetWorld.new(hiera: site) }

  after do
    world.close
    backend.cleanup.call(entry)
  end

  %w[put get list exists delete deletetree].each do |function|
    define_method(function) { |*arguments| world.call("simpkv::#{function}", *arguments) }
  end

  # The same backend as another environment sees it.
  def in_environment(name)
    other = PuppetWorld.new(environment: name, hiera: site, dir: world.dir)
    yield other
  ensure
    other.close
  end

  # What the adapter is given: merged options.
  def merged(options = {})
    world.call('simpkv::support::config::merge', options, world.adapter.backends)
  end

  # Stores bytes that are no document, past the codec.
  def store_raw(key, bytes)
    plugin = world.adapter.plugin_instance(merged)
    answer = plugin.put("environments/production/#{key}", bytes)
    expect(answer).to include(result: be_truthy)
  end
end
