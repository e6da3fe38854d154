# frozen_string_literal: true

require_relative '../puppet_helper'
require 'open3'
require_relative '../support/another_ruby'
require_relative '../support/ldap_store'
require_relative '../support/puppet_command'

# Searches everything that somebody can read, after calls that succeed and calls that fail.
RSpec.describe 'Values, metadata and passwords' do
  include_context 'with slapd', tls: true

  let(:root) { Dir.mktmpdir('simpkv-spec') }
  let!(:world) { PuppetWorld.new(hiera: site) }
  let(:site) { { 'backends' => { 'default' => ldap, 'file' => file } } }
  let(:ldap) { slapd.options('type' => 'ldap', 'id' => id) }
  let(:file) { { 'type' => 'file', 'id' => id, 'root_path' => File.join(root, 'root') } }
  let(:said) { [] }

  secrets = { value: 'pl4nted-v4lue', metadata: 'pl4nted-m3ta', sensitive: 'pl4nted-s3nsitive',
              option: 'pl4nted-0ption', password: DirectoryServer::PASSWORD }
  number = 493_817

  # Runs after Puppet's own preparation of each example, which resets it.
  before { Puppet::Util::Log.level = :debug }

  after do
    world.close
    FileUtils.remove_entry(root)
  end

  # @return [Exception, nil] the exception of the block, which is kept
  def attempt
    yield
    nil
  rescue StandardError, SystemStackError => e
    chain = [e]
    chain << chain.last.cause while chain.last.cause
    said.concat(chain.flat_map { |each| [each.message, each.inspect, *each.backtrace] })
    said << e.full_message(highlight: false)
    e
  end

  # The secret, and its forms in encodings, dumps and escapes.
  def spellings(secret)
    [secret, [secret].pack('m0').delete('='), secret.unpack1('H*'), secret.reverse, CGI.escape(secret)].uniq
  end

  def expect_no_leak(secrets)
    all = [*said, *world.messages].join("\n").b
    expect(all.length).to be > 1000
    expect(Puppet::Util::Log.level).to eq(:debug)
    found = secrets.select { |_, secret| spellings(secret).any? { |spelling| all.include?(spelling) } }
    expect(found.keys).to eq([])
  end

  def call(function, *arguments)
    attempt { world.call("simpkv::#{function}", *arguments) }
  end

  let(:sensitive) { Puppet::Pops::Types::PSensitiveType::Sensitive }

  # All functions, on one backend.
  def use(options, secrets)
    meta = { 'of' => secrets[:metadata] }
    [secrets[:value], secrets[:value].upcase, "#{secrets[:value]}\xFF"].each do |value|
      call('put', 'd/k', value, meta, options)
    end
    call('put', 'd', secrets[:value], meta, options)
    call('put', 'd/s', sensitive.new(secrets[:sensitive]), meta, options.merge('rich_data' => true))
    use_conditions(options, secrets, meta)
    %w[get exists delete].product(%w[d/k d/s]).each { |function, key| call(function, key, options) }
    call('get_many', %w[d/k d/s d/none d], options)
    %w[list tree deletetree].each { |function| call(function, 'd', options) }
  end

  def use_conditions(options, secrets, meta)
    value, hidden = secrets.values_at(:value, :sensitive)
    ['d/k', 'd/new', 'd'].each do |key|
      call('get_or_create', key, value, meta, options)
      [value, sensitive.new(hidden), nil].each do |expected|
        call('compare_and_put', key, expected, sensitive.new(hidden), meta, options)
      end
    end
    call('put_many', %w[d/k d d/k/below].to_h { |key| [key, { 'value' => value, 'metadata' => meta }] }, options)
  end

  # Values and metadata that cannot be stored. Messages name the members on the path to the invalid part.
  def use_wrong(options, secrets)
    nested = (1..200).inject(secrets[:value]) { |value, _| [value] }
    [nested, [secrets[:value], Object.new], { 'a' => { 'b' => secrets[:value], 'c' => Object.new } }].each do |value|
      expect_refused(options, ['put', 'd/k', value, {}], ['put', 'd/k', 1, { 'of' => [secrets[:metadata], value] }],
                     ['get_or_create', 'd/none', value, {}], ['put_many', { 'd/k' => { 'value' => value } }],
                     ['compare_and_put', 'd/none', value, secrets[:value], {}])
    end
  end

  def expect_refused(options, *calls)
    calls.each { |each| expect(call(*each, options)).not_to be_nil, each.first }
  end

  # Invalid documents that contain secrets.
  def malformed(secrets)
    value, metadata = secrets.values_at(:value, :metadata).map { |secret| %("#{secret}") }
    [%({"value":#{value.chop}), "#{value}}", %({"value":1,"metadata":#{metadata}}),
     %({"value":#{value},"encoding":#{value}}), %({"value":#{value},"expires":#{value}})]
  end

  def plugin_of(options)
    world.adapter.plugin_instance(world.call('simpkv::support::config::merge', options, world.adapter.backends))
  end

  def use_malformed(options, secrets)
    plugin = plugin_of(options)
    malformed(secrets).each_with_index do |document, number|
      plugin.put("environments/production/m/k#{number}", document)
      expect_refused(options, ['get', "m/k#{number}"], ['get_or_create', "m/k#{number}", 1, {}],
                     ['compare_and_put', "m/k#{number}", 1, 1, {}])
    end
    expect_refused(options, %w[list m], %w[tree m])
    %w[list tree].each { |function| call(function, 'm', options.merge('skip_undecodable' => true)) }
    said << world.call('simpkv::get_many', %w[m/k0 m/k1], options.merge('errors' => 'return'))['errors'].inspect
    call('deletetree', 'm', options)
    said << plugin.inspect << world.adapter.inspect
  end

  # Earlier values, and those that no history can hold.
  def use_history(options, secrets)
    use(options, secrets)
    use_wrong(options, secrets)
    nested = (1..98).inject(secrets[:value]) { |value, _| { secrets[:option] => value } }
    expect_refused(options, ['put', 'd/k', nested, {}], ['get_or_create', 'd/none', nested, {}])
    [secrets[:value], 1].each { |value| call('put', 'd/k', value, {}, options) }
    expect_refused(options.merge('version' => -2), %w[get d/k])
  end

  def with(more)
    { 'backends' => { 'default' => ldap.merge(more) } }
  end

  it 'are in no message, log line, backtrace or inspect of any operation' do
    [{}, { 'backend' => 'file' }].each do |options|
      %i[use use_wrong use_malformed].each { |part| send(part, options, secrets) }
      use_history(options.merge('history' => 3, 'expires_after' => '1d'), secrets)
    end
    said << Simpkv.stats.inspect
    expect_no_leak(secrets)
  end

  it 'are in none if simpkv::secret has made them, and in none of its failures' do
    [{}, { 'backend' => 'file' }].each do |options|
      formats = [{}, { 'format' => 'ssha' }, { 'format' => 'sha512-crypt', 'cost' => 1000 }, { 'format' => 'hex' }]
      made = formats.map { |format| world.call('simpkv::secret', 'made/k', options.merge(format)).unwrap }
      entry = world.call('simpkv::get', 'made/k', options)
      said << entry.inspect << world.call('simpkv::list', 'made', options).to_s
      call('put', 'made/bytes', sensitive.new("\0#{made.first}"), {}, options)
      wrong = [%w[format none], %w[part public], %w[kind bytes], ['cost', 5], ['version', -9]]
      wrong.each { |name, value| expect_refused(options.merge(name => value), %w[secret made/k]) }
      expect_refused(options.merge('format' => 'yescrypt'), %w[secret made/bytes])
      entry['metadata']['simpkv::secret'].unwrap.values_at('seed', 'of').each { |text| made << text }
      expect_no_leak(made.each_with_index.to_h { |text, index| [index, text] })
    end
  end

  it 'are in none if the configuration or the server is wrong' do
    wrong = File.join(root, 'wrong').tap { |name| File.write(name, secrets[:password].reverse) }
    call('put', 'k', secrets[:value], {}, with('admin_pw' => secrets[:option]))
    [{ 'admin_pw_file' => wrong }, { 'admin_pw_file' => secrets[:option] },
     { 'retries' => secrets[:option] }, { 'layout' => secrets[:option] }, { 'pool_size' => [secrets[:option]] },
     { 'ldap_uri' => 'ldap://127.0.0.1:1', 'retries' => 0 }, { 'base_dn' => 'ou=none,dc=simp' },
     { 'ldap_uri' => slapd.tls_uri, 'tls_cacert' => slapd.password_file }].each do |more|
      world.fresh_catalog
      expect(call('put', 'k', secrets[:value], { 'of' => secrets[:metadata] }, with(more))).not_to(be_nil, more.inspect)
    end
    expect_no_leak(secrets.reject { |name, _| name == :option }.merge(reversed: secrets[:password].reverse))
  end

  # Puppet's own messages describe an argument of the wrong type by its type, and the type of a number has its value.
  [["put_many({ 'a' => { 'value' => N }, '' => { 'value' => 1 } })", /put_many: a key is empty/],
   ["put_many({ 'a' => { 'value' => N }, N => { 'value' => N } })", /put_many: a key is not a String/],
   ["put_many({ 'a' => { 'value' => N, 'more' => N } })", /put_many with key='a': expected a hash with 'value'/],
   ["put_many({ 'a' => { 'metadata' => { 'n' => N } } })", /put_many with key='a': expected/],
   ["put_many({ 'a' => { 'value' => undef, 'metadata' => { 'n' => N } } })", /put_many with key='a': expected/],
   ["put_many({ 'a' => { 'value' => N, 'metadata' => N } })", /put_many with key='a': expected/],
   ["put_many({ 'a' => { 'value' => N }, 'b' => N })", /put_many with key='b': expected/],
   ['put_many([N])', /entries/], ["put_many({ 'a' => { 'value' => N } }, N)", /options/], ["put('', N)", /key/],
   ["put('k', { 'a' => N }, [N])", /metadata/], ["get_or_create('', N)", /key/],
   ["get_or_create('', { 'a' => N }, { 'b' => N })", /key/], ["get_or_create('k', { 'a' => N }, N)", /metadata/],
   ["get_or_create('k', undef, { 'a' => N })", /value/], ["get_or_create('k', N) |$k| { N }", /block/],
   ["compare_and_put('', N, 1)", /key/], ["compare_and_put('k', { 'a' => N }, undef)", /value/],
   ["compare_and_put('k', N, [N], [N])", /metadata/]].each do |code, why|
    it "are in no message about wrong arguments, if they are numbers: #{code}" do
      expect(attempt { world.compile("simpkv::#{code.gsub(/\bN\b/, number.to_s)}") }&.message).to match(why)
      expect([*said, *world.messages].join("\n")).not_to include(number.to_s)
    end
  end

  # Stores, reads, and fails for a value that is nested too deep.
  def manifest(secrets)
    <<~PUPPET
      $options = #{site.to_json.gsub(/":(?=["{])/, '" => ')}
      $metadata = { 'of' => '#{secrets[:metadata]}' }
      simpkv::put('d/k', '#{secrets[:value]}', $metadata, $options)
      notify { "it is there: ${simpkv::get('d/k', $options)['value'].length}": }
      simpkv::list('d', $options)
      simpkv::put('d/k', #{'[' * 150}'#{secrets[:value]}'#{']' * 150}, $metadata, $options)
    PUPPET
  end

  # @return [Array<String>] the output of a process that prints all of its messages, and the files that it leaves in
  #   Puppet's folders
  def apply(manifest)
    File.write(file = File.join(root, 'site.pp'), manifest)
    folders = PuppetCommand.folders(File.join(root, 'puppet'))
    output, = Open3.capture2e(*AnotherRuby.command('-e', PuppetCommand::SCRIPT, 'apply', '--debug', '--trace',
                                                   '--profile', *folders, '--modulepath',
                                                   File.join(world.dir, 'modules'), file))
    left = Dir[File.join(root, 'puppet', '**', '*')].select { |name| File.file?(name) }
    [output, *left.map { |name| File.read(name) }]
  end

  it 'are in no output or file of puppet apply with --debug, --trace and --profile', needs: :mri do
    said.concat(apply(manifest(secrets)))
    expect(said.first).to include('Debug: ', 'Error: ', 'in `put')
    expect_no_leak(secrets)
  end

  it 'are in no output or file of it but the managed one, if simpkv::secret has made them', needs: :mri do
    options = site.to_json.gsub(/":(?=["{])/, '" => ')
    formats = { 'plain' => {}, 'hex' => { 'format' => 'hex' },
                'hash' => { 'format' => 'sha512-crypt', 'cost' => 1000 } }
    files = formats.map do |name, format|
      more = format.to_json.gsub('":', '" => ')
      "file { '#{root}/#{name}': content => simpkv::secret('d/made', #{options} + #{more}) }"
    end
    said.concat(apply(files.join("\n")))
    made = formats.to_h { |name, _| [name, File.read("#{root}/#{name}")] }
    expect(made['plain'].crypt(made['hash'])).to eq(made['hash'])
    expect_no_leak(made)
  end

  it 'are in none if a condition does not hold, or the server dies' do
    store.put('globals/k', "{\"value\":\"#{secrets[:value]}\"}")
    other = "{\"value\":\"#{secrets[:metadata]}\"}"
    expect(attempt { store.put('globals/k', other, condition: :absent) }).to be_a(Simpkv::ExistsError)
    expect(attempt { store.put('globals/k', other, condition: :expect, expect: other) }).to be_a(Simpkv::ConflictError)
    said << store.inspect << store.instance_variables.inspect
    dying = open_store('retries' => 0)
    dying.kind('globals')
    slapd.stop_serving
    expect(attempt { dying.put('globals/k', other) }).to be_a(Simpkv::UnavailableError)
    said.concat(Array.new(20, dying.inspect))
    expect_no_leak(secrets)
  ensure
    slapd.launch
  end
end
