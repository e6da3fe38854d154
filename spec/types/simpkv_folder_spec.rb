# frozen_string_literal: true

require_relative 'types_helper'

# Examples beside the acceptance in purging_spec.rb.
RSpec.describe Puppet::Type.type(:simpkv_folder) do
  include_context 'with keys as resources'

  it 'is made before its keys and the folders below it, and removed after them' do
    apply!(<<~PUPPET)
      simpkv_key { 'app1/sub/a': value => 1 }
      simpkv_folder { 'app1/sub': ensure => present }
      simpkv_folder { 'app1': ensure => present }
    PUPPET
    expect(log.grep(/created/).map { |line| line[/Simpkv_\w+\[.*?\]/] })
      .to eq(%w[Simpkv_folder[app1] Simpkv_folder[app1/sub] Simpkv_key[app1/sub/a]])
    apply!(<<~PUPPET)
      simpkv_folder { 'app1': ensure => absent }
      simpkv_folder { 'app1/sub': ensure => absent }
      simpkv_key { 'app1/sub/a': ensure => absent }
    PUPPET
    expect(log.grep(/removed/).map { |line| line[/Simpkv_\w+\[.*?\]/] })
      .to eq(%w[Simpkv_key[app1/sub/a] Simpkv_folder[app1/sub] Simpkv_folder[app1]])
    expect(store.kind("#{KeysAsResources::PRODUCTION}/app1")).to be_nil
  end

  it 'removes each entry once if two folders purge it, also under two titles' do
    fill('app1/sub/a' => { value: 1 }, 'app1/sub/B' => { value: 2 }, 'app1/c' => { value: 3 })
    apply!(<<~PUPPET)
      simpkv_folder { 'app1': purge => true, recurse => true }
      simpkv_folder { 'the same': folder => 'app1/sub', purge => true }
    PUPPET
    expect(removed).to eq(key_resources('app1/c', 'app1/sub/a', 'app1/sub:unnamed-1'))
    expect(keys).to eq([])
  end

  it 'has as many generated resources as removals, if an entry comes between two purges' do
    fill('app1/sub/B' => { value: 1 })
    calls = 0
    before_listing { fill('app1/sub/A' => { value: 2 }) if (calls += 1) == 2 }
    apply!(<<~PUPPET)
      simpkv_folder { 'app1': purge => true, recurse => true }
      -> simpkv_folder { 'app1/sub': purge => true }
    PUPPET
    expect(removed).to eq(key_resources('app1/sub:unnamed-1', 'app1/sub:unnamed-1 (backend default)'))
    expect(keys).to eq([])
  end

  it 'purges after a change of its keys in the same run as before it' do
    fill('app1/a' => { value: 1 })
    apply!(<<~PUPPET)
      simpkv_key { 'app1/b': value => 1 }
      -> simpkv_folder { 'app1': purge => true }
      -> simpkv_key { 'app1/c': value => 1 }
    PUPPET
    expect(keys).to eq(%w[app1/b app1/c])
  end

  it 'purges nothing if it is absent, or if purge is false' do
    fill('app1/a' => { value: 1 })
    apply!("simpkv_folder { 'app1': purge => false }")
    apply("simpkv_folder { 'app1': ensure => absent, purge => true }")
    expect(failed).to eq(%w[Simpkv_folder[app1]])
    expect(keys).to eq(%w[app1/a])
  end

  it 'purges nothing if the place of a key is unknown' do
    fill('app1/a' => { value: 1 })
    apply("simpkv_folder { 'app1': purge => true } simpkv_key { 'app1/b': value => 1, backend => 'unknown' }")
    expect(failed).to eq(%w[Simpkv_folder[app1] Simpkv_key[app1/b]])
    expect(keys).to eq(%w[app1/a])
  end

  it 'loses no key that another client stores while it is removed (it was removed with the folder)' do
    store.create_folder("#{KeysAsResources::PRODUCTION}/app1")
    %i[deletetree delete_folder].each do |removal|
      allow_any_instance_of(Simpkv::Store).to receive(removal).and_wrap_original do |original, folder|
        fill('app1/new' => { value: 1 })
        original.call(folder)
      end
    end
    apply("simpkv_folder { 'app1': ensure => absent }")
    expect([failed, keys]).to eq([%w[Simpkv_folder[app1]], %w[app1/new]])
    expect(log.join).to include("it is not empty, the key 'new' is in it: delete its contents first, or set 'recurse'")
  end

  it 'is refused under two titles, before anything is written (each did what the other one undid)' do
    { "'app1': ensure => present" => "'the same': folder => '/app1/', ensure => absent",
      "'/': purge => true" => "'//': " }.each do |first, second|
      expect { apply("simpkv_key { 'k': value => 1 } simpkv_folder { #{first}; #{second} }") }
        .to raise_error(Puppet::Error)
      expect(log.join).to match(/Simpkv_folder.* and Simpkv_folder.* are the same folder: remove one of them/)
    end
    expect(keys).to eq([])
    apply!("simpkv_folder { 'app1': ensure => present; 'global app1': folder => 'app1', global => true }")
  end

  it 'names the folder of all keys in the titles of entries without a usable name (they began with a colon)' do
    fill('A' => { value: 1 }, 'Bad/B' => { value: 1 })
    apply!("simpkv_folder { '/': purge => true, recurse => true }")
    expect(removed).to eq(key_resources('/:unnamed-1', '/:unnamed-2'))
    fill('A' => { value: 1 }, 'B' => { value: 1 })
    apply!("simpkv_key { '/:unnamed-1': ensure => absent }")
    expect(keys).to eq(%w[B])
  end

  describe 'with links in a store of files' do
    let(:production) { File.join(root, KeysAsResources::PRODUCTION) }

    before do
      fill('app1/own' => { value: 1 })
      fill({ 'app1/url' => { value: 1 } }, 'environments/testing')
    end

    it 'removes the links to keys, and nothing behind a link' do
      File.symlink('../../testing/app1/url', File.join(production, 'app1/url'))
      File.symlink('../../testing/app1', File.join(production, 'app1/more'))
      apply!("simpkv_folder { 'app1': purge => true, recurse => true }")
      expect(removed).to eq(key_resources('app1/own', 'app1/url'))
      apply!("simpkv_folder { 'app1': ensure => absent, recurse => true }")
      expect([keys, keys(prefix: 'environments/testing')]).to eq([[], %w[app1/url]])
    end

    # Anyone who could make a link blocked the rotation of a password.
    it 'manages the keys and folders in it beside entries that it cannot remove (they were skipped in every run)' do
      others = %w[dangling outside fifo].map { |name| File.join(production, 'app1', name) }
      File.symlink('nowhere', others[0])
      File.symlink('/etc/hostname', others[1])
      File.mkfifo(others[2])
      apply(<<~PUPPET)
        simpkv_folder { 'app1': purge => true, recurse => true }
        simpkv_folder { 'app1/sub': ensure => present }
        simpkv_key { ['app1/managed', 'app1/sub/managed']: value => 'rotated' }
      PUPPET
      expect(failed).to eq(key_resources(*(1..3).map { |number| "app1:unnamed-#{number}" }))
      expect(changed).to include('Simpkv_key[app1/managed]', 'Simpkv_key[app1/sub/managed]', 'Simpkv_key[app1/own]')
    ensure
      FileUtils.rm_f(others)
    end

    it 'purges no folder behind a link (it removed keys of another environment)' do
      File.symlink('../testing/app1', File.join(production, 'app2'))
      File.symlink('../testing', File.join(production, 'all'))
      apply("simpkv_folder { ['app2', 'all/app1']: purge => true, recurse => true }")
      expect(failed).to eq(%w[Simpkv_folder[all/app1] Simpkv_folder[app2]])
      expect(log.grep(/the link '(app2|all)' is not followed: name the folder to which it leads/).length).to eq(2)
      expect(keys(prefix: 'environments/testing')).to eq(%w[app1/url])
    end

    it 'removes no folder behind a link with its keys (it removed keys of another environment)' do
      File.symlink('../testing', File.join(production, 'all'))
      File.symlink('../testing/app1', File.join(production, 'app2'))
      apply("simpkv_folder { ['all/app1', 'app2']: ensure => absent, recurse => true }")
      expect(failed).to eq(%w[Simpkv_folder[all/app1] Simpkv_folder[app2]])
      expect(log.grep(/the link '(app2|all)' is not followed/).length).to eq(2)
      expect(keys(prefix: 'environments/testing')).to eq(%w[app1/url])
    end

    # The check for links came before the listing and the removals.
    it 'removes nothing behind a link that takes the place of a folder meanwhile (it removed keys behind it)' do
      documents = { 'app1/own' => { value: 1 }, 'app1/broken' => 'broken' }
      fill(documents)
      fill(documents, 'environments/testing')
      after_listing do
        File.rename(File.join(production, 'app1'), File.join(production, 'moved'))
        File.symlink('../testing/app1', File.join(production, 'app1'))
      end
      apply("simpkv_folder { 'app1': purge => true }")
      expect(failed).to eq(key_resources('app1/own', 'app1:unnamed-1'))
      expect(log.grep(/^err/)).to all(include("the link 'app1' is not followed"))
      expect(keys(prefix: 'environments/testing')).to eq(%w[app1/broken app1/own app1/url])
    end
  end

  it 'purges as often as its schedule says (each new key was removed at once)' do
    manifest = "schedule { 'daily': period => daily } simpkv_folder { 'app1': purge => true, schedule => 'daily' }"
    %w[first second].each do |name|
      fill("app1/#{name}" => { value: 1 })
      apply!(manifest)
    end
    expect(keys).to eq(%w[app1/second])
    apply!(manifest, ignoreschedules: true)
    expect(keys).to eq([])
  end

  it 'of all keys cannot be absent' do
    ["simpkv_folder { '/': ensure => absent }", "simpkv_folder { 'x': folder => '//', ensure => absent }"]
      .each { |manifest| expect { apply(manifest) }.to raise_error(Puppet::Error, /has all keys of an environment/) }
  end

  it 'refuses a limit that is no number' do
    expect { apply("simpkv_folder { 'app1': purge_limit => 'many' }") }
      .to raise_error(Puppet::Error, /the limit must be a number, 0 or greater/)
    fill('app1/a' => { value: 1 })
    apply("simpkv_folder { 'app1': purge => true, purge_limit => '0' }")
    expect([failed, keys]).to eq([%w[Simpkv_folder[app1]], %w[app1/a]])
  end
end
