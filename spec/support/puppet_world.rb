# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require 'yaml'
require_relative 'memory_store'

# A Puppet environment in a temporary folder, with this module, the fixture modules and Hiera data, and Puppet's own
# compiler over it. Needs the hooks of puppet_helper.rb.
#
#   world = PuppetWorld.new(hiera: { 'softfail' => true })
#   world.call('simpkv::put', 'a', 1)     # in the catalog of the moment
#   world.fresh_catalog                   # from here on in another one
#   world.compile("notice(simpkv::get('a'))")
#   world.close
class PuppetWorld
  PROJECT = File.expand_path('../..', __dir__)

  # The functions for manifests, without `simpkv::`: their files, by name.
  FUNCTIONS = Dir[File.join(PROJECT, 'lib/puppet/functions/simpkv/*.rb')].sort.to_h do |file|
    [File.basename(file, '.rb'), file]
  end.freeze

  # @return [String] the temporary folder
  attr_reader :dir

  # @param environment [String] the name of Puppet's environment
  # @param hiera [Object] `simpkv::options`; nil for no Hiera data
  # @param dir [String, nil] the folder of another world whose modules and data are to be shared
  def initialize(environment: 'production', hiera: nil, dir: nil)
    @shared = !dir.nil?
    @dir = dir || make_dir
    @environment_name = environment
    self.hiera = hiera
    @messages = []
    @destination = Puppet::Test::LogCollector.new(@messages)
    Puppet::Util::Log.newdestination(@destination)
    # Puppet sends earlier messages to the first log destination.
    @messages.clear
  end

  # @return [Object] what the function returns
  def call(function, *arguments, &block)
    inside do |compiler|
      loaded = compiler.loaders.private_environment_loader.load(:function, function)
      loaded.call(compiler.topscope, *arguments, &block)
    end
  end

  # @yield [compiler] with Puppet's context as it is inside that compiler
  def inside
    Puppet.override(environment_context, 'PuppetWorld') do
      compiler = (@compiler ||= new_compiler)
      compiler.with_context_overrides('PuppetWorld') { yield compiler }
    end
  end

  # Later calls are made in a new catalog.
  def fresh_catalog
    @compiler = nil
    self
  end

  # Later catalogs are made in an environment that Puppet has read anew.
  def fresh_environment
    @environment = nil
    fresh_catalog
  end

  # @return [Object] the adapter of the catalog
  def adapter
    call('simpkv::support::load')
    inside { |compiler| compiler.catalog.simpkv }
  end

  # @param manifest [String]
  # @param facts [Hash] further facts of the node
  # @return [Puppet::Resource::Catalog] the catalog that a new compiler compiles
  def compile(manifest, facts: {})
    Puppet[:code] = manifest
    compile_code(facts: facts)
  ensure
    Puppet[:code] = ''
  end

  # Does the same with the manifest of Puppet's setting `code`, which threads share.
  def compile_code(facts: {})
    Puppet.override(environment_context, 'PuppetWorld') do
      Puppet::Parser::Compiler.compile(new_node(fresh_copy_of_environment, facts))
    end
  end

  # Compiles a manifest, and applies the catalog as `puppet apply` does.
  #
  # @param settings [Hash{Symbol => Object}] of Puppet, for the rest of the example
  # @yieldparam catalog [Puppet::Resource::Catalog] with resources of Puppet's types, before it is applied
  # @return [Puppet::Transaction::Report]
  def apply(manifest, **settings)
    { statedir: state_folder, **settings }.each { |name, value| Puppet[name] = value }
    compiled = compile(manifest)
    Puppet.override(environment_context.merge(loaders: Puppet::Pops::Loaders.new(environment)), 'PuppetWorld') do
      catalog = compiled.to_ral
      yield catalog if block_given?
      catalog.apply.report
    end
  end

  # @return [Puppet::Node::Environment]
  def environment
    @environment ||= fresh_copy_of_environment
  end

  # @param options [Object] `simpkv::options` for later catalogs; nil for no Hiera data
  def hiera=(options)
    file = File.join(dir, 'hiera.yaml')
    File.write(file, { 'version' => 5, 'hierarchy' => [{ 'name' => 'all', 'path' => 'data.yaml' }],
                       'defaults' => { 'datadir' => dir, 'data_hash' => 'yaml_data' } }.to_yaml)
    File.write(File.join(dir, 'data.yaml'), (options.nil? ? {} : { 'simpkv::options' => options }).to_yaml)
    Puppet[:hiera_config] = file
  end

  # Writes a plugin into a module of the modulepath.
  #
  # @param folder [String] of the modulepath: 'modules' or 'more'
  # @return [String] the file
  def add_plugin(module_name, type, source, folder: 'modules')
    file = File.join(dir, folder, module_name, 'lib', 'puppet_x', 'simpkv', "#{type}_plugin.rb")
    FileUtils.mkdir_p(File.dirname(file))
    File.write(file, source)
    file
  end

  # @return [Array<String>] the warnings logged so far
  def warnings
    @messages.select { |message| message.level == :warning }.map(&:message)
  end

  # @return [Array<String>] the notices logged so far
  def notices
    @messages.select { |message| message.level == :notice }.map(&:message)
  end

  # @return [Array<String>] the messages logged so far, each with its level and the resource that it is about
  def log
    @messages.map { |message| "#{message.level}: #{message.source}: #{message.message}" }
  end

  # @return [Array<String>] all messages logged so far, with debug messages if these are enabled
  def messages
    @messages.map(&:message)
  end

  def close
    Puppet::Util::Log.close(@destination)
    FileUtils.remove_entry(dir) unless @shared
  end

  # @return [String] the folder of the files that Puppet keeps between runs
  def state_folder
    File.join(dir, 'state').tap { |folder| FileUtils.mkdir_p(folder) }
  end

  private

  def make_dir
    dir = Dir.mktmpdir('simpkv-world')
    %w[modules more].each { |folder| Dir.mkdir(File.join(dir, folder)) }
    File.symlink(PROJECT, File.join(dir, 'modules', 'simpkv'))
    Dir.glob(File.join(__dir__, 'modules', '*')).each do |fixture|
      File.symlink(fixture, File.join(dir, 'modules', File.basename(fixture)))
    end
    dir
  end

  def fresh_copy_of_environment
    Puppet::Node::Environment.create(@environment_name.to_sym, [File.join(dir, 'modules'), File.join(dir, 'more')])
  end

  def environment_context
    { environments: Puppet::Environments::Static.new(environment), current_environment: environment }
  end

  def new_node(in_environment, more = {})
    facts = Puppet::Node::Facts.new('world.example.com', { 'os' => { 'family' => 'Debian' } }.merge(more))
    Puppet::Node.new(facts.name, environment: in_environment, facts: facts, parameters: {})
  end

  def new_compiler
    Puppet[:code] = ''
    compiler = Puppet::Parser::Compiler.new(new_node(environment))
    compiler.compile
    compiler
  end
end
