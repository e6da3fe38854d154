# frozen_string_literal: true

require 'openssl'
require 'simpkv'
require_relative '../support/clock'
require_relative '../support/scratch'

RSpec.describe 'Certificates of Simpkv::Secrets', :once do
  include Clock

  around { |example| Scratch.make('secrets') { |folder| (@folder = folder) && example.run } }

  let(:store) { Simpkv::Store.open('file', 'root_path' => @folder) }
  let(:known) { {} }
  let(:secrets) do
    Simpkv::Secrets.new(store, Simpkv::VersionedStore.new(store), known: known, warn: warnings.method(:push)) do |key|
      ["environments/production/#{key}", "globals/#{key}"]
    end
  end
  let(:warnings) { [] }

  before { fetch('ca', 'kind' => 'x509', 'ca' => true, 'subject' => { 'CN' => 'Site' }) }
  after { store.close }

  def fetch(key, options)
    secrets.fetch("globals/#{key}", Simpkv::Secrets::Request.new(options))
  end

  def certificate(key, part = 'certificate')
    known.clear
    OpenSSL::X509::Certificate.new(fetch(key, leaf.merge('part' => part)))
  end

  def leaf
    { 'kind' => 'x509', 'subject' => { 'CN' => 'web1.example.com' }, 'issuer' => 'ca', 'days' => 90 }
  end

  # Runs the block so many days later, by the clock of Ruby: the core, which makes certificates, has the kernel's.
  def in_days(days)
    clock_at((Time.now + (days * 86_400)).utc.strftime('%Y-%m-%dT%H:%M:%SZ'))
    yield
  ensure
    clock_at(nil)
  end

  # @return [OpenSSL::X509::CRL]
  def list
    known.clear
    OpenSSL::X509::CRL.new(fetch('ca', 'part' => 'crl'))
  end

  it 'are signed by a CA of the store, and keep the key that belongs to them' do
    made = certificate('web1')
    authority = certificate('web1', 'chain')
    expect(made.verify(authority.public_key)).to be(true)
    expect(made.check_private_key(OpenSSL::PKey.read(fetch('web1', leaf)))).to be(true)
    expect(certificate('web1').to_der).to eq(made.to_der)
  end

  it 'are made anew in the last third of their life, with another key, and a CA is not' do
    made = certificate('web1')
    authority = fetch('ca', 'part' => 'certificate')
    in_days(58) { expect(certificate('web1').serial).to eq(made.serial) }
    in_days(62) { expect(certificate('web1').serial).not_to eq(made.serial) }
    in_days(3600) { expect(fetch('ca', 'part' => 'certificate')).to eq(authority) }
  end

  [Simpkv::UnavailableError, Simpkv::DeniedError].each do |error|
    it "stay as long as they are valid while nothing can be stored, and are an error afterwards (#{error})" do
      made = certificate('web1')
      allow(store).to receive(:put).and_raise(error, 'the disk is gone')
      in_days(80) { expect(certificate('web1').serial).to eq(made.serial) }
      expect(warnings).to eq(['it ends soon, and could not be renewed: the disk is gone'])
      in_days(91) { expect { certificate('web1') }.to raise_error(error) }
    end
  end

  it 'stay, too, if their CA ends before another one would; the next one has the options of the caller' do
    fetch('short', 'kind' => 'x509', 'ca' => true, 'subject' => { 'CN' => 'Short' }, 'days' => 91)
    fetch('other', 'kind' => 'x509', 'ca' => true, 'subject' => { 'CN' => 'Other' })
    web = leaf.merge('issuer' => 'short')
    made = fetch('web1', web.merge('part' => 'serial'))
    stored = JSON.parse(store.get('globals/web1'))
    about = stored['metadata']['simpkv::secret']['__pvalue']
    about['parts'] = about['parts'].merge('not_before' => '2020-01-01T00:00:00Z', 'not_after' => '2099-01-01T00:00:00Z')
    about['made']['days'] = 92
    store.put('globals/web1', JSON.generate(stored))
    known.clear
    in_days(26_000) { expect(fetch('web1', web.merge('days' => 92, 'part' => 'serial'))).to eq(made) }
    expect(warnings).to match([/could not be renewed: option 'days'/])
    in_days(26_000) { expect(fetch('web1', leaf.merge('issuer' => 'other', 'part' => 'serial'))).not_to eq(made) }
  end

  it 'are not replaced by a secret of another kind, which a call wants by mistake' do
    made = certificate('web1')
    in_days(80) { expect { fetch('web1', 'kind' => 'password') }.to raise_error(Simpkv::InvalidError, /kind 'x509'/) }
    expect { secrets.rotate('globals/web1', 'kind' => 'password') }.to raise_error(Simpkv::InvalidError, /kind 'x509'/)
    expect(certificate('web1').serial).to eq(made.serial)
  end

  it 'are signed by a CA of their own environment, or else by a global one' do
    secrets.fetch('environments/production/own', Simpkv::Secrets::Request.new(leaf))
    own = { 'kind' => 'x509', 'ca' => true, 'subject' => { 'CN' => 'Production' } }
    secrets.fetch('environments/production/ca', Simpkv::Secrets::Request.new(own))
    issuers = %w[own other].map do |name|
      request = Simpkv::Secrets::Request.new(leaf.merge('part' => 'certificate'))
      OpenSSL::X509::Certificate.new(secrets.fetch("environments/production/#{name}", request)).issuer.to_s
    end
    expect(issuers).to eq(%w[/CN=Site /CN=Production])
  end

  it 'can be revoked by their number when they were replaced, and not by a CA that was replaced' do
    former = certificate('web1').serial
    secrets.rotate('globals/web1')
    secrets.revoke_number('globals/ca', former.to_s(16))
    expect(list.revoked.map(&:serial)).to eq([former])
    expect { secrets.revoke_number('globals/ca', 'xyz') }.to raise_error(Simpkv::ConfigError)
    expect { secrets.revoke_number('globals/web1', '1') }.to raise_error(Simpkv::InvalidError, /no CA/)
    secrets.rotate('globals/ca')
    expect { secrets.revoke('globals/web1') }.to raise_error(Simpkv::InvalidError, /was replaced since/)
  end

  it 'have the parts of one moment for one caller' do
    private_key = fetch('web1', leaf)
    secrets.rotate('globals/web1')
    same = OpenSSL::X509::Certificate.new(fetch('web1', leaf.merge('part' => 'certificate')))
    expect(same.check_private_key(OpenSSL::PKey.read(private_key))).to be(true)
    expect(certificate('web1').serial).not_to eq(same.serial)
  end

  it 'are on the revocation list of their CA when they are revoked, once' do
    expect(list.revoked).to eq([])
    made = certificate('web1')
    2.times { secrets.revoke('globals/web1') }
    secrets.rotate('globals/web1')
    expect(list.revoked.map(&:serial)).to eq([made.serial])
    expect(list.verify(certificate('web1', 'chain').public_key)).to be(true)
    secrets.revoke('globals/web1')
    expect(list.revoked.length).to eq(2)
  end

  it 'have a list that is made anew in time' do
    first = list
    in_days(9) { expect(list.to_der).to eq(first.to_der) }
    in_days(11) { expect(list.to_der).not_to eq(first.to_der) }
    expect(first.next_update - first.last_update).to be_within(86_400).of(30 * 86_400)
  end

  it 'are refused with an issuer that is none, and revoked only by a CA of the store' do
    fetch('db', {})
    expect { fetch('web2', leaf.merge('issuer' => 'db')) }.to raise_error(Simpkv::ConfigError, /'issuer': 'db' is no/)
    expect { fetch('web2', leaf.merge('issuer' => 'none')) }.to raise_error(Simpkv::ConfigError, /'issuer': there is/)
    expect { secrets.revoke('globals/ca') }.to raise_error(Simpkv::InvalidError, /no CA of this store/)
    expect(store.kind('globals/web2')).to be_nil
  end
end
