# frozen_string_literal: true

require 'simpkv/config/site_check'
require 'yaml'

# Of all gems: this one has the section `access`, and simpkv-estate, which it needs, the others.
# These sections, such as unknown_nodes: refuse, had no effect, and a misspelt option in them was no error.
RSpec.describe Simpkv::SiteFile, 'with sections beside simpkv::options' do
  backends = { 'default' => { 'type' => 'file', 'id' => 'x' } }
  estate = { 'unknown_nodes' => 'refuse' }
  foreign = { 'server' => { 'port' => 8140, 'name' => 'web' }, 'estate' => 'Main Street 1', 'access' => %w[ssh],
              'backends' => { 'web' => { 'address' => '192.0.2.1' } }, 'state' => { 'of' => 'nothing' } }

  define_method(:read) do |name, more, options = { 'backends' => backends }|
    described_class.parse({ 'simpkv::options' => options }.merge(more).to_yaml, name)
  end

  it "reads all that is in the command's own file" do
    more = { 'estate' => estate, 'server' => { 'threads' => 3 }, 'access' => { 'users_dn' => 'ou=u' },
             'softfail' => true, 'estat' => estate }
    expect(read('/etc/simpkv/simpkv.yaml', more)).to eq({ 'backends' => backends }.merge(more))
    expect(read('simpkv.yaml', { 'backends' => backends }, {})).to eq('backends' => backends)
    expect(Simpkv::Config.site_doubts(read('simpkv.yaml', more)))
      .to eq(["Unknown option 'estat' in simpkv configuration: did you mean 'estate'?"])
  end

  it 'leaves what cannot belong to simpkv in a file of Hiera alone' do
    [['common.yaml', {}], ['simpkv.yaml', { 'a::b' => 1 }]].each do |name, more|
      expect(read(name, foreign.merge(more))).to eq('backends' => backends)
    end
  end

  it 'reads what belongs to simpkv in a file of Hiera, whole' do
    more = { 'estate' => { 'unknwon_nodes' => 'refuse' }, 'server' => { 'threads' => 3, 'port' => 8140 },
             'backends' => backends, 'a::b' => 1, 'web' => { 'threads' => 3 } }
    expect(read('common.yaml', more, {})).to eq(more.slice('estate', 'server', 'backends'))
  end

  it 'refuses a section that is in both places, and one of a misspelt name' do
    %w[common.yaml simpkv.yaml].each do |name|
      expect { read(name, { 'estate' => estate }, { 'backends' => backends, 'estate' => {} }) }
        .to raise_error(Simpkv::ConfigError, /\A#{name}: 'estate' is in 'simpkv::options' and beside it: remove/)
    end
    expect { read('common.yaml', { 'estat' => estate }) }
      .to raise_error(Simpkv::ConfigError, /'estat', beside 'simpkv::options', has options of the section 'estate'/)
  end
end

RSpec.describe Simpkv::SiteCheck, 'with sections' do
  default = { 'type' => 'file', 'id' => 'site' }

  def check(site)
    described_class.check(site.to_yaml, 'a.yaml', %w[file ldap own])
  end

  it 'accepts all of them' do
    check('backends' => { 'default' => default, 'b' => default.merge('id' => 'b') },
          'estate' => { 'backend' => 'b', 'reports' => 9 }, 'server' => { 'threads' => 3 },
          'access' => { 'users_dn' => 'ou=a,dc=b', 'roles_dn' => 'ou=b,dc=b' })
  end

  it 'needs the default backend only for an estate that names none' do
    check('backends' => { 'b' => default }, 'estate' => { 'backend' => 'b' })
    expect { check('backends' => { 'b' => default }, 'estate' => { 'reports' => 9 }) }
      .to raise_error(Simpkv::ConfigError, /No simpkv backend 'default'/)
  end

  { { 'estate' => { 'wrong' => 1 } } => /Unknown option 'wrong' of 'estate'/,
    { 'estate' => { 'backend' => 'b' } } => /No simpkv backend 'b'/,
    { 'access' => { 'users_dn' => 'ou=a' } } => /'roles_dn' of 'access' is missing/,
    { 'server' => { 'threads' => 'pl4nted' } } => /\A(?!.*pl4nted).*'threads' of 'server' must be/ }
    .each do |sections, message|
    it "refuses #{sections}, and shows no value" do
      expect { check({ 'backends' => { 'default' => default } }.merge(sections)) }
        .to raise_error(Simpkv::ConfigError, message)
    end
  end
end
