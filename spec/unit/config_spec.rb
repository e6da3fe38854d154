# frozen_string_literal: true

require 'English'
require 'simpkv/config/validation'
require_relative '../support/absent_options'
require_relative '../support/another_ruby'

RSpec.describe Simpkv::Config do
  let(:file) { { 'type' => 'file', 'id' => 'x' } }

  def chosen(backend)
    { 'backend' => 'b', 'backends' => { 'b' => backend } }
  end

  describe '.typed' do
    it 'fills in defaults, and omits options without one' do
      expect(described_class.typed(file, 'b')).to eq(
        'type' => 'file', 'id' => 'x', 'case_sensitive' => false, 'lock_timeout_seconds' => 5, 'encrypt' => 'all',
        'encrypted_only' => false
      )
    end

    {
      'lock_timeout_seconds' => { 0 => 0, 0.5 => 0.5, '7' => 7.0, '2.5' => 2.5 },
      'root_path' => { '/a/b' => '/a/b', '/a//b/' => '/a/b', '/' => '/' },
      'case_sensitive' => { true => true, 'true' => true, 'false' => false }
    }.each do |name, cases|
      cases.each do |given, expected|
        it "accepts #{given.inspect} for #{name}" do
          expect(described_class.typed(file.merge(name => given), 'b')[name]).to eq(expected)
        end
      end
    end

    {
      'lock_timeout_seconds' => [-1, '-1', 'soon', '', true, [], Float::NAN, Float::INFINITY],
      'root_path' => ['relative', '', 5, "/a\0b", ['/a']],
      'case_sensitive' => ['yes', 1, ''],
      'id' => ['', 5, '..', 'a/../b', './a', "a\0", '/', 'a//b', '/a', 'a/', "a\nb", "a\xff"]
    }.each do |name, values|
      values.each do |value|
        it "refuses #{value.inspect} for #{name}, names the option and does not show the value" do
          expect { described_class.typed(file.merge(name => value), 'b') }.to raise_error(
            Simpkv::ConfigError, /\A'#{name}' of simpkv backend 'b' must be (a|an|true) /
          )
        end
      end
    end
  end

  describe 'with an option without a value' do
    ldap = { 'type' => 'ldap', 'id' => 'x', 'ldap_uri' => 'ldap://x' }
    audit = { 'type' => 'file', 'id' => 'x', 'audit' => { 'to' => '/a' } }
    { 'CALL' => [%w[sensitive noop_writes strict_options], [],
                 ->(absent) { Simpkv::Config.flag(absent, absent.keys.first) }],
      'BACKEND' => [%w[audit encryption_keys encrypted_only], %w[type id],
                    ->(absent) { Simpkv::Config.typed(ldap.merge(absent), 'b') }],
      'LDAP' => [%w[enable_tls], [], ->(absent) { Simpkv::Config.typed(ldap.merge(absent), 'b') }],
      'AUDIT' => [%w[reads required], %w[to],
                  ->(absent) { Simpkv::Config.typed(audit.merge('audit' => audit['audit'].merge(absent)), 'b') }],
      'LEVEL' => [%w[confine_to_keys sensitive], [], ->(absent) { Simpkv::Config.level(absent) }] }
      .each do |table, (protecting, required, reader)|
      options = described_class::TYPES.transform_keys(&:upcase)[table] || described_class.const_get(table)
      include_examples 'options without a value', table.downcase, options, protecting, required, reader
    end
  end

  describe '.typed, with an audit log' do
    def audit(options)
      described_class.typed(file.merge('audit' => options), 'b')['audit']
    end

    it 'fills in defaults, and converts' do
      expect(audit('to' => 'syslog')).to eq('to' => 'syslog', 'reads' => false, 'required' => false)
      expect(audit('to' => '/var//log/a', 'reads' => 'true', 'required' => 'true'))
        .to eq('to' => '/var/log/a', 'reads' => true, 'required' => true)
      expect(audit('to' => 'syslog:/run/log')['to']).to eq('syslog:/run/log')
    end

    it 'refuses other values, names the option and does not show the value' do
      ['', 'a.log', 'syslogd', 'syslog:', 'syslog:run/log', "syslog:/#{'x' * 107}", "/a\0", 5, ['/a']].each do |to|
        expect { audit('to' => to) }
          .to raise_error(Simpkv::ConfigError, /\A'to' of 'audit' of simpkv backend 'b' must be 'syslog', 'syslog:' /)
      end
      expect { audit('to' => '/a', 'reads' => 'some') }
        .to raise_error(Simpkv::ConfigError, "'reads' of 'audit' of simpkv backend 'b' must be true or false")
      expect { audit('/a') }.to raise_error(Simpkv::ConfigError, "'audit' of simpkv backend 'b' must be a Hash")
    end

    it 'refuses a file inside the store, which would be a key' do
      backend = file.merge('root_path' => '/srv/keys', 'audit' => { 'to' => '/srv//keys/globals/audit' })
      expect { Simpkv::Validation.check(chosen(backend), ['file']) }
        .to raise_error(Simpkv::ConfigError, /\A'to' of 'audit' of simpkv backend 'b' is inside 'root_path'/)
      backend['audit'] = { 'to' => '/srv/keys.log' }
      expect { Simpkv::Validation.check(chosen(backend), ['file']) }.not_to raise_error
    end

    it 'refuses an unknown option, a missing target, and required for syslog' do
      expect { audit('to' => '/a', 'read' => true) }
        .to raise_error(Simpkv::ConfigError, /\AUnknown option 'read' of 'audit' of simpkv backend .* 'reads'\?/)
      expect { audit({}) }
        .to raise_error(Simpkv::ConfigError, "'to' of 'audit' of simpkv backend 'b' is missing: set it to 'syslog' " \
                                             'or to a file')
      expect { audit('to' => 'syslog', 'required' => true) }
        .to raise_error(Simpkv::ConfigError, /\A'required' of 'audit' of simpkv backend 'b' needs a file: syslog /)
    end
  end

  describe '.typed, of type ldap' do
    let(:ldap) { { 'type' => 'ldap', 'id' => 'x', 'ldap_uri' => 'ldap://a' } }

    it 'fills in defaults, and omits options without one' do
      expect(described_class.typed(ldap, 'b')).to eq(
        'type' => 'ldap', 'id' => 'x', 'case_sensitive' => false, 'ldap_uri' => 'ldap://a:389',
        'base_dn' => 'ou=simpkv,o=puppet,dc=simp', 'admin_dn' => 'cn=Directory_Manager', 'layout' => 'plain',
        'fold_case' => false, 'strict_paths' => false, 'retries' => 1, 'connect_timeout_seconds' => 5,
        'operation_timeout_seconds' => 30, 'pool_size' => 8, 'pool_timeout_seconds' => 5, 'idle_timeout_seconds' => 60,
        'page_size' => 500, 'encrypt' => 'all', 'encrypted_only' => false
      )
    end

    {
      'ldap_uri' => { 'ldap://a ldap://b' => 'ldap://a:389 ldap://b:389',
                      'LDAP://A,ldap://b' => 'ldap://a:389 ldap://b:389',
                      %w[ldap://a ldap://b/] => 'ldap://a:389 ldap://b:389', ' ldap://a , ' => 'ldap://a:389',
                      %w[ldap://a ldap://b/x] => 'ldap://a ldap://b/x' },
      'retries' => { 0 => 0, '3' => 3, 100 => 100 },
      'enable_tls' => { 'true' => true, false => false },
      'pool_size' => { '16' => 16 },
      'operation_timeout_seconds' => { '2.5' => 2.5 },
      'layout' => { 'hex' => 'hex' }
    }.each do |name, cases|
      cases.each do |given, expected|
        it "accepts #{given.inspect} for #{name}" do
          expect(described_class.typed(ldap.merge(name => given), 'b')[name]).to eq(expected)
        end
      end
    end

    {
      'ldap_uri' => ['', ' , ', 5, [], [5], ["ldap://a\0"], {}],
      # '3' crashed, and -1 was an endless loop while the server was busy.
      'retries' => [-1, '-1', 101, 1.5, '1.5', 'many', '', true, '9' * 40],
      'enable_tls' => ['yes', 1],
      'admin_dn' => ['', 5],
      'admin_pw_file' => ['relative', ''],
      'pool_size' => [0, 1001, 'x'],
      'page_size' => [0, 100_001],
      'operation_timeout_seconds' => [0, -1, 'soon'],
      'layout' => ['', 'HEX', :hex]
    }.each do |name, values|
      values.each do |value|
        it "refuses #{value.inspect} for #{name}, and names the option" do
          expect { described_class.typed(ldap.merge(name => value), 'b') }.to raise_error(
            Simpkv::ConfigError, /\A'#{name}' of simpkv backend 'b' must be (a|an|true) /
          )
        end
      end
    end
  end

  describe 'Simpkv::Validation.check, of type ldap' do
    def validate(backend = {}, options = {})
      Simpkv::Validation.check({ 'backend' => 'b', 'environment' => 'dev', 'backends' => {
        'b' => { 'type' => 'ldap', 'id' => 'x', 'ldap_uri' => 'ldap://a' }.merge(backend)
      } }.merge(options), ['ldap'])
    end

    # dev and Dev shared their keys.
    it 'refuses an environment with capital letters, which would share keys with another one, in both layouts' do
      %w[plain hex].each do |layout|
        expect { validate({ 'layout' => layout }, { 'environment' => 'Dev' }) }.to raise_error(
          Simpkv::ConfigError, "environment 'Dev' has capital letters, which do not count in a directory: it would " \
                               "share its keys with 'dev'. If that is wanted, set 'fold_case'"
        )
      end
    end

    it 'refuses an id with capital letters in the plain layout' do
      expect { validate({ 'id' => 'App' }) }
        .to raise_error(Simpkv::ConfigError, /\A'id' of simpkv backend 'b' 'App' has capital letters/)
      expect { validate({ 'id' => 'App', 'layout' => 'hex' }) }.not_to raise_error
    end

    it 'accepts capital letters with fold_case; in an environment, also with global keys' do
      expect { validate({ 'id' => 'App', 'fold_case' => true }, { 'environment' => 'Dev' }) }.not_to raise_error
      expect { validate({}, { 'environment' => 'Dev', 'global' => true }) }.not_to raise_error
    end

    it 'refuses case_sensitive in the plain layout' do
      expect { validate({ 'case_sensitive' => true }) }.to raise_error(Simpkv::ConfigError, /needs 'layout' hex/)
      expect { validate({ 'case_sensitive' => true, 'layout' => 'hex' }) }.not_to raise_error
    end
  end

  describe 'Simpkv::Validation.check, of any type' do
    def validate(more)
      Simpkv::Validation.check(chosen({ 'type' => 'acme', 'id' => 'x' }.merge(more)), %w[file acme])
    end

    it 'refuses options of encryption without a file of keys, which would protect nothing' do
      { 'encrypt' => 'all', 'encrypted_only' => true }.each do |option, value|
        expect { validate({ option => value }) }.to raise_error(
          Simpkv::ConfigError, /\A'#{option}' of simpkv backend 'b' needs 'encryption_keys': the file of the keys/
        )
        expect { validate({ option => value, 'encryption_keys' => '/keys' }) }.not_to raise_error
      end
      expect { validate({ 'encrypt' => 'none', 'encrypted_only' => 'false' }) }.not_to raise_error
    end

    it 'refuses to require encryption of documents that are stored plain' do
      %w[sensitive none].each do |mode|
        options = { 'encryption_keys' => '/keys', 'encrypted_only' => true, 'encrypt' => mode }
        expect { validate(options) }
          .to raise_error(Simpkv::ConfigError, /\A'encrypted_only' of simpkv backend 'b' needs 'encrypt' all: /)
      end
    end

    it 'refuses invalid options of encryption for types of modules, too' do
      { 'encryption_keys' => ['keys', 'an absolute path'], 'encrypted_only' => ['yes', 'true or false'],
        'encrypt' => ['some', 'a String, all, sensitive or none'] }.each do |option, (value, needed)|
        expect { validate({ option => value }) }
          .to raise_error(Simpkv::ConfigError, "'#{option}' of simpkv backend 'b' must be #{needed}")
      end
    end
  end

  describe 'Simpkv::Validation.check, of either type' do
    it 'refuses a value of the wrong type for each option of the chosen backend, and names the option' do
      described_class::TYPES.each do |type, options|
        (described_class::BACKEND.drop(1) + options).each do |option|
          wrong = option.type == :hash ? ['hush'] : { 'hush' => 'hush' }
          backend = { 'type' => type, 'id' => 'x', option.name => wrong }
          expect { Simpkv::Validation.check(chosen(backend), [type]) }.to raise_error(
            Simpkv::ConfigError,
            "'#{option.name}' of simpkv backend 'b' must be #{Simpkv::Coercion.needed(option.type)}"
          )
        end
      end
    end
  end

  describe '.doubts' do
    {
      'rot_path' => 'root_path', 'rootpath' => 'root_path', 'Root-Path' => 'root_path', 'ldap_url' => 'ldap_uri',
      'lock_timeout' => 'lock_timeout_seconds', 'timeout' => nil, 'tls_ca_cert' => 'tls_cacert',
      'pagesize' => 'page_size', 'zzzzzz' => nil, '' => nil, 'é' => nil, 5 => nil, 'r' * 5000 => nil
    }.each do |written, meant|
      it "#{meant ? "suggests #{meant}" : 'suggests nothing'} for #{written.to_s[0, 30].inspect}" do
        suggestion = ": did you mean '#{meant}'?" if meant
        expect(described_class.doubts(chosen(file.merge(written => '/x')))).to eq(
          ["Unknown option '#{written}' of simpkv backend 'b'#{suggestion}"]
        )
      end
    end

    it 'suggests options of a call' do
      expect(described_class.doubts(chosen(file).merge('sotffail' => true, 'evnironment' => 'x'))).to eq(
        ["Unknown option 'sotffail' in simpkv configuration: did you mean 'softfail'?",
         "Unknown option 'evnironment' in simpkv configuration: did you mean 'environment'?"]
      )
    end

    it 'accepts options of our other types' do
      expect(described_class.doubts(chosen(file.merge('ldap_uri' => 'ldapi://x', 'base_dn' => 'dc=x',
                                                      'layout' => 'hex')))).to eq([])
    end

    it 'ignores backends of third-party types' do
      expect(described_class.doubts(chosen('type' => 'acme', 'id' => 'x',
                                           'rot_path' => '/x').merge('own' => 1))).to eq([])
    end
  end

  describe 'Simpkv::Validation.differences' do
    it 'fills in defaults first' do
      expect(Simpkv::Validation.differences(file,
                                            file.merge('root_path' => '/var/simp/simpkv/file/x/',
                                                       'lock_timeout_seconds' => 5)))
        .to eq([[], []])
    end

    it 'separates location and identity from the other options' do
      expect(Simpkv::Validation.differences(file, file.merge('root_path' => '/other', 'lock_timeout_seconds' => 6)))
        .to eq([['root_path'], ['lock_timeout_seconds']])
      acme = { 'type' => 'acme', 'id' => 'x' }
      expect(Simpkv::Validation.differences(acme,
                                            acme.merge('base_dn' => 'dc=x', 'own' => 1))).to eq([['base_dn'], ['own']])
    end
  end

  describe 'Simpkv::Validation.differences, of type ldap' do
    let(:ldap) { { 'type' => 'ldap', 'id' => 'x', 'ldap_uri' => %w[ldap://a ldap://b] } }

    it 'fills in defaults first, and treats a list of servers and the same text as equal' do
      same = ldap.merge('ldap_uri' => 'ldap://a, ldap://b', 'write_uri' => 'ldap://a ldap://b', 'retries' => '1',
                        'enable_tls' => false, 'base_dn' => 'ou=simpkv,o=puppet,dc=simp')
      expect(Simpkv::Validation.differences(ldap, same)).to eq([[], []])
    end

    it 'separates location and identity from the other options' do
      other = ldap.merge('ldap_uri' => 'ldap://c', 'base_dn' => 'dc=x', 'admin_dn' => 'cn=x', 'layout' => 'hex',
                         'retries' => 2)
      expect(Simpkv::Validation.differences(ldap, other).map(&:sort))
        .to eq([%w[admin_dn base_dn layout ldap_uri], %w[retries write_uri]])
    end
  end

  describe '.root?' do
    it 'is true for the folders at which no key can be, and for no other path' do
      expect(%w[globals environments environments/dev]).to all(satisfy { |path| described_class.root?(path) })
      expect(%w[globals/a environments/dev/a other]).to all(satisfy { |path| !described_class.root?(path) })
    end
  end

  describe '.copy' do
    it 'copies frozen hashes and arrays, however deep, into ones that can be changed' do
      original = { 'a' => [{ 'b' => 1 }.freeze].freeze }.freeze
      copy = described_class.copy(original)
      copy['a'].first['b'] = 2
      expect([original, copy]).to eq([{ 'a' => [{ 'b' => 1 }] }, { 'a' => [{ 'b' => 2 }] }])
    end
  end

  describe '.default_backends' do
    it 'is a new hash each time, which the caller may change' do
      described_class.default_backends['default']['id'] = 'changed'
      expect(described_class.default_backends).to eq('default' => { 'type' => 'file', 'id' => 'auto_default' })
    end
  end

  it 'describes every option in words' do
    sections = described_class::Sections.all.each_value.map { |section| section::OPTIONS }
    options = [described_class::CALL, described_class::BACKEND, described_class::AUDIT,
               sections, *described_class::TYPES.values].flatten
    expect(options.map(&:text)).to all(match(/\w+ \w+/))
    expect(options.map { |option| Simpkv::Coercion.needed(option.type) }).to all(match(/\w+ \w+/))
  end

  it 'needs no Puppet' do
    script = 'require "simpkv"; print Simpkv::Config.default_backends.keys; exit(defined?(Puppet) ? 1 : 0)'
    output = IO.popen(AnotherRuby.command('-e', script), &:read)
    expect([output, $CHILD_STATUS.success?]).to eq(['["default"]', true])
  end
end
