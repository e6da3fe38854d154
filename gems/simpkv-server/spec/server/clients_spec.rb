# frozen_string_literal: true

require 'open3'
require_relative '../../../../spec/support/certificates'
require_relative '../../../../spec/support/page'
require_relative 'server_helper'

# The blocks of docs/clients.md, as a reader runs them.
RSpec.describe 'The clients of docs/clients.md' do
  include_context 'with a service for all examples', '--bind', 'ssl://127.0.0.1:0'

  let(:page) { Page.new('clients.md') }
  # A folder like that of Puppet's certificates.
  let(:ssl) { File.join(@kept.fetch(:folder), 'ssl') }
  let(:certificates) { @kept[:certificates] ||= Certificates.new(Dir.mktmpdir('ca', @kept.fetch(:folder))) }
  # Where the blocks run.
  let(:work) { File.join(@kept.fetch(:folder), 'work') }
  let(:section) do
    @kept[:section] ||= begin
      cert, key = certificates.issue('127.0.0.1')
      { 'tls_cert' => cert, 'tls_key' => key, 'tls_ca' => certificates.cacert,
        'rights' => YAML.safe_load(page.blocks('Before you begin', 'yaml').first) }
    end
  end

  before do
    %w[certs private_keys].each { |name| FileUtils.mkdir_p(File.join(ssl, name)) }
    cert, key = certificates.issue(subject: 'app1.example.com', names: nil)
    FileUtils.cp(certificates.cacert, File.join(ssl, 'certs/ca.pem'))
    FileUtils.cp(cert, File.join(ssl, 'certs/app1.example.com.pem'))
    FileUtils.cp(key, File.join(ssl, 'private_keys/app1.example.com.pem'))
    service
  end

  # @return [Array(String, Boolean)] what a command prints about the block, which names the machine of the example
  def run(block, *command)
    port = service.addresses.grep(/\Assl:/).first[/\d+\z/]
    { 'store.example.com:8141' => "127.0.0.1:#{port}", '/etc/puppetlabs/puppet/ssl' => ssl, '/etc/app1' => ssl,
      '/run/simpkv/simpkv.sock' => service.socket }.each { |name, here| block = block.gsub(name, here) }
    file = File.join(@kept.fetch(:folder), 'block')
    File.write(file, block)
    said, status = Open3.capture2e(*command, file, chdir: FileUtils.mkdir_p(work).first)
    [said, status.success?]
  end

  it 'with curl store a new key, read it, list it, and replace what they have read' do
    block = page.blocks('curl', 'sh').first
    expect(run(block, 'sh', '-eu')).to eq(["s3cret\ntoken\n", true])
    expect(client.get('/v1/keys/app1/token').data['value']).to eq('n3wer')
    said, succeeded = run(block, 'sh', '-eu')
    expect([said, succeeded]).to eq(["curl: (22) The requested URL returned error: 412\n", false])
    expect([ssl, work].flat_map { |folder| Dir.children(folder) } - %w[certs private_keys token]).to eq([])
  end

  it 'with curl replace nothing if they could not read the key' do
    block = page.blocks('curl', 'sh').first.sub(/^# Stores.*?(?=^# Replaces)/m, '')
    said, succeeded = run(block, 'sh', '-u')
    expect([said, succeeded]).to match([/error: 404\n.*etag: parameter/m, false])
    expect(client.get('/v1/keys/app1/token').status).to eq(404)
  end

  it 'with Python take numbers, each of which one script gets' do
    block = page.blocks('Python', 'python').first
    expect(run(block, '/usr/bin/python3')).to eq(["1000 1001\n", true])
    expect(run(block, '/usr/bin/python3')).to eq(["1002 1003\n", true])
  end

  it 'with Ansible write a value into a file, over TLS and over the Unix socket' do
    client.put('/v1/keys/app1/token', 'value' => 's3cret')
    said, succeeded = run(page.blocks('Ansible', 'yaml').first, 'ansible-playbook', '-c', 'local')
    expect(said).to match(/ok=3 +changed=1 .*failed=0/)
    expect([said.include?('s3cret'), succeeded]).to eq([false, true])
    expect(File.read(File.join(ssl, 'token'))).to eq('s3cret')
  end
end
