# frozen_string_literal: true

require 'cgi'
require_relative 'puppet_process'
require_relative 'puppet_resource'
require_relative 'types_helper'

# Searches all that runs print, log, report and leave in the vardir for planted secrets.
RSpec.describe 'Secrets in keys as resources' do
  include_context 'with keys as resources'
  include PuppetProcess
  include PuppetResource

  # By their places.
  secrets = { new: 'pl4nted-new-value', old: 'pl4nted-old-value', nested: 'pl4nted-nested',
              number: '8675309867530977', stored: 'pl4nted-stored', metadata: 'pl4nted-metadata',
              purged: 'pl4nted-purged', broken: 'pl4nted-broken', unnamed: 'pl4nted-unnamed',
              absent: 'pl4nted-absent', created: 'pl4nted-created', bytes: 'pl4nted-bytes' }

  let(:said) { [] }

  # The secret, and its forms in encodings, dumps and escapes.
  def spellings(secret)
    [secret, [secret].pack('m0').delete('='), secret.unpack1('H*'), CGI.escape(secret)].uniq
  end

  def expect_no_leak(secrets)
    all = said.join("\n").b
    expect(secrets.select { |_, secret| spellings(secret).any? { |form| all.include?(form) } }.keys).to eq([])
  end

  # A document with a Sensitive in it, as simpkv::put stores it.
  def sensitive(secret)
    %({"value":{"__ptype":"Sensitive","__pvalue":"#{secret}"},"encoding":"pcore","metadata":{}})
  end

  define_method(:store_secrets) do
    fill('k/changed' => sensitive(secrets[:old]), 'k/plain_to_sensitive' => { value: secrets[:old] },
         'k/sensitive_to_plain' => sensitive(secrets[:stored]), 'k/nested' => { value: { 'a' => secrets[:old] } },
         'k/nested_stored' => sensitive(secrets[:stored]).sub(/{"__ptype.*?}/) { |member| %({"a":#{member}}) },
         'k/purged' => sensitive(secrets[:purged]), 'k/A Name' => { value: secrets[:unnamed] },
         'k/broken' => secrets[:broken], 'k/managed_broken' => secrets[:broken],
         'k/absent' => sensitive(secrets[:absent]), 'k/audited' => sensitive(secrets[:stored]),
         'k/metadata' => %({"value":1,"metadata":{"of":"#{secrets[:metadata]}"}}))
  end

  # @param version [Integer] with 2, everything changes again
  define_method(:manifest) do |version = 1, new = "#{secrets[:new]} #{version}"|
    <<~PUPPET
      simpkv_folder { 'k': purge => true }
      simpkv_key {
        default: audit => all;
        'k/changed':            value => Sensitive('#{new}');
        'k/plain_to_sensitive': value => Sensitive('#{new}');
        'k/sensitive_to_plain': value => 'public #{version}';
        'k/nested':             value => { 'a' => Sensitive('#{secrets[:nested]} #{version}'), 'b' => 'public' };
        'k/nested_stored':      value => { 'a' => 'public #{version}' };
        'k/number':             value => Sensitive(#{secrets[:number]} + #{version});
        'k/hash':               value => Sensitive({ 'x' => [{ '#{secrets[:new]}' => '#{new}' }] });
        'k/bytes':              value => Sensitive(Binary.new('#{secrets[:bytes]}#{version}', '%s'));
        'k/managed_broken':     value => Sensitive('#{new}');
        'k/created':            ensure => present, value => Sensitive('#{secrets[:created]} #{version}');
        'k/metadata':           metadata => Sensitive({ 'of' => '#{secrets[:metadata]} #{version}' });
        'k/deep_metadata':      value => 1, metadata => { 'of' => Sensitive('#{secrets[:metadata]} #{version}') };
        'k/absent':             ensure => absent;
        'k/audited':            ;
      }
    PUPPET
  end

  # A number has other spellings than the digits planted.
  define_method(:numbers) { secrets.merge(number1: '8675309867530978', number2: '8675309867530979') }

  it 'are stored' do
    store_secrets
    apply!(manifest)
    expect(documents['k/changed']).to include(secrets[:new])
    expect(documents['k/number']).to include('8675309867530978')
    expect(documents['k/deep_metadata']).to include(secrets[:metadata])
  end

  it 'are in no message, event or report of runs in this process, with noop and without' do
    Puppet::Util::Log.level = :debug
    store_secrets
    [[1, true], [1, false], [1, false], [2, true], [2, false]].each do |version, noop|
      report = apply(manifest(version), noop: noop)
      said << report.to_data_hash.to_s << report.summary << report.raw_summary.to_s
    end
    said.concat(log)
    expect(failed).to eq([])
    expect(removed + changed).not_to be_empty
    expect_no_leak(numbers)
  end

  # An agent keeps the values of all properties in its transaction store.
  it 'are in no file of an agent, nor in its cached report' do
    store_secrets
    settings = %i[vardir statedir confdir rundir publicdir].to_h { |name| [name, File.join(home, name.to_s)] }
    settings.each_value { |folder| FileUtils.mkdir_p(folder) }
    allow(Puppet).to receive(:run_mode).and_return(Puppet::Util::RunMode[:agent])
    [1, 1, 2].each do |version|
      report = apply(manifest(version), **settings)
      Puppet::Util::Yaml.dump(report.to_data_hash, File.join(home, 'report.yaml'))
      said.concat(left_by_puppet)
    end
    expect(Dir.children(settings[:statedir])).to include('state.yaml', 'transactionstore.yaml')
    expect(said.join).to include('Simpkv_key[k/changed]').and include('k/audited')
    expect_no_leak(numbers)
  end

  it 'are in no message if the server refuses or the document is invalid' do
    store_secrets
    FileUtils.mkdir_p(File.join(root, KeysAsResources::PRODUCTION, 'k/created/below'))
    Puppet::Util::Log.level = :debug
    report = apply(manifest)
    said << report.to_data_hash.to_s
    said.concat(log)
    expect(failed).to include('Simpkv_key[k/created]')
    expect_no_leak(numbers)
  end

  it 'are in no message about a value that cannot be stored' do
    deep = "#{'[' * 120}'#{secrets[:new]}'#{']' * 120}"
    values = ["Sensitive(#{deep})", "{ 'a' => #{deep} }",
              'Sensitive(String)', "{ 1 => '#{secrets[:new]}', '1' => '#{secrets[:old]}' }"]
    values.each do |value|
      said << apply("simpkv_key { 'k/x': value => #{value} }").to_data_hash.to_s
    rescue Puppet::Error => e
      said << e.message << e.full_message(highlight: false)
    end
    said.concat(log)
    expect_no_leak(secrets)
  end

  it 'are in no output or file of puppet apply with --debug and --trace' do
    store_secrets
    File.write(file = File.join(home, 'site.pp'), manifest)
    output, code = puppet('apply', '--debug', '--trace', '--evaltrace', '--profile', '--show_diff',
                          '--detailed-exitcodes', file)
    expect(code).to eq(2), output
    File.delete(file)
    said.concat(left_by_puppet) << output
    expect_no_leak(numbers)
  end

  it 'are in no output of puppet resource' do
    store_secrets
    Puppet::Util::Log.level = :debug
    [%w[simpkv_key], %w[simpkv_key k/changed], %w[simpkv_key k/nested_stored], %w[simpkv_key k:unnamed-1],
     %w[simpkv_key k:unnamed-1 ensure=absent], %w[simpkv_key k/purged ensure=absent],
     %w[simpkv_key k/changed value=public], %w[simpkv_folder k]].each do |arguments|
      said << puppet_resource(*arguments) << puppet_resource(*arguments, yaml: true)
    end
    said.concat(log)
    expect(said.join).to include('k/plain_to_sensitive')
    # It shows metadata that are not Sensitive.
    expect_no_leak(numbers.reject { |name, _| name == :metadata })
  end
end
