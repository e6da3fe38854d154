# frozen_string_literal: true

require 'json'
require 'open3'
require_relative '../puppet_helper'
require_relative '../support/puppet_command'

# Each example starts its own Puppet process. Agents and puppet apply always run on MRI.
RSpec.describe 'Deferred', :thorough, needs: :mri do
  let(:world) { PuppetWorld.new }
  let(:root) { File.join(world.dir, 'store') }
  let(:options) { { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'x', 'root_path' => root } } } }
  let(:settings) { PuppetCommand.folders(world.dir) }

  after { world.close }

  # @return [String] the output of another process that runs the same Ruby and Puppet
  def ruby(script, *arguments, load_path: $LOAD_PATH)
    output, = Open3.capture2e(RbConfig.ruby, *load_path.map { |folder| "-I#{folder}" }, '-e', script, *arguments)
    output
  end

  describe 'in puppet apply' do
    # An unknown option produces one warning for each adapter, which shows the number of adapters.
    let(:manifest) do
      <<-PUPPET
        $options = #{options.merge('misspelt' => 1).to_json.gsub(':', ' => ')}
        $value = Deferred('dig', [Deferred('simpkv::get', ['secret', $options]), 'value'])
        file { '#{world.dir}/target': content => Deferred('new', [Sensitive, $value]), show_diff => true }
        notify { 'put': message => Deferred('join', [['put', Deferred('simpkv::put', ['b', 'é', {}, $options])]]) }
        -> notify { 'exists': message => Deferred('join', [['exists', Deferred('simpkv::exists', ['b', $options])]]) }
      PUPPET
    end

    def apply(*arguments)
      ruby(PuppetCommand::SCRIPT, 'apply', '--color=false', *settings, '--modulepath', File.join(world.dir, 'modules'),
           '--show_diff', '--execute', manifest, *arguments)
    end

    before do
      world.call('simpkv::put', 'secret', Puppet::Pops::Types::PSensitiveType::Sensitive.new('hush'), {}, options)
    end

    %w[preprocess_deferred no-preprocess_deferred].each do |how|
      it "stores and reads with one adapter for the whole catalog, and shows no Sensitive, with --#{how}" do
        if how.start_with?('no-') && Puppet::PUPPETVERSION.start_with?('7')
          # Puppet 7 cannot apply a Sensitive without preprocessing.
          manifest.sub!("Deferred('new', [Sensitive, $value])", "Deferred('unwrap', [$value])")
          manifest.sub!('show_diff => true', 'show_diff => false')
        end
        output = apply("--#{how}")
        expect(output).to include('puttrue').and include('existstrue').and include('Applied catalog')
        expect(output.scan("Unknown option 'misspelt'").size).to eq(1)
        expect(output).not_to include('hush')
        expect(File.read(File.join(world.dir, 'target'))).to eq('hush')
        expect(File.file?(File.join(root, 'environments', 'production', 'b'))).to be(true)
      end
    end
  end

  it 'returns a secret with one call, which is a Sensitive' do
    given = options.to_json.gsub(':', ' => ')
    deferred = "Sensitive(Deferred('simpkv::secret', ['app1/db', #{given}]))"
    manifest = "file { '#{world.dir}/target': content => #{deferred} }"
    outputs = %w[before after].map do |content|
      File.write(File.join(world.dir, 'target'), content)
      ruby(PuppetCommand::SCRIPT, 'apply', '--color=false', *settings, '--modulepath', File.join(world.dir, 'modules'),
           '--show_diff', '--debug', '--execute', manifest)
    end
    made = world.call('simpkv::secret', 'app1/db', options).unwrap
    expect(File.read(File.join(world.dir, 'target'))).to eq(made)
    expect(outputs).to all(include('Applied catalog')).and(all(satisfy { |output| !output.include?(made) }))
  end

  # docs/bolt-and-deferred.md says so.
  it 'ends the run if it fails, with softfail too' do
    soft = options.merge('softfail' => true).to_json.gsub(':', ' => ')
    deferred = "Deferred('dig', [Deferred('simpkv::get', ['none', #{soft}]), 'value'])"
    manifest = "file { '#{world.dir}/target': content => #{deferred} } -> notify { 'later': }"
    output = ruby(PuppetCommand::SCRIPT, 'apply', '--color=false', *settings, '--modulepath',
                  File.join(world.dir, 'modules'), '--execute', manifest)
    expect(output).to match(/Warning: simpkv Error for simpkv::get with key='none'/)
      .and match(/Error: (Failed to apply catalog: .*nil|Got nil value for content)/)
    expect(output).not_to match(/Applied catalog|Notice: later/)
  end

  # Resolves a Deferred as puppet agent does after pluginsync, in a catalog of the environment dev.
  describe 'on an agent' do
    let(:agent) { <<-'RUBY' }
      require 'json'
      require 'puppet'
      Puppet.initialize_settings(ARGV.drop(1))
      Puppet.settings.preferred_run_mode = :agent
      environment = Puppet::Node::Environment.remote('dev')
      Puppet.override(current_environment: environment, loaders: Puppet::Pops::Loaders.new(environment, true)) do
        deferred = Puppet::Pops::Types::TypeFactory.deferred.create(*JSON.parse(ARGV.first))
        catalog = Puppet::Resource::Catalog.new('node', environment)
        catalog.add_resource(Puppet::Resource.new('notify', 'n', parameters: { message: deferred }))
        resolver = Puppet::Pops::Evaluator::DeferredResolver
        resolver.resolve_and_replace(nil, catalog, environment, Puppet[:preprocess_deferred])
        message = catalog.resource('Notify[n]')[:message]
        puts "answer: #{message.respond_to?(:resolve) ? message.resolve : message}"
      rescue LoadError, StandardError => e
        puts "#{e.class}: #{e.message}"
      end
    RUBY

    before do
      FileUtils.mkdir_p(File.join(world.dir, 'vardir'))
      FileUtils.cp_r(File.join(PuppetWorld::PROJECT, 'lib'), File.join(world.dir, 'vardir'))
      # The gem contains these files.
      FileUtils.rm_rf(Dir.glob(File.join(world.dir, 'vardir', 'lib', 'simpkv*')))
    end

    def deferred(function, *arguments, **how)
      ruby(agent, [function, arguments].to_json, *settings, **how)
    end

    it "stores in the environment of the agent's catalog" do
      expect(deferred('simpkv::put', 'k', 'é', {}, options)).to include('answer: true')
      expect(File.read(File.join(root, 'environments', 'dev', 'k'))).to include('é')
    end

    it 'requires backends in the options, as the agent has no Hiera data' do
      expect(deferred('simpkv::put', 'k', 'é')).to include(
        "ArgumentError: simpkv Configuration Error for simpkv::put with key='k': 'backends' must be in the options " \
        'of a Deferred call on an agent'
      )
    end

    it 'names the missing gem and the command that installs it' do
      without_gem = $LOAD_PATH - [File.join(PuppetWorld::PROJECT, 'lib')]
      expect(deferred('simpkv::get', 'k', options, load_path: without_gem))
        .to match(/LoadError: The gem 'simpkv' cannot be loaded.*puppet agent.*gem install simpkv'/)
    end
  end
end
