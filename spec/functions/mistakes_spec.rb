# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/scratch'

# The mistakes that manifests make, with the whole message: 1.0.0's text, and after it what to do.
RSpec.describe 'A mistake in a manifest' do
  let!(:world) { PuppetWorld.new(hiera: { 'backends' => backends }) }
  let(:dir) { @dir = Scratch.make('mistakes') }
  let(:backends) do
    { 'default' => { 'type' => 'file', 'id' => 'd', 'root_path' => "#{dir}/store" },
      'vault' => { 'type' => 'file', 'id' => 'v', 'root_path' => "#{dir}/vault" } }
  end

  before do
    world.call('simpkv::put', 'app1/db/password', 'x')
    world.call('simpkv::put', 'app1/brief', 'x')
    world.call('simpkv::put', 'shared/token', 'x', {}, 'global' => true)
    File.write("#{dir}/file", 'secret', perm: 0o600)
  end

  after do
    world.close
    FileUtils.rm_rf(@dir)
  end

  # @return [String] the message without the folders of this example
  def message(function, *arguments, klass: RuntimeError)
    world.call("simpkv::#{function}", *arguments)
    raise 'there is no error'
  rescue ArgumentError, RuntimeError => e
    raise unless e.is_a?(klass)

    e.message.gsub(dir, '/DIR')
  end

  def self.one(more)
    { 'backend' => 'b', 'backends' => { 'b' => more } }
  end

  stored = "'/DIR/store/environments/production"
  default = "To get a value of your choice instead of this error, set 'default'"
  empty = "To get an empty result instead of this error, set 'missing' to 'empty'"

  # By the function and its arguments: what follows "simpkv Error for ...: simpkv file/d Error: ".
  {
    ['get', 'app1/db/passwd'] =>
      "Key not found: #{stored}/app1/db/passwd'. There is no 'app1/db/passwd', but 'app1/db/password'. #{default}",
    ['get', 'app1/dbs/password'] =>
      "Key not found: #{stored}/app1/dbs/password'. There is no 'app1/dbs', but 'app1/db'. #{default}",
    ['get', 'app1/dbs/a/password'] =>
      "Key not found: #{stored}/app1/dbs/a/password'. There is no 'app1/dbs', but 'app1/db'. #{default}",
    ['get', 'nothing/like/it'] => "Key not found: #{stored}/nothing/like/it'. #{default}",
    ['get', 'shared/token'] =>
      "Key not found: #{stored}/shared/token'. The global keys have this name: set 'global' to true. #{default}",
    ['get', 'app1/brief', { 'global' => true }] =>
      "Key not found: '/DIR/store/globals/app1/brief'. The environment 'production' has this name: remove 'global'. " \
      "#{default}",
    ['get', 'app1/db/password/old'] =>
      "Key not found: #{stored}/app1/db/password/old'. 'app1/db/password' is a key, not a folder. #{default}",
    ['get', 'app1/brief', { 'version' => -2 }] => "Key not found: 'app1/brief' has no version -2: its history has 0",
    ['get', 'app1/db'] => "Key specifies a folder: #{stored}/app1/db': simpkv::list reads the keys in it",
    ['delete', 'app1/db'] => "Key specifies a folder: #{stored}/app1/db': simpkv::deletetree deletes it",
    ['put', 'app1/db', 'x'] => "Key specifies a folder: #{stored}/app1/db': choose another name for the key",
    ['get_or_create', 'app1/db', 'x'] =>
      "Key specifies a folder: #{stored}/app1/db': choose another name for the key",
    ['compare_and_put', 'app1/db', 'x', 'y'] =>
      "Key specifies a folder: #{stored}/app1/db': choose another name for the key",
    ['list', 'app1/dbs'] =>
      "Key folder #{stored}/app1/dbs' not found. There is no 'app1/dbs', but 'app1/db'. #{empty}",
    %w[tree ap1] => "Key folder #{stored}/ap1' not found. There is no 'ap1', but 'app1'. #{empty}",
    %w[list shared] =>
      "Key folder #{stored}/shared' not found. The global keys have this name: set 'global' to true. #{empty}",
    ['list', 'app1/brief'] =>
      "Key folder #{stored}/app1/brief' not found. 'app1/brief' is a key, not a folder. #{empty}",
    ['deletetree', 'app1/brief'] =>
      "Folder delete of #{stored}/app1/brief' failed: it is a key, not a folder: simpkv::delete deletes it",
    ['put', 'app1/brief/x', 'x'] =>
      "Key write to #{stored}/app1/brief/x' failed: 'environments/production/app1/brief' is a key, not a folder: " \
      'delete it, or choose another name'
  }.each do |(function, name, *arguments), expected|
    it "with a key is told with the remedy: simpkv::#{function} #{[name, *arguments].join(', ')}" do
      whole = "simpkv Error for simpkv::#{function} with key='#{name}': simpkv file/d Error: #{expected}"
      expect(message(function, name, *arguments).sub(' keydir=', ' key=')).to eq(whole)
      world.fresh_catalog
      last = arguments.last.is_a?(Hash) ? arguments.pop : {}
      arguments << {} if %w[put get_or_create compare_and_put].include?(function)
      world.call("simpkv::#{function}", name, *arguments, last.merge('softfail' => true))
      expect(world.warnings.last.gsub(dir, '/DIR')).to end_with(expected)
    end
  end

  it 'about an expired key is told with the remedy' do
    path = File.join(dir, 'store', 'environments', 'production', 'app1', 'brief')
    File.write(path, '{"value":"x","metadata":{},"expires":"2020-01-01T00:00:00Z"}')
    expect(message('get', 'app1/brief'))
      .to end_with("Key not found: 'app1/brief' has expired: store it again, or set 'expired' to 'return' or 'warn' " \
                   'to read it')
  end

  {
    'App1/db/password' => ": write it in lower case; only a backend with 'case_sensitive' takes capital letters",
    'app1/dé' => '', 'App1/dé' => ''
  }.each do |key, remedy|
    it "in the characters of a key is told, with a remedy if it is in capital letters: #{key}" do
      expect(message('get', key, klass: ArgumentError))
        .to eq("key '#{key}' contains unsupported characters.  Allowed set=[a-z0-9._:-/]#{remedy}")
    end
  end

  attributes = "with 'id' and 'type' attributes has been configured"
  {
    { 'backend' => 'valt' } =>
      "No simpkv backend 'valt' #{attributes}: 'backends' has 'default' and 'vault': did you mean 'vault'?",
    { 'backend' => 'none' } =>
      "No simpkv backend 'none' #{attributes}: 'backends' has 'default' and 'vault': correct the name, or add it",
    one('type' => 'file') => "No simpkv backend 'b' #{attributes}: it has no 'id': add what is missing",
    one('id' => 'x') => "No simpkv backend 'b' #{attributes}: it has no 'type': add what is missing",
    one({}) => "No simpkv backend 'b' #{attributes}: it has no 'type' and no 'id': add what is missing",
    one('file') => "No simpkv backend 'b' #{attributes}: 'b' of 'backends' must be a Hash with 'type' and 'id'",
    one('type' => 'fiel', 'id' => 'x') =>
      "simpkv backend plugin 'fiel' not available: there are 'file', 'ldap' and 'memory': did you mean 'file'?",
    one('type' => 'consul', 'id' => 'x') =>
      "simpkv backend plugin 'consul' not available: there are 'file', 'ldap' and 'memory': correct it, or install " \
      'the module with its plugin in this environment',
    { 'backends' => 'file' } =>
      "'backends' in simpkv configuration is not a Hash: set it to one from the name of each backend to a Hash with " \
      "'type' and 'id'",
    { 'softfail' => 'maybe' } => "'softfail' in simpkv configuration must be true or false",
    { 'backend' => 3 } => "'backend' in simpkv configuration must be a String that is not empty",
    { 'missing' => 'emty' } => "'missing' in simpkv configuration must be a String, fail or empty"
  }.each do |options, expected|
    it "in the options is told with the remedy: #{options}" do
      expect(message('get', 'a', options, klass: ArgumentError))
        .to eq("simpkv Configuration Error for simpkv::get with key='a': #{expected}")
    end
  end

  it 'of a site without a backend of the name default is told with the remedy' do
    world.hiera = { 'backends' => backends.slice('vault') }
    world.fresh_catalog
    expect(message('get', 'a', klass: ArgumentError))
      .to end_with("#{attributes}: 'backends' has 'vault': set 'backend' to one of them, or add it")
  end

  uri = { 'ldap_uri' => 'ldap://127.0.0.1:1' }
  tls = { 'ldap_uri' => 'ldaps://127.0.0.1:1', 'admin_pw_file' => __FILE__ }
  {
    { 'root_path' => '/DIR/file/x' } =>
      "'file/x': Unable to create configured root path '/DIR/file/x': Not a directory: set 'root_path' to a folder " \
      "that uid #{Process.euid} can make or use",
    { 'root_path' => '/DIR/file' } =>
      "'file/x': Cannot access root path '/DIR/file': Not a directory: set 'root_path' to a folder that uid " \
      "#{Process.euid} can make or use",
    {} => "'ldap/x': Plugin missing 'ldap_uri' configuration: set 'ldap_uri' to the URI of a server, such as " \
          'ldaps://ldap1.example.com',
    uri => "'ldap/x': Plugin missing 'admin_pw_file' configuration: set 'admin_pw_file' to the file with the " \
           "password of 'admin_dn'",
    uri.merge('admin_pw_file' => '/no/such', 'admin_dn' => 'cn=x') =>
      "'ldap/x': Configured 'admin_pw_file' /no/such does not exist: write the password of cn=x into it, readable by " \
      "its owner alone, or correct 'admin_pw_file'",
    uri.merge('admin_pw_file' => '/') =>
      "'ldap/x': Configured 'admin_pw_file' / is a folder, not a file: correct 'admin_pw_file'",
    tls => "'ldap/x': TLS configuration incomplete: 'tls_cacert' is missing: set 'tls_cacert' to the file with the " \
           "certificate of the server's CA",
    tls.merge('tls_cacert' => __FILE__, 'tls_key' => __FILE__) =>
      "'ldap/x': TLS configuration incomplete: 'tls_cert' and 'tls_key' come as a pair: set 'tls_cert' to the file " \
      'with the certificate that belongs to it',
    tls.merge('tls_cacert' => '/no/such') =>
      "'ldap/x': Configured 'tls_cacert' /no/such does not exist: make it, or correct 'tls_cacert'"
  }.each do |more, expected|
    it "in the options of a backend is told with the remedy: #{expected.sub(/\A\S+ /, '')[0, 60]}" do
      more = more.transform_values { |value| value.sub('/DIR', dir) }
      backend = { 'type' => more.key?('root_path') ? 'file' : 'ldap', 'id' => 'x' }.merge(more)
      expect(message('get', 'a', self.class.one(backend)))
        .to eq("simpkv Error for simpkv::get with key='a': simpkv Error: Unable to construct #{expected}")
    end
  end

  describe 'that stores what is no data' do
    deferred = 'Deferred is not plain data: its value is known on the agent only. To store that, call simpkv::put by ' \
               'a Deferred there'
    {
      "Deferred('simpkv::get', ['a'])" => "value: #{deferred}",
      "{ 'a' => ['b', Deferred('new')] }" => "value['a'][1]: #{deferred}",
      "Sensitive(Deferred('new'))" => "value: inside the Sensitive, #{deferred}",
      "{ Deferred('new') => 1 }" => 'value: a key is not plain data, but Deferred'
    }.each do |value, expected|
      # A Deferred was "#<Class:0x00007fb7c82eafe0>".
      it "names its type: #{value}" do
        expect { world.compile("simpkv::put('a', #{value})") }
          .to raise_error(Puppet::Error, /simpkv file.d Error: cannot encode #{Regexp.escape(expected)}/)
      end
    end
  end

  describe 'that passes options as metadata' do
    def warnings(function, *arguments)
      world.call("simpkv::#{function}", *arguments)
      world.warnings
    end

    def warning(call, names)
      "simpkv::#{call} stores options as metadata (#{names}): options are in a Hash of their own, after the metadata"
    end

    it 'is a warning of each function that has metadata' do
      expect(warnings('put', 'a', 'x', { 'global' => true }))
        .to eq([warning("put with key='a'", "'global'")])
      warnings('get_or_create', 'b', 'x', { 'softfail' => true, 'backend' => 'vault' })
      warnings('compare_and_put', 'c', nil, 'x', { 'history' => 3 })
      warnings('put_many', { 'd' => { 'value' => 1, 'metadata' => { 'global' => false } }, 'e' => { 'value' => 1 } })
      expect(world.warnings.drop(1))
        .to eq([warning("get_or_create with key='b'", "'softfail', 'backend'"),
                warning("compare_and_put with key='c'", "'history'"), warning("put_many with keys='d'", "'global'")])
      expect(world.call('simpkv::get', 'a')['metadata']).to eq('global' => true)
    end

    it 'is none if a name or a value cannot be that of an option' do
      others = [{}, { 'global' => true, 'made_by' => 'x' }, { 'version' => '1.2.3' }, { 'global' => 'everywhere' }]
      others.each do |metadata|
        expect(warnings('put', 'a', 'x', metadata, {})).to eq([])
      end
    end
  end

  it 'in the names of options is a warning with a suggestion' do
    world.call('simpkv::get', 'app1/brief', { 'sofftfail' => true })
    world.call('simpkv::get', 'app1/brief', { 'gloabl' => true })
    expect(world.warnings).to eq(["Unknown option 'sofftfail' in simpkv configuration: did you mean 'softfail'?",
                                  "Unknown option 'gloabl' in simpkv configuration: did you mean 'global'?"])
  end

  # It was ignored without a word.
  it 'of another environment in the options is a warning' do
    world.call('simpkv::get', 'app1/brief', { 'environment' => 'dev' })
    world.call('simpkv::get', 'app1/brief', { 'environment' => 'production' })
    expect(world.warnings).to eq(["simpkv ignores the option 'environment': keys belong to the environment of the " \
                                  "catalog, 'production', or with 'global' to all"])
  end

  it 'is told without names of another environment, and without names that no key can have' do
    folder = File.join(dir, 'store', 'environments')
    FileUtils.mkdir_p(File.join(folder, 'dev', 'app1', 'db'))
    File.write(File.join(folder, 'dev', 'app1', 'db', 'secret-name'), '{"value":1}')
    File.write(File.join(folder, 'production', 'app1', 'db', "secret-n\ame"), '{"value":1}')
    expect(message('get', 'app1/db/secret-nam')).to end_with("/secret-nam'. #{default}")
    expect(message('get', 'productio/app1')).to end_with("/productio/app1'. #{default}")
  end
end
