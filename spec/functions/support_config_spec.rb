# frozen_string_literal: true

require_relative '../support/rspec_puppet'

RSpec.describe 'simpkv::support::config::merge', type: :puppet_function do
  let(:file) { { 'type' => 'file', 'id' => 'x' } }

  it 'uses files if nothing is configured' do
    is_expected.to run.with_params({}, ['file']).and_return(
      'backend' => 'default', 'backends' => { 'default' => { 'type' => 'file', 'id' => 'auto_default' } },
      'environment' => 'rp_env', 'softfail' => false, 'global' => false
    )
  end

  # Its sample set `backend`, so that an app_id stored secrets in the wrong place.
  it 'chooses the backends that docs/functions.md names for its sample' do
    sample = File.read(File.expand_path('../../docs/functions.md', __dir__))[/^```yaml\n(simpkv::options:.*?)^```/m, 1]
    options = YAML.safe_load(sample).fetch('simpkv::options')
    { {} => 'default', { 'backend' => 'secrets' } => 'secrets', { 'app_id' => 'secrets' } => 'secrets' }
      .each do |call, chosen|
      found = subject.execute(options.merge(call), ['file'])
      expect(found['backends'][found['backend']]['root_path']).to eq(options['backends'][chosen]['root_path'])
    end
  end

  it 'takes an option that is undef in a call for absent, also one that protects something' do
    found = subject.execute({ 'sensitive' => nil, 'noop_writes' => nil }, ['file'])
    expect(found).to eq(subject.execute({}, ['file']))
  end

  # An invalid `rich_data` or `skip_undecodable` was accepted until an operation read it.
  Simpkv::Config::CALL.reject { |option| %w[default environment].include?(option.name) }.each do |option|
    it "refuses a value of the wrong type for #{option.name}, and names the option" do
      is_expected.to run.with_params({ option.name => [5] }, ['file']).and_raise_error(
        ArgumentError, /\A'#{option.name}' in simpkv configuration (must|is not) /
      )
    end
  end
end

RSpec.describe 'simpkv::support::config::validate', type: :puppet_function do
  let(:good) { { 'backend' => 'x', 'backends' => { 'x' => { 'type' => 'file', 'id' => 'x' } } } }

  it { is_expected.to run.with_params(good, ['file']) }

  it 'fails without backend' do
    is_expected.to run.with_params({ 'backends' => good['backends'] }, ['file']).and_raise_error(
      ArgumentError, "'backend' not specified in simpkv configuration"
    )
  end

  it 'fails without backends' do
    is_expected.to run.with_params({ 'backend' => 'x' }, ['file']).and_raise_error(
      ArgumentError, "'backends' not specified in simpkv configuration"
    )
  end

  ['text', nil, 5, ['file']].each do |entry|
    it "raises an ArgumentError for the backend #{entry.inspect} (it was 'is not a Hash')" do
      is_expected.to run.with_params({ 'backend' => 'x', 'backends' => { 'x' => entry } }, ['file']).and_raise_error(
        ArgumentError, "No simpkv backend 'x' with 'id' and 'type' attributes has been configured: 'x' of 'backends' " \
                       "must be a Hash with 'type' and 'id'"
      )
    end
  end

  # A difference in an option that simpkv does not know was accepted.
  [{ 'root_path' => '/srv/other' }, { 'lock_timeout_seconds' => 6 }, { 'of_their_own' => 1 },
   { 'ldap_uri' => 'ldapi://x' }].each do |more|
    it "fails if another backend of the same type and id also has #{more}" do
      backends = { 'x' => { 'type' => 'file', 'id' => 'i' }, 'y' => { 'type' => 'file', 'id' => 'i' }.merge(more) }
      is_expected.to run.with_params({ 'backend' => 'x', 'backends' => backends }, ['file']).and_raise_error(
        ArgumentError, "simpkv configuration contains different backend configs for type=file id=i: 'x', 'y'"
      )
    end
  end

  # URIs were compared as text.
  it 'accepts two backends of one type and id whose servers are spelt in two ways' do
    ldap = { 'type' => 'ldap', 'id' => 'i', 'ldap_uri' => 'ldaps://ldap1.example.com' }
    backends = { 'x' => ldap, 'y' => ldap.merge('ldap_uri' => ['LDAPS://LDAP1.example.com:636/']) }
    is_expected.to run.with_params({ 'backend' => 'x', 'backends' => backends }, %w[file ldap])
  end

  it 'accepts two backends of one type and id that are equal but for spelling' do
    backends = { 'x' => { 'type' => 'file', 'id' => 'i', 'lock_timeout_seconds' => nil },
                 'y' => { 'type' => 'file', 'id' => 'i', 'lock_timeout_seconds' => '5' } }
    is_expected.to run.with_params({ 'backend' => 'x', 'backends' => backends }, ['file'])
  end
end
