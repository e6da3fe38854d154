# frozen_string_literal: true

require 'etc'
require_relative '../../../../spec/spec_helper'
require_relative '../../../../spec/support/key_file'
require_relative '../../../../spec/support/ldap_store'
require_relative '../../../../spec/support/processes'
require_relative '../../../../spec/support/scratch'
require 'simpkv/estate'

# Collectors used to find a part of the exported resources, and those that purge removed the others from the node. Here,
# each fault of a store meets a collector: it finds all of them, or it fails and names the place.
module ExportsMatrix
  ESTATE = 'globals/estate'
  HOSTS = "#{ESTATE}/exported/host"
  PLACE = "#{HOSTS}/web1"
  ALL = { 'web1' => [{ 'title' => 'a' }], 'web2' => [{ 'title' => 'b' }] }.freeze

  # What a run stores of a node that is new, and of one that is known.
  SAVES = %w[web1 web9].flat_map do |name|
    [->(estate) { estate.facts.save(name, { 'a' => 1 }) },
     ->(estate) { estate.exports.save(name, { 'file' => [{ 'title' => 'a' }] }, 'production') },
     ->(estate) { estate.reports.save(name, 'status' => 'changed') },
     ->(estate) { estate.catalogs.put(name, 'resources' => []) },
     ->(estate) { estate.nodes.declare(name, {}) }]
  end

  # @return [Simpkv::Estate] one with its own store, as another compiler has
  def opened(more = {})
    Simpkv::Estate.new({ 'backends' => { 'default' => backend.merge(more) } })
  end

  # @return [Array<Hash, String>] what compilers find, each with these options: all exports, or an error's message
  def found(more = {})
    Array.new(2) do
      opened(more).exports.all('host')
    rescue Simpkv::Error, Simpkv::ConfigError => e
      e.message
    end.uniq
  end

  def fill(more = {})
    opened(more).make
    ALL.each { |name, list| opened(more).exports.save(name, { 'host' => list }, 'production') }
    expect(found(more)).to eq([ALL])
  end

  # What `simpkv rekey` does.
  def encrypt_all
    estate = opened(keys)
    estate.store.tree(ExportsMatrix::ESTATE, values: false)[:keys].each_key do |path|
      estate.store.renew("#{ExportsMatrix::ESTATE}/#{path}")
    end
    estate.pin
  end

  # Stores bytes as another program does.
  def replace
    document = yield(raw.get(PLACE))
    raw.delete(PLACE)
    raw.put(PLACE, document)
  end
end

