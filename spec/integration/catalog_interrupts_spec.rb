# frozen_string_literal: true

require 'json'
require_relative '../puppet_helper'
require_relative '../support/ldap_store'
require_relative '../support/eventually'
require_relative '../support/processes'
require_relative '../support/puppet_command'

# Each example runs puppet apply. On FFI an interrupt takes effect at the end of the call.
RSpec.describe 'Ctrl-C while a catalog waits for its backend', :thorough, needs: :cext do
  include Eventually
  include Processes

  include_context 'with slapd'

  let(:world) { PuppetWorld.new }
  let(:target) { File.join(world.dir, 'target') }
  let(:output) { File.join(world.dir, 'output') }
  let(:held) { File.join(world.dir, 'store', 'environments', 'production', 'x') }
  let(:file_backend) do
    { 'type' => 'file', 'id' => 'x', 'root_path' => File.join(world.dir, 'store'), 'lock_timeout_seconds' => 60 }
  end

  after { world.close }

  def ldap_backend(uri)
    directory.options('type' => 'ldap', 'ldap_uri' => uri, 'connect_timeout_seconds' => 60,
                      'operation_timeout_seconds' => 60)
  end

  # @return [String] the hash in Puppet's language
  def puppet(value)
    value.to_json.gsub(/":(?=["{\d\[tf])/, '" => ')
  end

  # @return [Integer] the process of a puppet apply that evaluates the expression, and then creates the target
  def apply(expression)
    manifest = "#{expression}\nfile { '#{target}': content => 'applied' }"
    folders = PuppetCommand.folders(File.join(world.dir, 'puppet'))
    PuppetCommand.start('apply', '--color=false', *folders, '--modulepath', File.join(world.dir, 'modules'),
                        '--hiera_config', File.join(world.dir, 'hiera.yaml'), '--execute', manifest, output: output)
  end

  # Interrupts a puppet apply when the block returns a true value, because the process waits for the backend.
  def interrupted(expression)
    pid = apply(expression)
    eventually(within: 120) { yield(pid) || (Process.wait(pid, Process::WNOHANG) && raise(File.read(output))) }
    Process.kill(:INT, pid)
    took = seconds { expect(status_of(pid).exitstatus).to eq(1), -> { File.read(output) } }
    expect(took).to be < 50
  end

  def expect_no_catalog
    expect(File.read(output)).to include('Exiting').and match(/\A(?!.*(simpkv Error|Error:|Applied))/m)
    expect(File.exist?(target)).to be(false)
  end

  # The warning was "Unable to construct 'ldap/site': exit", and the catalog was applied.
  it 'ends simpkv::put with softfail, and the process, while a server does not respond' do
    server = TCPServer.new('127.0.0.1', 0)
    options = { 'softfail' => true,
                'backends' => { 'default' => ldap_backend("ldap://127.0.0.1:#{server.addr[1]}") } }
    interrupted("simpkv::put('x', 1, {}, #{puppet(options)})") do
      server.accept_nonblock(exception: false) != :wait_readable
    end
    expect_no_catalog
  ensure
    server.close
  end

  def lock_key
    FileUtils.mkdir_p(File.dirname(held))
    File.open(held, 'w+') do |file|
      file.flock(File::LOCK_EX)
      yield
    end
  end

  it 'ends simpkv::get with softfail, and the process, while another program holds the lock of a key' do
    options = { 'softfail' => true, 'backends' => { 'default' => file_backend } }
    lock_key { interrupted("simpkv::get('x', #{puppet(options)})") { |pid| descriptors_of(pid, held).positive? } }
    expect_no_catalog
  end

  it 'ends a lookup of Hiera with softfail, and the process, while another program holds the lock of a key' do
    File.write(File.join(world.dir, 'hiera.yaml'), {
      'version' => 5, 'hierarchy' => [{ 'name' => 'stored', 'lookup_key' => 'simpkv::lookup_key', 'options' => {
        'softfail' => true, 'folder' => '/', 'backends' => { 'default' => file_backend }
      } }]
    }.to_yaml)
    lock_key { interrupted("lookup('x', { 'default_value' => 1 })") { |pid| descriptors_of(pid, held).positive? } }
    expect_no_catalog
  end

  # @return [Boolean] true if the process has a connection to that port
  def connected?(pid, port)
    own = Dir["/proc/#{pid}/fd/*"].map { |fd| File.symlink?(fd) && File.readlink(fd)[/socket:\[(\d+)\]/, 1] }.compact
    File.readlines('/proc/net/tcp').any? do |line|
      _, _, remote, state, *rest = line.split
      remote.end_with?(format(':%04X', port)) && state == '01' && own.include?(rest[5])
    end
  rescue Errno::ENOENT # A descriptor was closed meanwhile.
    retry
  end

  it 'ends simpkv::get_many with softfail, and the process, while slapd is stopped' do
    options = { 'softfail' => true, 'backends' => { 'default' => ldap_backend(directory.tcp_uri) } }
    port = Integer(directory.tcp_uri[/\d+\z/])
    directory.freeze_process do
      interrupted("simpkv::get_many(['x'], #{puppet(options)})") { |pid| connected?(pid, port) }
    end
    expect_no_catalog
  end
end
