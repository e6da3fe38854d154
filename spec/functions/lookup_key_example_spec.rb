# frozen_string_literal: true

require_relative '../puppet_helper'

# Real catalogs, over the hiera.yaml of docs/hiera.md, with a backend in files.
RSpec.describe 'The hiera.yaml in docs/hiera.md' do
  let!(:world) { PuppetWorld.new }
  let(:backends) do
    { 'default' => { 'type' => 'file', 'id' => 'site', 'root_path' => File.join(world.dir, 'keys') } }
  end
  let(:manifest) { <<~PUPPET }
    class profile::db(Integer $port, Sensitive[String] $password) { notify { "${port} ${password.unwrap}": } }
    include profile::db
  PUPPET

  # @return [Object] the data of the page's YAML block that begins with this text
  def documented(beginning)
    page = File.read(File.expand_path('../../docs/hiera.md', __dir__), encoding: 'UTF-8')
    blocks = page.scan(/^( *)```yaml\n(.*?)^\1```/m).map { |indent, lines| lines.gsub(/^#{indent}/, '') }
    YAML.safe_load(blocks.find { |block| block.start_with?(beginning) }, aliases: true)
  end

  # Writes the hierarchy of the page, with further levels in front, and the data of the page.
  def use(*levels, data: documented('# data/common.yaml'))
    hiera = documented('# hiera.yaml')
    hiera['hierarchy'].unshift(*levels).each do |level|
      level['options'] = level['options'].merge('backends' => backends) if level.key?('options')
    end
    write('hiera.yaml', hiera)
    write('data/common.yaml', data)
    world.fresh_environment
  end

  def write(name, data)
    file = File.join(world.dir, name)
    FileUtils.mkdir_p(File.dirname(file))
    File.write(file, data.to_yaml)
  end

  before do
    { 'port' => 5432, 'password' => 'secret' }.each do |name, value|
      world.call('simpkv::put', "hiera/common/profile::db::#{name}", value, {}, { 'backends' => backends })
    end
  end

  after { world.close }

  it 'gives values to an Integer and a Sensitive parameter (all values were Sensitive, and the Integer failed)' do
    use
    expect(world.compile(manifest).resource('Notify', '5432 secret')).not_to be_nil
  end

  it 'gives values to both with the level for secrets, without lookup_options' do
    level = documented('- name: stored secrets').first
    use(level, data: {})
    expect(world.compile(manifest).resource('Notify', '5432 secret')).not_to be_nil
  end

  it 'fails for the Integer if the whole level is sensitive, as the page says' do
    use({ 'name' => 'all', 'lookup_key' => 'simpkv::lookup_key',
          'options' => { 'folder' => 'hiera/common', 'sensitive' => true } })
    expect { world.compile(manifest) }.to raise_error(/expects an Integer value, got Sensitive\[Integer\]/)
  end

  it 'has valid options' do
    levels = documented('# hiera.yaml')['hierarchy'].select { |level| level['lookup_key'] == 'simpkv::lookup_key' }
    expect(levels.map { |level| Simpkv::Config.level(level['options'])['folder'] })
      .to eq(['hiera/nodes/%{trusted.certname}', 'hiera/common'])
  end

  it 'causes one warning in a catalog for an unknown option of its backend' do
    backends['default']['rot_path'] = '/x'
    use
    world.compile(manifest)
    expect(world.warnings.grep(/did you mean 'root_path'/).size).to eq(1)
  end
end
