# frozen_string_literal: true

require_relative 'types_helper'

# The worked example: three keys that the catalog manages, two that it does not, and three entries without a usable
# name, of which two have equal content.
RSpec.shared_examples 'a folder that is purged' do
  let(:manifest) { <<~PUPPET }
    simpkv_folder { 'app1': ensure => present, purge => true }
    simpkv_key {
      'app1/url':      value => 'http://app1.example.org';
      'app1/port':     value => 8080, metadata => { 'owner' => 'ops' };
      'app1/password': value => Sensitive('pl4nted-managed');
    }
  PUPPET
  let(:managed) { %w[app1/password app1/port app1/url] }
  let(:unmanaged) { key_resources('app1/old', 'app1/older', 'app1:unnamed-1', 'app1:unnamed-2', 'app1:unnamed-3') }

  before do
    equal = { value: 'of two entries' }
    fill('app1/url' => { value: 'http://app1.example.org' }, 'app1/port' => { value: 80 },
         'app1/old' => { value: 1 }, 'app1/older' => { value: 'pl4nted-unmanaged' },
         'app1/A Name' => equal, 'app1/B Name' => equal, 'app1/broken' => 'pl4nted-no-document',
         'app1/below/kept' => { value: 1 }, 'app2/kept' => { value: 1 }, 'kept' => { value: 1 })
    fill({ 'app1/kept' => { value: 1 } }, 'environments/testing')
    fill({ 'app1/kept' => { value: 1 } }, 'globals')
  end

  it 'keeps the managed keys, loses exactly the others, and is unchanged by a second run' do
    apply!(manifest)
    expect(removed).to eq(unmanaged)
    expect(keys).to eq([*managed, 'app1/below/kept', 'app2/kept', 'kept'].sort)
    expect([keys(prefix: 'environments/testing'), keys(prefix: 'globals')]).to eq([['app1/kept'], ['app1/kept']])
    expect(documents.values_at('app1/port', 'app1/url'))
      .to eq(['{"value":8080,"metadata":{"owner":"ops"}}', '{"value":"http://app1.example.org","metadata":{}}'])
    after = documents
    apply!(manifest)
    expect([changed, removed, documents]).to eq([[], [], after])
    expect(log.join).not_to include('pl4nted-')
  end

  it 'is only told of with noop' do
    before = documents
    apply!(manifest, noop: true)
    expect(removed('noop')).to eq(unmanaged)
    expect([changed, documents]).to eq([[], before])
    # Puppet 7 named the title only.
    expect(log.grep(/unnamed-2/)).to match([include("'environments/production/app1/B Name'")])
    expect(log.join).not_to include('pl4nted-')
  end
end

RSpec.describe 'simpkv_folder with purge' do
  context 'with files' do
    include_context 'with keys as resources'
    it_behaves_like 'a folder that is purged'
  end

  Directories::ALL.each do |server, layout, tags|
    context "with #{server.name} and layout #{layout}", **tags do
      include_context 'with keys in a directory', server, layout: layout
      it_behaves_like 'a folder that is purged'
    end
  end
end

