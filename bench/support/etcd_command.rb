# frozen_string_literal: true

require 'English'
require 'socket'
require 'tmpdir'
require_relative 'versions'

# The command etcdctl at a server of its own, beside `simpkv get`. Debian has them in the packages etcd-client and
# etcd-server; without them, the benchmark leaves them out.
module EtcdCommand
  # @return [Boolean] whether both are installed
  def self.there?
    %w[etcd etcdctl].all? do |name|
      ENV.fetch('PATH').split(':').any? { |folder| File.executable?(File.join(folder, name)) }
    end
  end

  # @return [Hash{String => String}]
  def self.versions
    there? ? Versions.of('etcd-client', 'etcd-server') : {}
  end

  # Yields contestants: etcdctl, which gets a key with the value `value`; none if it is not installed.
  #
  # @yieldparam contestants [Hash{String => Proc}]
  def self.run
    return yield({}) unless there?

    Dir.mktmpdir('etcd') do |folder|
      uri, peers = Array.new(2) { "http://127.0.0.1:#{TCPServer.open('127.0.0.1', 0) { |free| free.addr[1] }}" }
      server = spawn('etcd', '--data-dir', folder, '--listen-client-urls', uri, '--advertise-client-urls', uri,
                     '--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers,
                     '--initial-cluster', "default=#{peers}", out: File::NULL, err: File::NULL)
      etcdctl = ['etcdctl', '--endpoints', uri]
      # Waits for the server, at most as long as etcdctl does.
      system(*etcdctl, 'put', 'app1/key', 'value', '--command-timeout', '30s', out: File::NULL) || raise('etcd is away')
      yield('etcdctl get' => -> { IO.popen([*etcdctl, 'get', 'app1/key', '--print-value-only'], &:read) })
    ensure
      Process.kill('TERM', server)
      Process.wait(server)
    end
  end
end
