# frozen_string_literal: true

require_relative 'puppetserver_helper'

RSpec.describe 'Agents of a puppetserver' do
  include_context 'with puppetserver'
  include_context 'with slapd', tls: true

  let(:ldaps) do
    slapd.options('type' => 'ldap', 'id' => 'agents', 'ldap_uri' => slapd.tls_uri,
                  'tls_cacert' => slapd.certificates.cacert)
  end
  let(:backends) { { 'backends' => { 'default' => ldaps, 'files' => files.dig('backends', 'default') } } }

  # Calls all six functions on each backend, and notes their results.
  let(:all_functions) { <<~MANIFEST }
    ['default', 'files'].each |$backend| {
      $options = { 'backend' => $backend }
      $runs = simpkv::exists('app/runs', $options) ? {
        true  => simpkv::get('app/runs', $options)['value'],
        false => 0,
      }
      simpkv::put('app/runs', $runs + 1, {}, $options)
      simpkv::put('app/value', { 'float' => 9.898, 'text' => 'λ', 'list' => [true, undef] }, { 'by' => $trusted['certname'] }, $options)
      simpkv::put('app/binary', Binary('AAEC/w=='), {}, $options)
      simpkv::put('app/gone', 1, {}, $options)
      simpkv::put('old/deep/key', 1, {}, $options)
      $deleted = [simpkv::delete('app/gone', $options), simpkv::deletetree('old', $options)]
      notify { "${backend}: runs ${runs}, deleted ${deleted}, old ${simpkv::exists('old', $options)}": }
      $list = simpkv::list('app', $options)
      notify { "${backend}: folders ${list['folders']}, keys ${list['keys'].keys}, value ${list['keys']['value']}": }
      notify { "${backend}: ${Binary(simpkv::get('app/binary', $options)['value'], '%r')}": }
    }
  MANIFEST

  def notices(output)
    output.lines(chomp: true).grep(/^Notice: (default|files): /) { |line| line.delete_prefix('Notice: ') }
  end

  # @return [Array<String>] the notes of a run
  def expected(node, runs)
    %w[default files].flat_map do |backend|
      ["#{backend}: runs #{runs}, deleted [true, true], old false",
       "#{backend}: folders [], keys [binary, runs, value], value " \
       "{value => {float => 9.898, text => λ, list => [true, ]}, metadata => {by => #{node}}}",
       "#{backend}: AAEC/w=="]
    end
  end

  it 'get catalogs that call all six functions, over LDAPS and in files, also after a restart of the directory' do
    environment('production', all_functions, options: backends)
    expect(notices(puppetserver.agent('node1'))).to eq(expected('node1', 0))
    slapd.restart
    expect(notices(puppetserver.agent('node1'))).to eq(expected('node1', 1))
  end

  it 'get the reason while the directory is down, and catalogs again when it is back' do
    environment('production', "notify { String(simpkv::exists('/')): }", options: backends)
    expect(puppetserver.compile).to match([/true|false/])
    slapd.stop_serving
    expect do
      puppetserver.compile
    end.to raise_error(PuppetServer::Refused, /simpkv Error for simpkv::exists.*#{slapd.tls_uri}/)
    slapd.launch
    expect(eventually(errors: PuppetServer::Refused) { puppetserver.compile }).to match([/true|false/])
  end

  # A deferred call has no options but its own.
  let(:deferred) { <<~MANIFEST }
    simpkv::put('token', 'from the server')
    $options = { 'backends' => #{JSON.generate(backends['backends']).gsub('":', '" =>')} }
    notify { 'deferred':
      message => Deferred('dig', [Deferred('simpkv::get', ['token', $options]), 'value']),
    }
  MANIFEST

  it 'call deferred functions themselves, with the connection details in the options' do
    environment('production', deferred, options: backends)
    output = puppetserver.agent('node1', variables: { 'GEM_HOME' => Packages.linked_for_mri })
    expect(output).to include("defined 'message' as 'from the server'")
  end

  it 'get the command that installs the gem when a deferred call does not find it' do
    environment('production', deferred, options: backends)
    expect { puppetserver.agent('node1') }
      .to raise_error(PuppetServer::Refused, /The gem 'simpkv' cannot be loaded.*gem install simpkv/)
  end
end
