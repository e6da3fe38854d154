# frozen_string_literal: true

require_relative '../support/page'
require_relative '../support/puppet_command'
require_relative 'command_helper'

# The options come from Hiera through the real `puppet lookup`, with a configuration of this spec.
RSpec.describe 'simpkv --from-puppet' do
  include_context 'with the command'

  let(:path) { "#{File.join(folder, 'bin')}:#{ENV.fetch('PATH')}" }

  before do
    code = File.join(folder, 'code/environments')
    %w[production dev].each { |name| FileUtils.mkdir_p(File.join(code, name, 'data')) }
    hierarchy = [{ 'name' => 'all', 'path' => 'all.yaml' }]
    File.write(File.join(code, 'production/hiera.yaml'), { 'version' => 5, 'hierarchy' => hierarchy }.to_yaml)
    FileUtils.cp(File.join(code, 'production/hiera.yaml'), File.join(code, 'dev'))
    hiera('production', 'hiera')
    hiera('dev', 'dev')
    FileUtils.mkdir_p(File.join(folder, 'bin'))
    write_puppet
  end

  # Writes Hiera data with a backend in a folder of that name.
  def hiera(environment, name)
    backend = { 'type' => 'file', 'id' => name, 'root_path' => File.join(folder, name) }
    data = { 'simpkv::options' => { 'backends' => { 'default' => backend } } }
    File.write(File.join(folder, 'code/environments', environment, 'data/all.yaml'), data.to_yaml)
  end

  # Puts the puppet of the bundle on the PATH.
  def write_puppet
    File.write(program = File.join(folder, 'bin/of-the-bundle'), PuppetCommand.program, perm: 0o755)
    File.write(File.join(folder, 'bin/puppet'), <<~SHELL, perm: 0o755)
      #!/bin/sh
      echo "$@" > #{folder}/asked
      command=$1
      shift
      exec #{program} "$command" --confdir #{folder}/conf \\
        --vardir #{folder}/var --codedir #{folder}/code --facts #{folder}/facts.yaml "$@"
    SHELL
    File.write(File.join(folder, 'facts.yaml'), "kernel: Linux\n")
  end

  def from_puppet(*arguments)
    simpkv('--from-puppet', *arguments, environment: { 'PATH' => path })
  end

  it 'stores keys in the place of manifests' do
    expect(from_puppet('put', 'a', 'x').to_a).to eq(['', '', 0])
    expect(File.read(File.join(folder, 'hiera/environments/production/a'))).to include('"x"')
    expect(from_puppet('explain', 'a').out).to match(/^chosen: +by default, from Hiera$/)
  end

  it 'looks up the data of the environment and the node' do
    facts = JSON.parse(from_puppet('explain', 'a', '-e', 'dev', '--node', 'db1.example.com', '-o', 'json').out)
    expect(facts).to include('id' => 'dev')
    expect(File.read(File.join(folder, 'asked'))).to include('--environment dev --node db1.example.com')
  end

  it 'uses the defaults if Hiera has no options (it refused their type)' do
    File.write(File.join(folder, 'code/environments/production/data/all.yaml'), "{}\n")
    expect(JSON.parse(from_puppet('explain', 'a', '-o', 'json').out)).to include('id' => 'auto_default')
  end

  it 'explains a failed lookup in one line' do
    File.write(File.join(folder, 'code/environments/production/data/all.yaml'), "simpkv::options: pl4nted-value\n")
    outcome = from_puppet('ls')
    expect([outcome.code, outcome.err]).to eq([78, "simpkv: 'simpkv::options' in Hiera is not a Hash\n"])
    File.write(File.join(folder, 'code/environments/production/hiera.yaml'), "version: 5\nhierarchy: pl4nted\n")
    outcome = from_puppet('ls')
    expect([outcome.code, outcome.err]).to match([78, /\Asimpkv: puppet lookup failed: Error: .*\n\z/])
  end

  describe 'with the data of docs/functions.md for branches' do
    manifest = <<~PUPPET
      $password = simpkv::get_or_create('app1/db_password') |$key| { "made in ${environment}" }
      notice("password: ${password['value']}")
    PUPPET

    before do
      FileUtils.mkdir_p(File.join(folder, 'modules'))
      File.symlink(File.expand_path('../..', __dir__), File.join(folder, 'modules/simpkv'))
      %w[production feature_x feature_y].each { |name| write_branch(File.join(folder, 'code/environments', name)) }
    end

    def write_branch(place)
      Page.new('functions.md').blocks('Environments of branches', 'yaml').each do |block|
        file = File.join(place, block[/\A# (\S+)$/, 1])
        FileUtils.mkdir_p(File.dirname(file))
        File.write(file, block.gsub('/srv/simpkv', File.join(folder, 'store')))
      end
    end

    # @return [String] the password of an application, in a catalog of the environment
    define_method(:password_in) do |environment|
      command = [File.join(folder, 'bin/puppet'), 'apply', '--environment', environment, '--color=false',
                 '--basemodulepath', File.join(folder, 'modules'), '-e', manifest,
                 *%w[publicdir rundir logdir].map { |name| "--#{name}=#{File.join(folder, name)}" }]
      shown, status = Open3.capture2e(*command)
      expect(status).to be_success, shown
      shown[/password: (.*)/, 1]
    end

    it 'makes no new password in a new environment, and explain says why' do
      expect(%w[feature_x feature_y production].map { |name| password_in(name) })
        .to eq(['made in feature_x', 'made in feature_x', 'made in production'])
      Dir[File.join(folder, 'code/environments/*/data/environment/production.yaml')].each { |file| File.delete(file) }
      facts = from_puppet('explain', 'app1/db_password').out.lines
      expect(File.read(File.expand_path('../../docs/functions.md', __dir__))).to include(facts.first(3).join)
      expect(from_puppet('explain', '-e', 'feature_x', 'app1/db_password').out)
        .to match(/^belongs_to: +.* but functions use that of all environments, by 'global' in Hiera$/)
    end
  end

  it 'reports a missing puppet' do
    without = { 'PATH' => File.join(folder, 'nothing') }
    outcome = simpkv('--from-puppet', 'ls', environment: without)
    expect([outcome.code, outcome.err]).to match([78, /there is no puppet: put it on the PATH, or use --config/])
  end
end