RSpec.describe 'A purge' do
  include_context 'with keys as resources'

  let(:old) { { value: 'old' } }

  it 'removes the keys below the folder with recurse, and leaves the folders' do
    fill('app1/a' => old, 'app1/b/c' => old, 'app1/b/d/E' => old, 'app1/b/d/e' => 'broken', 'app1/M/x' => old)
    apply!("simpkv_folder { 'app1': purge => true, recurse => true } simpkv_key { 'app1/b/c': value => 1 }")
    expect(keys).to eq(%w[app1/b/c])
    expect(removed).to eq(key_resources('app1/a', 'app1/b/d:unnamed-1', 'app1/b/d:unnamed-2', 'app1:unnamed-1'))
    expect(store.tree(described_folder)[:folders]).to include('M', 'b/d')
  end

  def described_folder
    "#{KeysAsResources::PRODUCTION}/app1"
  end

  # The purge would otherwise remove what the same run has written.
  it 'compares keys by their places, not by titles' do
    fill('app1/x' => old, 'app1/y' => old, 'app1/z' => old)
    apply!(<<~PUPPET)
      simpkv_folder { 'all of app1': folder => 'app1/', purge => true }
      simpkv_key {
        'the x':   key => 'app1/x', value => 1;
        'app1//y': value => 2;
      }
    PUPPET
    expect(keys).to eq(%w[app1/x app1/y])
    expect(removed).to eq(['Simpkv_key[all of app1/z]'])
  end

  it 'never removes a managed key whose document cannot be read, and counts it as an unnamed entry' do
    fill('app1/managed' => 'broken', 'app1/other' => 'broken')
    apply("simpkv_folder { 'app1': purge => true } simpkv_key { 'app1/managed': value => 'mended' }")
    expect(keys).to eq(%w[app1/managed])
    expect(removed).to eq(['Simpkv_key[app1:unnamed-2]'])
    apply!("simpkv_folder { 'app1': purge => true } simpkv_key { 'app1/managed': value => 'mended' }")
    expect(documents).to eq('app1/managed' => '{"value":"mended","metadata":{}}')
  end

  it 'does not remove a key that the catalog wants to be absent twice' do
    fill('app1/gone' => old)
    apply!("simpkv_folder { 'app1': purge => true } simpkv_key { 'app1/gone': ensure => absent }")
    expect([removed, keys]).to eq([['Simpkv_key[app1/gone]'], []])
  end

  it 'neither makes nor needs a folder that is missing and not managed' do
    apply!("simpkv_folder { 'app1': purge => true, recurse => true }")
    expect(removed).to eq([])
  end

  it 'of the root folder removes the keys of the environment only' do
    fill('a' => old, 'b/c' => old)
    fill({ 'a' => old }, 'environments/testing')
    apply!("simpkv_folder { '/': purge => true, recurse => true } simpkv_key { 'b/d': value => 1 }")
    expect([keys, keys(prefix: 'environments/testing')]).to eq([%w[b/d], %w[a]])
  end

  it 'of global keys leaves those of environments, and the other way round' do
    [KeysAsResources::PRODUCTION, 'globals'].each { |prefix| fill({ 'app1/a' => old, 'app1/b' => old }, prefix) }
    apply!(<<~PUPPET)
      simpkv_folder { 'app1': purge => true, global => true }
      simpkv_key { 'app1/a': value => 1, global => true }
      simpkv_key { 'app1/b in production': key => 'app1/b', value => 1 }
    PUPPET
    expect([keys, keys(prefix: 'globals')]).to eq([%w[app1/a app1/b], %w[app1/a]])
  end

  # It used to remove the facts, exported resources and rules of all nodes.
  it 'of all global keys leaves those of the estate' do
    fill({ 'estate/inventory/web1' => old, 'estates/x' => old, 'a' => old }, 'globals')
    apply!("simpkv_folder { '/': purge => true, recurse => true, global => true }")
    expect(keys(prefix: 'globals')).to eq(%w[estate/inventory/web1])
  end

  it 'removes an entry whose name is as long as a name can be' do
    long = 'a' * 255
    fill("app1/#{long}" => old, "app1/#{'B' * 255}" => old)
    apply!("simpkv_folder { 'app1': purge => true }")
    expect(keys).to eq([])
    expect(removed).to eq(key_resources("app1/#{long}", 'app1:unnamed-1'))
  end

  # File names need not be UTF-8.
  it 'removes entries whose names are no text, and prints none of their bytes' do
    fill('app1/a' => old)
    ["\xff\xfe", "line\nbreak", "tab\tand \e[31mred", 'ünïcode', '.hidden', '-rf', "quo'te"].each do |name|
      File.binwrite(File.join(root, KeysAsResources::PRODUCTION, 'app1', name), '{"value":1}')
    end
    apply!("simpkv_folder { 'app1': purge => true } simpkv_key { 'app1/a': value => 1 }")
    expect(Dir.children(File.join(root, KeysAsResources::PRODUCTION, 'app1'))).to eq(['a'])
    expect(removed).to include('Simpkv_key[app1/.hidden]', 'Simpkv_key[app1/-rf]', 'Simpkv_key[app1:unnamed-5]')
    expect(log.join("\n").b).not_to match(/\e|\xff/n)
  end

  # A key may have such a name itself.
  it 'gives no two entries one title, if keys are named as such titles are' do
    fill('app1/A' => old, 'app1/B' => old, 'app1:unnamed-1' => old, 'app1/x:unnamed-1' => old, 'x/y' => old)
    apply!("simpkv_folder { ['app1', '/']: purge => true }")
    expect([keys, removed.length]).to eq([%w[x/y], 4])
  end

  it 'names a key of another backend apart from a resource that has its title' do
    other = File.join(scratch, 'other')
    into = Simpkv::Store.open('file', 'root_path' => other)
    fill({ 'app1/x' => old, 'app1/y' => old }, KeysAsResources::PRODUCTION, into)
    apply!(<<~PUPPET)
      $other = { 'type' => 'file', 'id' => 'other', 'root_path' => '#{other}' }
      simpkv_folder { 'app1': purge => true, backend => $other }
      simpkv_key { 'app1/x': value => 'in the default backend' }
    PUPPET
    expect([keys, keys(from: into)]).to eq([%w[app1/x], []])
    expect(removed.length).to eq(2)
    expect(removed).to include('Simpkv_key[app1/y]', a_string_starting_with('Simpkv_key[app1/x (backend '))
  ensure
    into.close
  end

  it 'tells those that the folder notifies of each removal' do
    manifest = <<~PUPPET
      simpkv_folder { 'app1': purge => true, notify => Exec['reload'] }
      simpkv_key { 'app1/kept': value => 1 }
      exec { 'reload': command => '/bin/true', refreshonly => true }
    PUPPET
    fill('app1/gone' => old)
    apply!(manifest)
    expect(statuses.find { |each| each.resource == 'Exec[reload]' }.restarted).to be(true)
    apply!(manifest)
    expect(statuses.find { |each| each.resource == 'Exec[reload]' }.restarted).to be_falsy
  end
