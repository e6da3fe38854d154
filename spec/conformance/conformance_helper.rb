# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/key_file'
require_relative '../support/ldap_store'
require_relative '../support/scratch'

# The backends of the conformance suite: our own, or those that {backend} adds.
module Conformance
  # name:: for the examples' descriptions
  # fresh:: returns the configuration of a new and empty backend
  # cleanup:: gets that configuration after the example
  # traits:: the differences that backends may have: :shares_names (a key and a folder may have the same name),
  #          :short_names (a segment must be shorter than 255 bytes), :ignores_case
  # tags:: of its examples
  # module_dir:: the folder of the module that has its plugin; nil for plugins of this project
  Backend = Struct.new(:name, :fresh, :cleanup, :traits, :tags, :module_dir)

  # A server with one layout, and a base entry for each backend.
  class Directory
    # Base entries are added in such groups, because ldapadd takes longer to start than to add them.
    BATCH = 100
    private_constant :BATCH

    # @param kind [Class] of the server: a subclass of DirectoryServer
    def initialize(kind, layout)
      @kind = kind
      @layout = layout
      @count = 0
    end

    # The server starts with the first backend.
    def fresh
      server = (@server ||= started)
      add_base_entries if (@count % BATCH).zero?
      server.options('type' => 'ldap', 'id' => 'conformance', 'base_dn' => base_dn(@count += 1))
    end

    private

    def base_dn(number)
      "ou=c#{number},#{DirectoryServer::BASE_DN}"
    end

    def add_base_entries
      numbers = (@count + 1)..(@count + BATCH)
      @server.add(numbers.map { |number| "dn: #{base_dn(number)}\nobjectClass: organizationalUnit\n" }.join("\n"))
    end

    def started
      server = @kind.new(layout: @layout)
      server.start
      RSpec.configuration.after(:suite) { server.stop }
      server
    end
  end

  BACKENDS = [
    Backend.new('file',
                lambda {
                  { 'type' => 'file', 'id' => 'conformance', 'root_path' => File.join(Scratch.make('simpkv'), 'root') }
                },
                ->(entry) { FileUtils.rm_rf(File.dirname(entry['root_path'])) }, [], {}),
    Backend.new('memory, a third-party plugin made from the template',
                -> { { 'type' => 'memory', 'id' => 'conformance' } },
                ->(_entry) { MemoryStore.clear }, [], {}),
    *Directories::ALL.map do |kind, layout, tags|
      traits = layout == 'plain' ? %i[shares_names short_names ignores_case] : %i[short_names]
      Backend.new("#{kind} #{layout}", Directory.new(kind, layout).method(:fresh), ->(_entry) {}, traits,
                  tags.merge(thorough: true, long: tags[:long] || RUBY_ENGINE == 'jruby'))
    end
  ].freeze

  # Tags of groups that JRuby runs with a directory, too, for each change: those that call each function, and whose
  # arguments and errors the binding converts. The weekly stage `jruby93_compiled` has all groups with directories.
  ON_JRUBY = RUBY_ENGINE == 'jruby' ? { long: false }.freeze : {}.freeze

  @added = []

  # Adds a third-party backend. The suite then runs over the added ones alone. See docs/plugin-development.md.
  #
  # @param type [String] the plugin is lib/puppet_x/simpkv/<type>_plugin.rb of the module
  # @param module_dir [String] the folder of the module
  # @param traits [Array<Symbol>] see {Backend}
  # @param cleanup [#call] gets the backend's options after each example
  # @yieldreturn [Hash] the options, besides `type` and `id`, of a new and empty backend: called for each example
  def self.backend(type, module_dir:, traits: [], cleanup: ->(_entry) {}, &options)
    fresh = -> { { 'type' => type, 'id' => 'conformance' }.merge(options ? options.call : {}) }
    @added << Backend.new(type, fresh, cleanup, traits, {}, File.expand_path(module_dir))
  end

  # @return [Array<Backend>] the backends of the suite: with ENCRYPTED=1 those of this project, encrypted
  def self.backends
    return BACKENDS.map { |backend| encrypted(backend) } if ENV['ENCRYPTED']

    @added.empty? ? BACKENDS : @added
  end

  def self.encrypted(backend)
    fresh = -> { backend.fresh.call.merge('encryption_keys' => key_file) }
    Backend.new("#{backend.name}, encrypted", fresh, *backend.to_a.drop(2))
  end
  private_class_method :encrypted

  # @return [String] the file of keys of the whole suite
  def self.key_file
    @key_file ||= begin
      folder = Scratch.make('simpkv-keys')
      RSpec.configuration.after(:suite) { FileUtils.remove_entry(folder) }
      KeyFile.write(File.join(folder, 'keys'), [KeyFile.jwk('conformance')])
    end
  end
  private_class_method :key_file

  # Describes a group for every backend.
  #
  # @param directories [Hash] further tags of the groups with directories: `{ once: true }` if neither the backend nor
  #   the binding makes a difference, so that other bindings run the group with files and with the plugin
  def self.describe(what, directories: {}, &block)
    backends.each do |backend|
      tags = backend.tags[:thorough] ? backend.tags.merge(directories) : backend.tags
      RSpec.describe("#{what}, on backend #{backend.name}", **tags) do
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

  before { File.symlink(backend.module_dir, File.join(world.dir, 'modules', 'plugin')) if backend.module_dir }

  after do
    world.close
    backend.cleanup.call(entry)
  end

  PuppetWorld::FUNCTIONS.each_key do |function|
    define_method(function) { |*arguments, &block| world.call("simpkv::#{function}", *arguments, &block) }
  end

  # True if the backend has that difference.
  define_method(:trait?) { |trait| backend.traits.include?(trait) }

  # The same backend as another environment sees it.
  def in_environment(name)
    other = PuppetWorld.new(environment: name, hiera: site, dir: world.dir)
    yield other
  ensure
    other.close
  end

  # @return [Hash] the merged options, as the adapter gets them
  def merged(options = {})
    world.call('simpkv::support::config::merge', options, world.adapter.backends)
  end

  # @return [String] the bytes that the backend keeps, without the codec and without encryption
  def stored_bytes(key)
    path = "environments/production/#{key}"
    answer = world.adapter.plugin_instance(merged).get(path)
    expect(answer[:err_msg]).to be_nil
    return answer[:result].b unless entry['encryption_keys']

    keyring = Simpkv::Layers.keyring(entry['encryption_keys'])
    (keyring.decrypt(entry.values_at('type', 'id').join('/'), path, answer[:result]) || answer[:result]).b
  end

  # Stores bytes without the codec, also in place of an encrypted document, which a put of plain bytes keeps.
  def store_raw(key, bytes)
    plugin = world.adapter.plugin_instance(merged)
    plugin.delete("environments/production/#{key}")
    answer = plugin.put("environments/production/#{key}", bytes)
    expect(answer).to include(result: be_truthy)
  end
end
