# frozen_string_literal: true

require 'tmpdir'
require_relative '../../spec/support/ports'
require_relative '../../spec/support/server_process'

# An etcd of one member, of Debian's package etcd-server, whose clients have certificates.
class Etcd
  include ServerProcess

  START_SECONDS = 30

  # @return [Integer] the port of its clients
  attr_reader :port

  # @param certificates [Certificates] the authority of the server and of its clients
  def initialize(certificates)
    @folder = Dir.mktmpdir('etcd')
    @certificates = certificates
  end

  def start
    @port, peers = Ports.free(2)
    certificate, key = @certificates.issue
    options = { 'data-dir' => File.join(folder, 'data'), 'initial-cluster' => "default=http://127.0.0.1:#{peers}",
                'cert-file' => certificate, 'key-file' => key, 'trusted-ca-file' => @certificates.cacert }
    %w[listen advertise].each { |word| options["#{word}-client-urls"] = "https://127.0.0.1:#{port}" }
    options['listen-peer-urls'] = options['initial-advertise-peer-urls'] = "http://127.0.0.1:#{peers}"
    run_process('etcd', '--client-cert-auth', '--log-outputs', 'stderr', *options.map { |pair| "--#{pair.join('=')}" },
                output: log) { File.read(log).include?('serving client requests') }
  end

  def tail
    end_of(log, 40)
  end

  private

  def log
    File.join(folder, 'log')
  end
end
