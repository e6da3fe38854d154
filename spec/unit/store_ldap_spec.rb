# frozen_string_literal: true

# Opening a store sends no request, so no server runs.
RSpec.describe 'A store in an LDAP directory' do
  let(:options) do
    { 'ldap_uri' => 'ldapi://%2Fno%2Fsuch%2Fsocket', 'base_dn' => 'dc=x', 'admin_dn' => 'cn=me',
      'admin_pw_file' => '/no/such/file', 'id' => 'x' }
  end

  def open_store(more = {})
    store = Simpkv::Store.open('ldap', options.merge(more).compact)
    yield store
  ensure
    store&.close
  end

  it 'is opened without a request to the server' do
    open_store do |store|
      expect { store.kind('globals/k') }.to raise_error(Simpkv::Error, /no.*such/)
    end
  end

  it 'accepts every option of a backend, as Simpkv::Config converts it' do
    all = Simpkv::Config::TYPES.fetch('ldap').map(&:name)
    given = options.merge('ldap_uri' => %w[ldap://127.0.0.1:1 ldap://127.0.0.1:2], 'write_uri' => 'ldap://127.0.0.1:3',
                          'enable_tls' => 'true', 'tls_cacert' => '/ca', 'tls_cert' => '/cert', 'tls_key' => '/key',
                          'retries' => '2', 'operation_timeout_seconds' => '0.5', 'layout' => 'hex')
    typed = Simpkv::Config.typed(given.merge('type' => 'ldap'), 'b')
    expect(typed.keys).to include(*all)
    open_store(typed.slice('id', *all), &:inspect)
  end

  it 'accepts servers as a list or as text, times as any number, and shows its location' do
    [{ 'ldap_uri' => %w[ldap://a ldap://b] }, { 'ldap_uri' => 'ldap://a ldap://b' }].each do |uris|
      open_store(uris.merge('connect_timeout_seconds' => Rational(1, 3), 'idle_timeout_seconds' => 0)) do |store|
        expect(store.inspect).to eq('#<Simpkv::Store ldap dc=x ldap://a ldap://b>')
      end
    end
  end

  {
    { 'retries' => 1.5 } => [Simpkv::ConfigError, /'retries'.*Float/],
    { 'layout' => :hex } => [Simpkv::ConfigError, /'layout'.*Symbol/],
    { 'connect_timeout_seconds' => 'soon' } => [Simpkv::ConfigError, /'connect_timeout_seconds' must be a number/],
    { 'operation_timeout_seconds' => -1 } => [Simpkv::ConfigError, /'operation_timeout_seconds' must be a number/],
    { 'base_dm' => 'dc=x' } => [Simpkv::InvalidError, /unknown option 'base_dm'/],
    { 'ldap_uri' => nil } => [Simpkv::InvalidError, /'ldap_uri'/],
    { 'ldap_uri' => 'http://a' } => [Simpkv::InvalidError, %r{Invalid 'ldap_uri' configuration.*http://a}],
    { 'retries' => -1 } => [Simpkv::InvalidError, /'retries'/],
    { 'layout' => 'flat' } => [Simpkv::InvalidError, /'layout'/],
    { 'id' => nil } => [Simpkv::InvalidError, /'id'/],
    { 'base_dn' => 'not a DN' } => [Simpkv::InvalidError, /base_dn|base DN/]
  }.each do |more, (error, message)|
    it "refuses #{more}" do
      expect { open_store(more, &:inspect) }.to raise_error(error, message)
    end
  end
end
