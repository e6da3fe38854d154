# frozen_string_literal: true

require 'simpkv'
require_relative '../support/scratch'

RSpec.describe Simpkv::Secrets do
  around { |example| Scratch.make('secrets') { |folder| (@folder = folder) && example.run } }

  let(:store) { open_store }
  let(:path) { 'globals/app1/db' }

  after { store.close }

  def open_store
    Simpkv::Store.open('file', 'root_path' => @folder)
  end

  def secrets(below = store, **options)
    described_class.new(below, Simpkv::VersionedStore.new(below, **options)) { |key| ["globals/#{key}"] }
  end

  def request(options = {})
    described_class::Request.new(options)
  end

  def fetch(options = {}, **more)
    secrets.fetch(path, request(options), **more)
  end

  cheap = { 'yescrypt' => 1, 'bcrypt' => 4, 'htpasswd-bcrypt' => 4, 'sha256-crypt' => 1000, 'sha512-crypt' => 1000 }
  others = %w[plain ssha apr1 scram-sha-256 caching_sha2_password mysql_native_password hex base64]
  every = [*others, *cheap.keys].map { |format| { 'format' => format, 'cost' => cheap[format] }.compact }

  [[12, every.values_at(0, 1, 6, 8), {}], [1000, every, { long: true }]].each do |keys, formats, tags|
    it "are made once by many threads, #{keys} keys in #{formats.length} formats", **tags do
      threads = Array.new(8) do |number|
        Thread.new do
          own = secrets(open_store)
          (1..keys).to_a.shuffle(random: Random.new(number)).map do |key|
            [key, formats.map { |options| own.fetch("globals/k#{key}", request(options)) }]
          end.sort
        end
      end
      answers = threads.map(&:value)
      expect(answers.uniq.length).to eq(1)
      expect(answers.first.flat_map(&:last).uniq.length).to eq(keys * formats.length)
    end
  end

  it 'are not made if that is not wanted, and neither is a form' do
    expect([fetch(make: false), fetch({ 'format' => 'ssha' }, make: :form), store.kind(path)]).to eq([nil, nil, nil])
    made = fetch
    expect([fetch(make: false), fetch({ 'format' => 'ssha' }, make: false)]).to eq([made, nil])
    form = fetch({ 'format' => 'ssha' }, make: :form)
    expect(fetch({ 'format' => 'ssha' }, make: false)).to eq(form)
  end

  it 'keep times and history when they get a form' do
    secrets(store, history: 2, expires_after: 3600).fetch(path, request)
    secrets(store, history: 2, expires_after: 3600).rotate(path)
    before = Simpkv::Codec.members(store.get(path))
    fetch({ 'format' => 'ssha' })
    after = Simpkv::Codec.members(store.get(path))
    kept = %w[value expires stored_at history]
    expect(after.values_at(*kept)).to eq(before.values_at(*kept))
    expect(before.values_at(*kept)).to all(be_truthy)
  end

  {
    'text' => Simpkv::Codec.encode('a secret', 'owner' => 'me'),
    'bytes' => Simpkv::Codec.encode("\x00\xFF".b, 'owner' => 'me'),
    'a Sensitive' => Simpkv::RichData.sensitive('a secret', { 'owner' => 'me' }),
    'a Sensitive of bytes' => Simpkv::RichData.sensitive("\x00\xFF".b, { 'owner' => 'me' }),
    'a Hash with a password' => Simpkv::Codec.encode({ 'password' => 'a secret', 'salt' => 'x' }, 'owner' => 'me')
  }.each do |what, document|
    it "may be #{what} of other origin, which stays as it is beside a form" do
      store.put(path, document)
      before = Simpkv::RichData.read(document)
      format = what.include?('bytes') ? 'hex' : 'ssha'
      fetch({ 'format' => format })
      after = Simpkv::RichData.read(store.get(path))
      expect(after[:value]).to eq(before[:value])
      expect(after[:metadata]).to include('owner' => 'me')
      expect(fetch).to eq(what.include?('bytes') ? "\x00\xFF".b : 'a secret')
    end
  end

  it 'have no form of an earlier value, even if its metadata stay' do
    form = fetch({ 'format' => 'ssha' })
    kept = Simpkv::RichData.decode(store.get(path))[:metadata]
    store.put(path, Simpkv::RichData.sensitive('another', kept, typed: true))
    expect(fetch({ 'format' => 'ssha' }, make: false)).to be_nil
    expect(fetch({ 'format' => 'ssha' })).not_to eq(form)
  end

  it 'are replaced with the same lifetime and number of earlier values, unless the caller says otherwise' do
    secrets(store, history: 2, expires_after: 3600).fetch(path, request)
    first = Simpkv::Codec.members(store.get(path))
    secrets(store, history: 2).rotate(path)
    2.times { secrets.rotate(path) }
    kept = Simpkv::Codec.members(store.get(path))
    lasts = ->(members) { members.values_at('stored_at', 'expires').map { |text| Simpkv::Versions.utc(text) }.reduce(:-) }
    expect([lasts.call(kept), kept['history'].length]).to eq([lasts.call(first), 1])
    secrets(store, history: 0, expires_after: 60).rotate(path)
    expect(Simpkv::Codec.members(store.get(path))).not_to include('history')
    expect(lasts.call(Simpkv::Codec.members(store.get(path)))).to eq(-60)
  end

  it 'are replaced with other options on request' do
    fetch({ 'length' => 30 })
    secrets.rotate(path, 'alphabet' => 'digits')
    expect(fetch).to match(/\A\d{30}\z/)
  end

  it 'are not made for a part that they would not have' do
    { { 'part' => 'certificate' } => /'part' does not say what to make/,
      { 'part' => 'certificate', 'kind' => 'password' } => /no part 'certificate'/ }.each do |options, why|
      expect { fetch(options) }.to raise_error(Simpkv::InvalidError, why)
      expect(store.kind(path)).to be_nil
    end
  end

  [{ 'forms' => 'x' }, { 'forms' => { 'ssha' => 5 } }, { 'parts' => [] }, { 'kind' => 5 },
   { 'made' => 'x' }].each do |wrong|
    it "take no notice of metadata of that name with #{wrong}" do
      about = { 'of' => described_class::Entry.digest('a secret') }.merge(wrong)
      store.put(path, Simpkv::Codec.encode('a secret', 'simpkv::secret' => about))
      expect(fetch).to eq('a secret')
      expect(fetch({ 'format' => 'ssha' })).to start_with('{SSHA}')
    end
  end

  it 'refuse an empty text, and options with a NUL' do
    store.put(path, Simpkv::Codec.encode(''))
    expect { fetch }.to raise_error(Simpkv::InvalidError, /not empty/)
    expect { request('kind' => 'x509', 'subject' => { 'CN' => "a\0b" }) }.to raise_error(Simpkv::ConfigError, /NUL/)
    expect { request('format' => 'yescrypt', 'cost' => '5') }.to raise_error(Simpkv::ConfigError, /'cost': expected an/)
  end

  # Both lists say the same.
  it 'have a salt in each format but those that are made in each call' do
    salted = %w[ssha yescrypt scram-sha-256 caching_sha2_password apr1 bcrypt sha256-crypt sha512-crypt htpasswd-bcrypt]
    %w[hex base64 mysql_native_password].concat(salted).each do |format|
      cost = { 'yescrypt' => 1, 'bcrypt' => 4, 'htpasswd-bcrypt' => 4, 'sha256-crypt' => 1000, 'sha512-crypt' => 1000 }
      asked = { 'format' => format, 'cost' => cost[format] }.compact
      _, has_salt = Simpkv::Native.secret_form('x', Simpkv::Native.generate(asked))
      expect([format, request(asked).saltless?]).to eq([format, !has_salt])
      expect(salted.include?(format)).to be(has_salt)
    end
  end

  it 'have the same salt for the same seed, format and cost, and no other' do
    form = ->(more) { Simpkv::Native.secret_form('x', Simpkv::Native.generate({ 'format' => 'ssha' }.merge(more))).first }
    expect(form.call('seed' => 'a')).to eq(form.call('seed' => 'a'))
    expect([form.call('seed' => 'a'), form.call('seed' => 'b'), form.call({}), form.call({})].uniq.length).to eq(4)
    crypt = ->(cost) { { 'format' => 'sha512-crypt', 'cost' => cost, 'seed' => 'a' } }
    salts = [1000, 1001].map { |cost| form.call(crypt.call(cost))[/\$rounds=\d+\$([^$]+)/, 1] }
    expect(salts.uniq.length).to eq(2)
  end
end
