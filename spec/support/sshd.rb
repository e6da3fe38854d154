# frozen_string_literal: true

require 'etc'
require 'open3'
require_relative 'ports'
require_relative 'server_process'

# An OpenSSH server on the loopback address, with a configuration and a host key of its own. Users can log in with the
# keys of one file.
class Sshd
  include ServerProcess

  PROGRAM = '/usr/sbin/sshd'
  START_SECONDS = 60

  # Debian's service makes this folder, without which sshd does not start as root.
  SEPARATION = '/run/sshd'

  # @return [String] the file with the public keys
  attr_reader :authorized_keys

  # Makes a key pair.
  #
  # @param file [String] for the private key; the name of the public one ends with `.pub`
  # @return [String] the type and the public key, as they stand in a line
  def self.make_key(file, type = 'ed25519')
    Open3.capture2e('ssh-keygen', '-q', '-t', type, '-N', '', '-C', '', '-f', file)
         .then { |output, status| raise output unless status.success? }
    File.read("#{file}.pub").strip
  end

  # @param authorized_keys [String, nil] the file with the public keys; nil for one in the folder of the server
  # @param host_key [Array(String, String), nil] the private key, and the line of the public one; nil for one that
  #   ssh-keygen makes
  def initialize(authorized_keys: nil, host_key: nil)
    @folder = Dir.mktmpdir('sshd')
    @authorized_keys = authorized_keys || File.join(@folder, 'authorized_keys')
    @port, = Ports.free(1)
    @host_key = host_key
  end

  def start
    File.write(path('host_key'), @host_key.first, perm: 0o600) if @host_key
    public_key = @host_key&.last || Sshd.make_key(path('host_key'))
    File.write(path('known_hosts'), "[127.0.0.1]:#{@port} #{public_key}\n")
    File.write(path('sshd_config'), configuration)
    FileUtils.mkdir_p(SEPARATION, mode: 0o755) if Process.uid.zero?
    run_process(PROGRAM, '-D', '-e', '-f', path('sshd_config'), output: path('log')) { answers? }
  end

  # @param private_key [String] its file
  # @param command [String]
  # @return [String, nil] what the command printed; nil if the login was refused
  def login(private_key, command = 'echo logged in')
    output, error, status = ssh(private_key, Etc.getpwuid.name, command)
    return output if status.success?

    error.include?('Permission denied (publickey)') ? nil : raise("ssh: #{error}")
  end

  # @param user [String] whose shell need not run anything
  # @return [Boolean] whether the user can log in with the key
  def accepts?(private_key, user)
    output, error, = ssh(private_key, user, 'true')
    raise "ssh: #{error}" if error.match?(/\Assh:|closed by/)

    !(output + error).include?('Permission denied (publickey)')
  end

  # @return [Array<String>]
  def tail
    end_of(path('log'), 30)
  end

  private

  def ssh(private_key, user, command)
    options = { 'IdentitiesOnly' => 'yes', 'IdentityAgent' => 'none', 'BatchMode' => 'yes', 'ConnectTimeout' => 60,
                'StrictHostKeyChecking' => 'yes', 'UserKnownHostsFile' => path('known_hosts') }
    Open3.capture3('ssh', '-F', 'none', '-p', @port.to_s, '-i', private_key,
                   *options.flat_map { |name, value| ['-o', "#{name}=#{value}"] }, "#{user}@127.0.0.1", command,
                   stdin_data: '')
  end

  def path(name)
    File.join(@folder, name)
  end

  def answers?
    TCPSocket.open('127.0.0.1', @port) { |socket| socket.gets.to_s.start_with?('SSH-2.0-') }
  rescue SystemCallError
    false
  end

  # StrictModes would refuse a file below /tmp.
  def configuration
    <<~CONFIG
      ListenAddress 127.0.0.1:#{@port}
      HostKey #{path('host_key')}
      AuthorizedKeysFile #{@authorized_keys}
      PidFile none
      PermitRootLogin prohibit-password
      PasswordAuthentication no
      KbdInteractiveAuthentication no
      StrictModes no
      UsePAM no
      LogLevel VERBOSE
    CONFIG
  end
end
