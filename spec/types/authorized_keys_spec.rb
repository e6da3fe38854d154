# frozen_string_literal: true

require_relative 'authorized_keys_helper'

RSpec.describe 'simpkv::authorized_keys' do
  include_context 'with authorized keys'

  let(:key) { SshKeys.text }
  let(:other) { SshKeys.text(SshKeys::ED25519, 2) }
  let(:purging) { 'purge => true' }

  def compile(parameters = '', before: '')
    world.compile(before + authorized_keys(parameters))
  end

  # @return [Hash{String => Hash}] the parameters of the resources, by title
  def resources(catalog, type = 'Ssh_authorized_key')
    catalog.resources.select { |resource| resource.type == type }.to_h { |each| [each.title, each.to_hash] }
  end

  # @return [Hash{String => Hash}] the parameters of the resources that manage a file, by title
  def purges(catalog)
    resources(catalog, 'Simpkv_ssh_purge')
  end

  it 'declares a key for each stored one, under its comment' do
    fill('a' => SshKeys.value(key, 'felix@laptop', ['no-pty', 'from="a,b"']),
         'b' => SshKeys.value(other, 'Felix at home'))
    catalog = compile
    expect(resources(catalog)).to match(
      'felix@laptop' => include(user: 'felix', type: 'ssh-ed25519', key: key.split.last, ensure: 'present',
                                options: ['no-pty', 'from="a,b"']),
      'Felix at home' => include(user: 'felix', key: other.split.last)
    )
    expect(resources(catalog)['Felix at home'].keys).not_to include(:options, :target)
    expect(resources(catalog, 'User')).to be_empty
  end

  it 'passes target and ensure on, and accepts keys without options and comment' do
    fill('a' => SshKeys.value(key).reject { |name, _| %w[options comment].include?(name) })
    catalog = compile("user => 'deploy', target => '/srv/keys', ensure => absent")
    expect(resources(catalog))
      .to match('felix/a' => include(user: 'deploy', target: '/srv/keys', ensure: 'absent'))
    expect(purges(catalog))
      .to match('felix' => include(user: 'deploy', target: '/srv/keys', purge: false, keys: [key.split.last]))
  end

  it 'makes titles of their own for keys without a comment that is unique and can be read back' do
    comments = ['', 'twice', 'twice', 'taken', ' blank', 'blank ', "a\tb", "a\u009bb", "a\nb", 'was ssh-rsa AAAA',
                'sk-ssh-ed25519@openssh.com x', '/home/felix/.ssh/authorized_keys:unnamed-1']
    fill(comments.each_with_index.to_h { |comment, number| [format('k%02d', number), SshKeys.value(key, comment)] })
    declared = "ssh_authorized_key { 'taken': user => 'felix', key => 'AAAA', type => 'ssh-rsa' }\n"
    expect(resources(compile(before: declared)).keys).to match_array(['taken', *(0..11).map do |n|
      format('felix/k%02d', n)
    end])
  end

  # It compared each key with each other one.
  it 'takes a time in proportion to the number of keys' do
    calls = [20, 40].map do |number|
      fill((1..number).to_h { |n| ["k#{n}", SshKeys.value(key, "comment #{n}")] })
      blocks = 0
      trace = TracePoint.new(:call) { |call| blocks += 1 if call.method_id == :combine_values_with_parameters }
      trace.enable { compile }
      blocks
    end
    expect(calls.last).to be_between(40, calls.first * 3)
  end

  it 'accepts two users with the same comment, and one folder for two users' do
    fill('a' => SshKeys.value(key, 'laptop'))
    fill({ 'b' => SshKeys.value(other, 'laptop') }, 'anna')
    catalog = world.compile(authorized_keys('') + authorized_keys('', 'anna') +
                            authorized_keys("folder => 'ssh/felix', user => 'deploy'", 'shared'))
    expect(resources(catalog).transform_values { |each| each.values_at(:user, :key) })
      .to eq('laptop' => ['felix', key.split.last], 'anna/b' => ['anna', other.split.last],
             'shared/a' => ['deploy', key.split.last])
  end

  {
    'another type' => ->(value) { value.merge('type' => SshKeys::UNMANAGED) },
    'key data that are no base64' => ->(value) { value.merge('key' => "AAAA\npl4nted") },
    'an option that is not quoted' => ->(value) { value.merge('options' => ['command=pl4nted']) },
    'an option with a quote' => ->(value) { value.merge('options' => ['command="pl4nted" pl4nted"']) },
    'an option without a value' => ->(value) { value.merge('options' => ['command=""']) },
    'an option with a newline' => ->(value) { value.merge('options' => ["command=\"a\npl4nted\""]) },
    'a comment that is no text' => ->(value) { value.merge('comment' => ['pl4nted']) },
    'an unknown member' => ->(value) { value.merge('pl4nted' => 1) },
    'another value' => ->(_) { 'pl4nted' },
    'a Sensitive' => ->(value) { value }
  }.each do |what, change|
    it "refuses #{what}, and names the key" do
      fill('a' => SshKeys.value(other, 'good'))
      document = Simpkv::Codec.encode(change.call(SshKeys.value(key)), {})
      document = '{"value":{"__ptype":"Sensitive","__pvalue":"pl4nted"},"encoding":"pcore"}' if what == 'a Sensitive'
      store.put('environments/production/ssh/felix/b', document)
      expect { compile }.to raise_error(Puppet::Error) { |error|
        expect(error.message).to include("'ssh/felix/b' is not a key that the module sshkeys_core can manage")
        expect(error.message).not_to include('pl4nted')
      }
    end
  end

  describe 'with purge' do
    # It used to set purge_ssh_keys, for which Puppet reads the file as root.
    it 'declares no user, and leaves a declared one as it is, whatever comes first' do
      fill('a' => SshKeys.value(key, 'a'))
      expect(resources(compile(purging), 'User')).to be_empty
      expect(purges(compile(purging))).to match('felix' => include(purge: true, central: false, keys: []))
      declared = "user { 'felix': purge_ssh_keys => true }\n"
      [declared + authorized_keys(purging), authorized_keys(purging) + declared].each do |manifest|
        expect(resources(world.compile(manifest), 'User')['felix']).to include(purge_ssh_keys: true)
      end
    end

    it 'refuses a missing folder, and one without keys, unless allow_empty is set' do
      fill({ 'a' => SshKeys.value(key, 'a') }, 'felix/below')
      store.put('environments/production/x', Simpkv::Codec.encode(1, {}))
      [[purging, 'felix'], ['', 'felix']].each do |parameters, title|
        expect { world.compile(authorized_keys(parameters, title)) }
          .to raise_error(Puppet::Error, %r{the folder 'ssh/felix' has no keys})
        expect do
          world.compile(authorized_keys(parameters, 'anna'))
        end.to raise_error(Puppet::Error, %r{ssh/anna' not found})
      end
      expect(purges(compile("#{purging}, allow_empty => true"))).to match('felix' => include(purge: true))
      ['allow_empty => true', 'ensure => absent'].each do |empty|
        expect(purges(world.compile(authorized_keys("#{purging}, #{empty}", 'anna'))))
          .to match('anna' => include(user: 'anna', purge: true))
      end
    end

    it 'purges nothing if the backend fails and softfail is set, and otherwise fails' do
      fill('a' => SshKeys.value(key, 'a'))
      store.put('environments/production/ssh/felix/b', 'torn')
      failing = authorized_keys(purging).sub('backends =>', 'skip_undecodable => true, backends =>')
      expect { world.compile(failing) }.to raise_error(Puppet::Error, %r{Failed to deserialize|ssh/felix})
      catalog = world.compile(failing.sub('backends =>', 'softfail => true, backends =>'))
      expect(%w[Ssh_authorized_key User Simpkv_ssh_purge].map { |type| resources(catalog, type) }).to all(be_empty)
    end
  end

  it 'manages the users of examples/ssh, two of them in one account' do
    fill('a' => SshKeys.value(key, 'laptop'))
    fill({ 'b' => SshKeys.value(other) }, 'anna')
    store.put('globals/ssh/root/c', Simpkv::Codec.encode(SshKeys.value(other, 'admin'), {}))
    world.hiera = { 'backends' => backends }
    catalog = world.compile(File.read(File.expand_path('../../examples/ssh/site.pp', __dir__)))
    expect(resources(catalog).transform_values { |each| each[:user] })
      .to eq('laptop' => 'felix', 'deploy-felix/a' => 'deploy', 'deploy-anna/b' => 'deploy', 'admin' => 'root')
    expect(resources(catalog, 'User').keys).to eq(%w[felix deploy])
  end

  it 'leaves a file that another process changes during a purge' do
    file = File.join(folder, 'authorized_keys')
    File.write(file, "#{key} a\n#{other} a\n")
    world.inside do
      purge = Puppet::Type.type(:simpkv_ssh_purge).new(name: 'felix', user: user, target: file)
      Puppet::Resource::Catalog.new.add_resource(purge)
      purge[:purge] = false
      purge[:keys] = key.split.last
      expect(purge.retrieve[:overlooked]).to eq('in lines 1 ("a")')
      File.write(file, "#{other} b\n", mode: 'a')
      expect { purge.property(:overlooked).sync }.to raise_error(Puppet::Error, /was changed meanwhile/)
      expect(File.read(file).lines.length).to eq(3)

      purge.retrieve
      purge.property(:overlooked).sync
      expect(File.read(file)).to eq("#{other} a\n#{other} b\n")
    end
  end

  it 'refuses a central file without a target' do
    fill('a' => SshKeys.value(key, 'a'))
    expect { compile('central => true') }.to raise_error(Puppet::Error, /'central' needs 'target'/)
  end
end
