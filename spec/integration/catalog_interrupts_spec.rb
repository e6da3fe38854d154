# frozen_string_literal: true

require 'json'
require_relative '../puppet_helper'
require_relative '../support/another_ruby'
require_relative '../support/ldap_store'
require_relative '../support/patience'
require_relative '../support/processes'

# Each example runs puppet apply in a process of its own. On FFI an interrupt waits for the end of the call.
RSpec.describe 'Ctrl-C while a catalog waits for its backend', :thorough, needs: :cext do
  include Patience
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

  # Puppet code: the value in a hash of options.
  def puppet(value)
    value.to_json.gsub(/":(?=["{\d\[tf])/, '" => ')
  end

  # @return [Integer] the process of a puppet apply that evaluates the expression and then makes the target
  def apply(expression)
    manifest = "#{expression}\nfile { '#{target}': content => 'applied' }"
    folders = %w[confdir codedir vardir publicdir rundir logdir].map { |name| "--#{name}=#{world.dir}/puppet/#{name}" }
    script = 'require "puppet/util/command_line"; Puppet::Util::CommandLine.new("puppet", ARGV).execute'
    Process.spawn(*AnotherRuby.command('-e', script, 'apply', '--color=false', *folders, '--modulepath',
                                       File.join(world.dir, 'modules'), '--hiera_config',
                                       File.join(world.dir, 'hiera.yaml'), '--execute', manifest),
                  %i[out err] => output)
  end

  # Interrupts a puppet apply once the block answers, for its process, that it waits for the backend.
  def interrupted(expression)
    pid = apply(expression)
    eventually(within: 120) { yield(pid) || (Process.wait(pid, Process::WNOHANG) && raise(File.read(output))) }
    Process.kill(:INT, pid)
    took = seconds { expect(status_of(pid).exitstatus).to eq(1), -> { File.read(output) } }
    expect(took).to be < 30
  end

  def expect_no_catalog
    expect(File.read(output)).to include('Exiting').and match(/\A(?!.*(simpkv Error|Error:|Applied))/m)
    expect(File.exist?(target)).to be(false)
  end

  # The softened failure was "Unable to construct 'ldap/site': exit", and the catalog was applied.
  { 'get' => ["'x'"], 'put' => ["'x'", 1, {}], 'get_many' => ["['x']"] }.each do |function, arguments|
    it "ends simpkv::#{function} with softfail, and the process, while a server does not answer" do
      server = TCPServer.new('127.0.0.1', 0)
      options = { 'softfail' => true,
                  'backends' => { 'default' => ldap_backend("ldap://127.0.0.1:#{server.addr[1]}") } }
      call = [*arguments, puppet(options)].join(', ')
      interrupted("simpkv::#{function}(#{call})") { server.accept_nonblock(exception: false) != :wait_readable }
      expect_no_catalog
    ensure
      server.close
    end
  end

  def lock_key
    FileUtils.mkdir_p(File.dirname(held))
    File.open(held, 'w+') do |file|
      file.flock(File::LOCK_EX)
      yield
    end
  end

  def opened?(pid, file)
    Dir["/proc/#{pid}/fd/*"].any? { |fd| File.symlink?(fd) && File.readlink(fd) == File.realpath(file) }
  rescue Errno::ENOENT # It was closed meanwhile.
    retry
  end

  it 'ends a call with softfail, and the process, while another program holds the lock of a key' do
    options = { 'softfail' => true, 'backends' => { 'default' => file_backend } }
    lock_key { interrupted("simpkv::get('x', #{puppet(options)})") { |pid| opened?(pid, held) } }
    expect_no_catalog
  end

  it 'ends a lookup of Hiera with softfail, and the process' do
    File.write(File.join(world.dir, 'hiera.yaml'), {
      'version' => 5, 'hierarchy' => [{ 'name' => 'stored', 'lookup_key' => 'simpkv::lookup_key', 'options' => {
        'softfail' => true, 'folder' => '/', 'backends' => { 'default' => file_backend }
      } }]
    }.to_yaml)
    lock_key { interrupted("lookup('x', { 'default_value' => 1 })") { |pid| opened?(pid, held) } }
    expect_no_catalog
  end

  # @return [Boolean] whether the process has a connection to that port
  def connected?(pid, port)
    own = Dir["/proc/#{pid}/fd/*"].map { |fd| File.symlink?(fd) && File.readlink(fd)[/socket:\[(\d+)\]/, 1] }.compact
    File.readlines('/proc/net/tcp').any? do |line|
      _, _, remote, state, *rest = line.split
      remote.end_with?(format(':%04X', port)) && state == '01' && own.include?(rest[5])
    end
  rescue Errno::ENOENT # A descriptor was closed meanwhile.
    retry
  end

  it 'ends a call with softfail, and the process, while slapd is stopped' do
    options = { 'softfail' => true, 'backends' => { 'default' => ldap_backend(directory.tcp_uri) } }
    port = Integer(directory.tcp_uri[/\d+\z/])
    directory.freeze_process do
      interrupted("simpkv::get('x', #{puppet(options)})") { |pid| connected?(pid, port) }
    end
    expect_no_catalog
  end
end