end

# DNs ignore case, so this entry is the managed one, under another spelling.
RSpec.describe 'A purge in the plain layout' do
  include_context 'with keys in a directory', Slapd, layout: 'plain'

  it 'fails in an environment with capital letters, and leaves the keys of its namesake' do
    fill({ 'app1/old' => { value: 1 } }, 'environments/dev')
    dev = PuppetWorld.new(environment: 'Dev', dir: world.dir)
    @report = dev.apply("simpkv_folder { 'app1': purge => true } simpkv_key { 'app2/x': value => 1 }")
    expect(failed).to eq(%w[Simpkv_folder[app1] Simpkv_key[app2/x]])
    expect(keys(prefix: 'environments/dev')).to eq(%w[app1/old])
  ensure
    dev&.close
  end

  it 'never removes a managed key in an environment with capital letters and fold_case (it was made and removed)' do
    write_options('default' => backend.merge('fold_case' => true))
    fill({ 'app1/old' => { value: 1 } }, 'environments/dev')
    dev = PuppetWorld.new(environment: 'Dev', dir: world.dir)
    2.times do
      @report = dev.apply("simpkv_key { 'app1/x': value => 1 } -> simpkv_folder { 'app1': purge => true }")
      expect([failed, keys(prefix: 'environments/dev')]).to eq([[], %w[app1/x]])
    end
    expect(changed).to eq([])
  ensure
    dev&.close
  end

  it 'never removes a managed key whose entry is spelt in capital letters' do
    fill('app1/URL' => { value: 'old' }, 'app1/other' => { value: 'old' })
    apply!("simpkv_folder { 'app1': purge => true } simpkv_key { 'app1/url': value => 'new' }")
    expect(documents).to eq('app1/URL' => '{"value":"new","metadata":{}}')
    expect(removed).to eq(key_resources('app1/other'))
  end

  it 'removes nothing if two resources give one backend different options (a managed key was removed)' do
    fill('app1/x' => { value: 1 })
    write_options('default' => { 'type' => 'file', 'id' => 'site', 'root_path' => root })
    same, other = [backend, backend.merge('base_dn' => backend['base_dn'].upcase)].map { |each| as_puppet(each) }
    apply("simpkv_key { 'app1/x': backend => #{same} } simpkv_folder { 'app1': purge => true, backend => #{other} }")
    expect([failed, keys]).to eq([%w[Simpkv_folder[app1]], %w[app1/x]])
    expect(log.join).to match(/different backend configs for type=ldap id=#{id}: they differ in base_dn/)
  end

  it 'removes an entry whose name is as long as a name can be' do
    fill("app1/#{'a' * 230}" => { value: 1 }, 'app1/b' => { value: 1 })
    apply!("simpkv_folder { 'app1': purge => true } simpkv_key { 'app1/b': value => 1 }")
    expect(keys).to eq(%w[app1/b])
  end

  # Another tool has made these.
  it 'removes entries with the names that DNs and filters escape' do
    fill('app1/b' => { value: 1 }, 'app1/a,b+c="d";<e>#*()\\' => { value: 1 }, 'app1/ outer ' => { value: 1 })
    apply!("simpkv_folder { 'app1': purge => true } simpkv_key { 'app1/b': value => 1 }")
    expect([keys, removed]).to eq([%w[app1/b], key_resources('app1:unnamed-1', 'app1:unnamed-2')])
  end
end
