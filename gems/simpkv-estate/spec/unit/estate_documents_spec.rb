# frozen_string_literal: true

require 'simpkv/estate'
require_relative '../../../../spec/support/scratch'

RSpec.describe 'Documents of the estate' do
  attr_reader :root

  around do |example|
    Scratch.make('simpkv-documents') do |folder|
      @root = folder
      example.run
    end
  end

  let(:estate) { Simpkv::Estate.new({ 'estate' => {} }) { Simpkv::Store.open('file', 'root_path' => root) } }

  before { estate.make }

  let(:documents) { Simpkv::Estate.const_get(:Documents).new(estate, 'things') }

  def document(value)
    Simpkv::Codec.encode(value)
  end

  # @return [String] a document that another process has encrypted
  def encrypted
    header = ['{"alg":"dir","enc":"A256GCM","kid":"a"}'].pack('m0').tr('+/', '-_').delete('=')
    %({"value":"#{header}..AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA","encoding":"jwe"})
  end

  def file(*names)
    File.join(root, 'globals/estate/things', *names)
  end

  it 'are stored, read and deleted by one name or by several' do
    documents.put('a', 'x' => 1)
    documents.put('folder', 'b', [2])

    expect([documents.get('a'), documents.get('folder', 'b'), documents.get('c')]).to eq [{ 'x' => 1 }, [2], nil]
    expect([documents.all('folder'), documents.all('none')]).to eq [{ 'b' => [2] }, {}]
    expect([documents.delete('a'), documents.delete('a'), documents.get('a')]).to eq [true, false, nil]
    expect([documents.deletetree('folder'), documents.all('folder'), documents.all]).to eq [true, {}, {}]
  end

  it 'are stored together; the first error is raised, and names its key' do
    documents.put_many(%w[a] => document(1), %w[folder b] => document(2))
    expect([documents.get('a'), documents.get('folder', 'b')]).to eq [1, 2]

    expect { documents.put_many(%w[c] => document(3), %w[folder] => document(4)) }
      .to raise_error(Simpkv::IsFolderError, /folder/)
    expect(documents.get('c')).to eq 3
  end

  it 'are not deleted if another writer has replaced what is to be deleted' do
    documents.put('a', 1)
    read = document(1)
    documents.put('a', 2)

    expect([documents.delete_expected('a', read), documents.get('a')]).to eq [false, 2]
    expect([documents.delete_expected('a', document(2)), documents.get('a')]).to eq [true, nil]
  end

  it 'are denied if they are encrypted, and this process has no keys' do
    estate.store.put('globals/estate/things/a', encrypted)
    expect { documents.get('a') }.to raise_error(Simpkv::DeniedError, %r{globals/estate/things/a})
  end

  it 'are updated by the block, which is called again if another writer was faster' do
    documents.put('a', 1)
    seen = []
    stored = documents.update('a') do |value|
      seen << value
      documents.put('a', 5) if seen.one?
      value + 1
    end

    expect([seen, stored.value, documents.get('a')]).to eq [[1, 5], 6, 6]
  end

  it 'are made by an update, unless the block returns nil' do
    expect(documents.update('a') { nil }).to be_nil
    expect(documents.update('a') { |value| [value] }.value).to eq [nil]
    expect(documents.get('a')).to eq [nil]
  end

  it 'are updated no more than 100 times, then an error names the key' do
    documents.put('a', 0)
    number = 0

    expect { documents.update('a') { documents.put('a', number += 1) && 'mine' } }
      .to raise_error(Simpkv::ConflictError, "'globals/estate/things/a': others keep changing it: try again")
    expect(number).to eq(100)
  end

  it 'that cannot be read are replaced by an update, named by a read, and left out of a list' do
    documents.put('a', 1)
    documents.put('b', 2)
    File.write(file('a'), '{"value":"secret')
    errors = []

    expect { documents.get('a') }
      .to raise_error(Simpkv::MalformedError, %r{\A'globals/estate/things/a' cannot be read: })
    expect(documents.all { |*error| errors << error }).to eq('b' => 2)
    expect(errors).to match [['globals/estate/things/a', 'its document is corrupt (16 bytes)']]
    expect(documents.update('a') { |value| { 'was' => value } }.value).to eq('was' => nil)
    expect(errors.inspect).not_to include('secret')
  end

  # A list without a block used to leave them out silently.
  it 'that cannot be read fail a list, and one that leaves out malformed ones if they are no such documents' do
    %w[a b c].each { |name| documents.put(name, 1) }
    File.write(file('b'), '{')
    expect { documents.all }.to raise_error(Simpkv::MalformedError, %r{\A'globals/estate/things/b' cannot be read: })
    expect(documents.all(strict: true) { nil }).to eq('a' => 1, 'c' => 1)
    { 'is a folder' => -> { Dir.mkdir(file('b')) }, 'is not a regular file' => -> { File.mkfifo(file('b')) },
      'leads nowhere' => -> { File.symlink('/nowhere', file('b')) },
      "'encryption_keys'" => -> { File.write(file('b'), encrypted) } }.each do |why, make|
      FileUtils.rm_rf(file('b'))
      make.call
      expect { documents.all(strict: true) { nil } }.to raise_error(Simpkv::MalformedError, /#{why}/)
    end
  end

  it 'that are encrypted are not replaced by a process without the keys' do
    documents.put('a', 1)
    File.write(file('a'), encrypted)
    expect { documents.update('a') { 2 } }.to raise_error(Simpkv::DeniedError, %r{things/a' .*'encryption_keys'})
    expect(File.read(file('a'))).to eq(encrypted)
  end

  it 'of another form are left out of a list' do
    documents.put('a', 1)
    documents.put('b', 'x')
    errors = []

    expect(documents.all(valid: ->(value) { value.is_a?(Integer) }) { |*error| errors << error }).to eq('a' => 1)
    expect(errors).to eq [['globals/estate/things/b', 'it has another form than simpkv writes']]
  end

  # The record had reached the caller, which failed with an error that quoted it.
  ['["s3cret"]', '{"exports":["s3cret"]}', '{"environment":["s3cret"]}', '{"facts_saving":"s3cret"}',
   '{"in_doubt":[{"s3cret":1}]}'].each do |value|
    it "name the key of a record of the inventory of the form #{value}" do
      estate.store.put('globals/estate/inventory/web1', "{\"value\":#{value},\"metadata\":{}}")
      reason = "'globals/estate/inventory/web1' cannot be read: it has another form than simpkv writes"
      expect { estate.inventory.get('web1') }.to raise_error(Simpkv::MalformedError, reason)
      expect(estate.inventory.readable('web1').value).to be_nil
      expect { estate.inventory.all }.to raise_error(Simpkv::MalformedError, reason)
    end
  end

  it 'have no name with a slash, nor one that no key can have' do
    names = { 'a/b' => 'has a', 'A' => 'unsupported characters', 'a b' => 'whitespace', '..' => 'disallowed' }
    names.to_a.product(%i[get delete]).each do |(name, why), call|
      message = %r{\A'#{Regexp.escape(name)}' cannot be the name of a key in 'globals/estate/things': .*#{why}}
      expect { documents.public_send(call, name) }.to raise_error(Simpkv::InvalidError, message)
    end
  end
end