RSpec.shared_examples 'exports that are found completely or not at all' do
  {
    'is torn' => [->(text) { text[0, text.length / 2] }, %r{/host/web1' cannot be read}],
    'has another form' => [->(_) { '{"value":"x","metadata":{}}' }, %r{/host/web1' cannot be read: .*another form}]
  }.each do |what, (change, why)|
    it "if a document #{what}" do
      fill
      replace(&change)
      expect(found).to match([why])
      opened.exports.save('web1', { 'host' => ExportsMatrix::ALL['web1'] }, 'production')
      expect(found).to eq([ExportsMatrix::ALL])
    end
  end

  [ExportsMatrix::HOSTS, "#{ExportsMatrix::ESTATE}/exported", ExportsMatrix::ESTATE].each do |folder|
    it "if #{folder} is missing" do
      fill
      raw.deletetree(folder)
      expect(found).to match([%r{globals/estate(/exported)?.* (missing|hidden)}])
      expect { opened.exports.save('web1', { 'host' => [{ 'title' => 'c' }] }, 'production') }
        .to raise_error(Simpkv::Estate::MissingError)
    end
  end

  # Each was left out without a word.
  it 'if a single document is deleted, or has the name of another node' do
    fill
    document = raw.get(ExportsMatrix::PLACE)
    raw.delete(ExportsMatrix::PLACE)
    expect(found).to match([%r{/host/web1' is missing, or hidden .*The next run of 'web1' stores it again}])
    raw.put("#{ExportsMatrix::HOSTS}/web9", document)
    expect(found).to match([%r{/host/web1' is missing}])
    opened.exports.save('web1', { 'host' => ExportsMatrix::ALL['web1'] }, 'production')
    expect(opened.exports.all('host')).to include(ExportsMatrix::ALL)
  end

  # The damaged record named nothing: a crash that tore it and lost the document removed resources without a word.
  it 'if the record of the inventory is damaged, and the document is missing' do
    fill
    record = "#{ExportsMatrix::ESTATE}/inventory/web1"
    raw.put(record, '{"value":{"expo')
    expect(found).to eq([ExportsMatrix::ALL])
    raw.delete(ExportsMatrix::PLACE)
    expect(found).to match([%r{inventory/web1' cannot be read: nobody knows .* The next run of 'web1' stores it again}])
    opened.exports.save('web1', { 'host' => ExportsMatrix::ALL['web1'] }, 'production')
    expect(found).to eq([ExportsMatrix::ALL])
    raw.put(record, '[]')
    raw.delete(ExportsMatrix::PLACE)
    expect(opened.inventory.give_up).to eq(%w[inventory/web1])
    expect(found).to eq([ExportsMatrix::ALL.slice('web2')])
  end

  it 'if nodes change their exports meanwhile' do
    fill
    compiler = opened
    expect(compiler.exports.all('host')).to eq(ExportsMatrix::ALL)
    opened.exports.save('web1', {}, 'production')
    opened.exports.save('web3', { 'host' => [{ 'title' => 'c' }] }, 'production')
    expect(compiler.exports.all('host').keys).to contain_exactly('web2', 'web3')
    raw.delete("#{ExportsMatrix::HOSTS}/web2")
    expect { compiler.exports.all('host') }.to raise_error(Simpkv::Estate::MissingError, %r{/host/web2' is missing})
  end

  describe 'in an encrypted backend' do
    let(:keys) { { 'encryption_keys' => write_keys('a') } }

    it 'if this compiler does not have the key of a document, or any keys' do
      fill(keys)
      write_keys('b', 'a')
      opened(keys).exports.save('web1', { 'host' => [{ 'title' => 'new' }] }, 'production')
      expect(found(keys)).to eq([ExportsMatrix::ALL.merge('web1' => [{ 'title' => 'new' }])])
      write_keys('a')
      expect(found(keys)).to match([%r{/host/web1' cannot be read: .*the key 'b', which is not in}])
      expect(found).to match([/the estate is encrypted, and this process has no 'encryption_keys'/])
    end

    it 'if another compiler has stored a plain document, and the estate does not record that there are none' do
      fill(keys)
      opened(keys).unpin
      replace { |_| Simpkv::Codec.encode([{ 'title' => 'a' }]) }
      expect(found(keys)).to eq([ExportsMatrix::ALL])
      expect(found(keys.merge('encrypted_only' => true))).to match([%r{host/web1.* is not encrypted}])
    end

    # Compilers with the keys took a plain document of one without them for a good one.
    it 'if another compiler has stored a plain document' do
      fill(keys)
      replace { |_| Simpkv::Codec.encode([{ 'title' => 'a' }]) }
      expect(found(keys)).to match([%r{host/web1' .*not encrypted.* process with other options .*'simpkv rekey'}])
      opened(keys).exports.save('web1', { 'host' => ExportsMatrix::ALL['web1'] }, 'production')
      expect(found(keys)).to eq([ExportsMatrix::ALL])
    end

    # It stored plain documents of nodes that it was the first to see.
    it 'if a compiler has other options, which then stores nothing' do
      fill(keys)
      before = raw.tree(ExportsMatrix::ESTATE)[:keys]
      { {} => "no 'encryption_keys'", keys.merge('encrypt' => 'none') => "'encrypt: none'",
        keys.merge('encrypt' => 'sensitive') => "'encrypt: sensitive'" }.each do |more, mine|
        why = /the estate (is encrypted|records 'encrypt: all'), and this process has #{mine}\. .*'simpkv init --unpin'/
        expect(found(more)).to match([why])
        ExportsMatrix::SAVES.each do |save|
          expect { save.call(opened(more)) }.to raise_error(Simpkv::Estate::DisagreementError, why)
        end
      end
      expect(raw.tree(ExportsMatrix::ESTATE)[:keys]).to eq(before)
      expect(found(keys)).to eq([ExportsMatrix::ALL])
    end

    it 'if a compiler that runs has other options than the estate records since then' do
      none = keys.merge('encrypt' => 'none')
      fill(none)
      other = [Simpkv::Estate::DisagreementError, /records 'encrypt: all'/]
      lacking = [Simpkv::Estate::DisagreementError, /no 'encryption_keys'/]
      running = { none => [other, other], {} => [[Simpkv::DeniedError, /set 'encryption_keys'/], lacking] }
      running.transform_keys! { |more| Array.new(2) { opened(more).tap(&:store) } }
      encrypt_all
      expect(found(keys)).to eq([ExportsMatrix::ALL])
      before = raw.tree(ExportsMatrix::ESTATE)[:keys]
      running.each do |(saving, collecting), (not_saved, not_collected)|
        expect { saving.facts.save('web1', { 'a' => 1 }) }.to raise_error(*not_saved)
        expect { collecting.exports.all('host') }.to raise_error(*not_collected)
      end
      expect(raw.tree(ExportsMatrix::ESTATE)[:keys]).to eq(before)
      opened(keys).unpin
      expect([found(keys), found(none)]).to eq([[ExportsMatrix::ALL]] * 2)
    end

    # It stored documents under its own key, which the others could not read.
    it 'if a compiler has the file of keys of another site, which then stores nothing' do
      fill(keys)
      before = raw.tree(ExportsMatrix::ESTATE)[:keys]
      write_keys('b')
      why = /has other keys than .*the key 'a', which is not in .*Correct the file/
      expect(found(keys)).to match([why])
      ExportsMatrix::SAVES.each do |save|
        expect { save.call(opened(keys)) }.to raise_error(Simpkv::Estate::DisagreementError, why)
      end
      expect(raw.tree(ExportsMatrix::ESTATE)[:keys]).to eq(before)
    end

    # A run took a marker that it could not read for one that says nothing.
    it 'if a compiler that runs cannot read the marker since then' do
      fill(keys)
      running = opened(keys).tap(&:store)
      marker = running.agreement.path
      write_keys('b', 'a')
      expect(running.store.renew(marker)).to eq(:renewed)
      write_keys('a')
      save = -> { running.facts.save('web1', { 'a' => 2 }) }
      expect(&save).to raise_error(Simpkv::DeniedError, /the key 'b', which is not in/)
      raw.delete(marker)
      raw.put(marker, '{"value":{}}')
      expect(&save).to raise_error(Simpkv::EncryptedStore::PlainError, /.estate' is not encrypted/)
      raw.delete(marker)
      expect(&save).not_to raise_error
    end

    it 'if an encrypted document is torn' do
      fill(keys)
      replace { |text| text.sub(/"encoding".*/, '') }
      expect(found(keys)).to match([%r{/host/web1' cannot be read: .*damaged}])
      expect(found).to match([/has no 'encryption_keys'/])
    end
  end
end

RSpec.describe 'Exported resources in files with faults' do
  include ExportsMatrix
  include KeyFile
  include Processes

  let(:scratch) { Scratch.make('simpkv-exports') }
  let(:backend) { { 'type' => 'file', 'id' => 'x', 'root_path' => File.join(scratch, 'root') } }
  let(:raw) { Simpkv::Store.open('file', backend.slice('root_path')) }

  before { raw }

  after do
    FileUtils.rm_r(scratch)
  end

  def file(key)
    File.join(backend['root_path'], key)
  end

  it_behaves_like 'exports that are found completely or not at all'

  {
    'a FIFO' => ->(place) { File.mkfifo(place) },
    'a folder' => ->(place) { Dir.mkdir(place) },
    'a link to nothing' => ->(place) { File.symlink('/nonexistent', place) },
    'a link out of the store' => ->(place) { File.symlink('/etc/passwd', place) },
    'a link to itself' => ->(place) { File.symlink('web1', place) }
  }.each do |what, make|
    it "are found completely or not at all with #{what} in place of a document" do
      fill
      raw.delete(ExportsMatrix::PLACE)
      make.call(file(ExportsMatrix::PLACE))
      expect(found).to match([%r{/host/web1' cannot be read: (it is|the link)}])
      # Only an administrator knows whose it is.
      expect { opened.exports.save('web1', { 'host' => [{ 'title' => 'a' }] }, 'production') }
        .to raise_error(Simpkv::Error, /web1': (it is|the link)|specifies a folder/)
      FileUtils.rm_rf(file(ExportsMatrix::PLACE))
      opened.exports.save('web1', { 'host' => [{ 'title' => 'a' }] }, 'production')
      expect(found).to eq([ExportsMatrix::ALL])
    end
  end

  describe 'without permission', :once, needs: :fork do
    {
      'for a document' => [ExportsMatrix::PLACE, 0, %r{host/web1' cannot be read: .*Permission denied}],
      'to enter a folder that it may list' => [ExportsMatrix::HOSTS, 0o744, /Permission denied/],
      'to list a folder that it may enter' => [ExportsMatrix::HOSTS, 0o711, /Permission denied/],
      'for the folder above' => ["#{ExportsMatrix::ESTATE}/exported", 0o744, /Permission denied/]
    }.each do |what, (place, mode, why)|
      it "#{what} are found completely or not at all" do
        fill
        FileUtils.chmod_R('a+rX', backend['root_path'])
        File.chmod(0o755, scratch)
        as_nobody { found == [ExportsMatrix::ALL] }
        File.chmod(mode, file(place))
        as_nobody do
          message = found
          (message.length == 1 && message.first.to_s.match?(why)) || raise("found #{message}")
        end
      end
    end
  end
end

Directories.each_server do |server, tags|
  RSpec.describe "Exported resources on #{server.name} with faults", **tags do
    include ExportsMatrix
    include KeyFile

    # On slapd, the administrator of the directory may change the access rules.
    configuration = server == Slapd ? { more: "database config\nrootdn \"#{Slapd::ROOT_DN}\"\n" } : {}
    include_context 'with a directory', server, **configuration

    let(:backend) { directory.options('id' => id).merge('type' => 'ldap') }
    let(:raw) { store }

    it_behaves_like 'exports that are found completely or not at all'

    # Puts a rule that denies everything before all others, or takes it away.
    def deny(target, verb = 'add')
      if directory.is_a?(Slapd)
        rule = { 'add' => "{0}to #{target[:slapd]} by * none", 'delete' => '{0}' }.fetch(verb)
        directory.modify("dn: olcDatabase={1}mdb,cn=config\nchangetype: modify\n#{verb}: olcAccess\n" \
                         "olcAccess: #{rule}\n")
      else
        rule = %[#{target[:ds389]}(version 3.0; acl "hide"; deny (all) userdn="ldap:///anyone";)]
        directory.modify("dn: #{DirectoryServer::BASE_DN}\nchangetype: modify\n#{verb}: aci\naci: #{rule}\n")
      end
    end

    def subtree(path)
      dn = dn(path, :folder)
      { slapd: %(dn.subtree="#{dn}"), ds389: %[(target="ldap:///#{dn}")(targetattr="*")] }
    end

    def expect_refused(target, why)
      fill
      deny(target)
      expect(found).to match([why])
      deny(target, 'delete')
      expect(found).to eq([ExportsMatrix::ALL])
    end

    [ExportsMatrix::HOSTS, "#{ExportsMatrix::ESTATE}/exported", ExportsMatrix::ESTATE].each do |folder|
      it "are found completely or not at all if the directory hides #{folder}" do
        expect_refused(subtree(folder), %r{globals/estate(/exported)?.*(hidden from|no access to it)})
      end
    end

    it 'are found completely or not at all if the directory hides a single document' do
      place = dn(ExportsMatrix::PLACE)
      expect_refused({ slapd: %(dn.base="#{place}"), ds389: %[(target="ldap:///#{place}")(targetattr="*")] },
                     %r{host/web1' is missing, or hidden|Cannot read '.*host/web1': .* no access to it})
    end

    { 'id' => 'other', 'layout' => 'hex' }.each do |option, value|
      it "are found completely or not at all if this compiler has another #{option}" do
        fill
        expect(found(option => value))
          .to match([/other processes keep the estate in another place \(id, root_path, base_dn, layout\)|its schema/])
      end
    end

    it 'are found completely or not at all if the directory hides the values' do
      place = dn(ExportsMatrix::HOSTS, :folder)
      expect_refused({ slapd: %(dn.subtree="#{place}" attrs=simpkvJsonValue),
                       ds389: %[(target="ldap:///#{place}")(targetattr="simpkvJsonValue")] },
                     /shows no simpkvJsonValue: give this identity the right to read it/)
    end
  end
end
