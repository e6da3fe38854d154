# frozen_string_literal: true

require 'tmpdir'
require 'yaml'
require_relative '../../../../spec/support/server_process'
require_relative 'service_client'
require_relative '../../../../spec/support/unbundled'

# The service `simpkv serve`, as a process of its own.
#
#   Service.run(backends, '--bind', 'tcp://127.0.0.1:0') { |service| service.client.get('/healthz') }
class Service
  include ServerProcess

  START_SECONDS = 60
  PRELOADED = Unbundled::Preloaded.new('simpkv/server')
  private_constant :PRELOADED

  # Runs a service that cannot start.
  #
  # @param arguments [Array<String>] of the command
  # @return [Array(String, Integer)] what it printed, and its exit code
  def self.failure(*arguments)
    output, status = PRELOADED.capture2e(['serve', *arguments])
    [output, status.exitstatus]
  end

  # @param options [Hash] of the configuration file
  # @param arguments [Array<String>] of the command
  # @param env [Hash{String => String}]
  # @param errors [String] the file that receives standard error
  # @param preloaded [Boolean] whether it is a fork of a process that has loaded it, and shares the memory of that one
  def initialize(options, *arguments, env: {}, errors: nil, preloaded: true)
    @folder = Dir.mktmpdir('service')
    @arguments = arguments
    @errors = errors || log_file
    @env = Unbundled::VARIABLES.merge(env) if env.any? || !preloaded
    configure(options)
  end

  # Writes the configuration file. The index of the service is in its folder, unless the options name another one.
  def configure(options)
    server = options['server'] || {}
    server = { 'index' => File.join(folder, 'index') }.merge(server) if server.is_a?(Hash)
    File.write(configuration, options.merge('server' => server).to_yaml)
  end

  # @return [String] the configuration file
  def configuration
    File.join(folder, 'simpkv.yaml')
  end

  # @return [String] a path for a Unix socket
  def socket
    File.join(folder, 'socket')
  end

  # Starts the service, which listens on {#socket} too.
  def start
    File.write(log_file, '')
    binds = ['--bind', "unix://#{socket}", *@arguments]
    @pid = spawn('serve', '-c', configuration, *binds)
    wait_until { addresses.length == binds.count('--bind') }
  end

  # @return [Array<String>] the addresses that the service has printed
  def addresses
    log.scan(/^simpkv: serving on (.*)$/).flatten.uniq
  end

  # @return [String] all that the service has printed
  def log
    File.exist?(log_file) ? File.read(log_file, encoding: 'UTF-8').scrub : ''
  end

  # @param scheme [String]
  # @param tls [Hash] see {ServiceClient}
  # @return [ServiceClient]
  def client(scheme = 'unix', **tls)
    ServiceClient.new(addresses.find { |address| address.start_with?("#{scheme}://") }, tls)
  end

  # Sends a signal.
  def signal(name)
    Process.kill(name, pid)
  end

  # @return [Integer, nil] the exit code after SIGTERM
  def terminate
    signal(:TERM)
    _, status = Process.wait2(pid)
    @pid = nil
    status.exitstatus
  end

  def tail
    end_of(log_file, 40)
  end

  private

  # Loading the service takes most of the time of its start. Ruby reads some variables when it starts, so a process with
  # variables of its own loads everything.
  def spawn(*arguments)
    if @env
      return Process.spawn(@env, *Unbundled::SIMPKV, *arguments, chdir: folder, out: [log_file, 'a'],
                                                                 err: [@errors, 'a'])
    end

    log, errors = [log_file, @errors].map { |file| File.open(file, 'a') }
    PRELOADED.spawn(arguments, chdir: folder, out: log, err: errors)
  ensure
    [log, errors].compact.each(&:close)
  end

  def log_file
    File.join(folder, 'log')
  end
end
