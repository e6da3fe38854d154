# frozen_string_literal: true

require 'open3'
require 'tmpdir'
require_relative 'ports'
require_relative 'server_process'

# A MariaDB in a temporary folder, on a free port of the loopback address. Its root has no password.
class MariaDb
  include ServerProcess

  START_SECONDS = 120

  def initialize
    @folder = Dir.mktmpdir('mariadb')
    @port, = Ports.free(1)
  end

  def start
    execute('mariadb-install-db', '--no-defaults', '--auth-root-authentication-method=normal', '--skip-test-db',
            '--innodb-log-file-size=4M', *own)
    run_process('mariadbd', '--no-defaults', *own, '--bind-address=127.0.0.1', "--port=#{@port}",
                "--socket=#{socket}", "--pid-file=#{File.join(@folder, 'pid')}", '--innodb-log-file-size=4M',
                output: log) { File.exist?(socket) && runs?('root', nil) }
  end

  # @param user [String]
  # @param form [String] of the password, for mysql_native_password
  def add_user(user, form)
    execute('mariadb', *client('root'), '--execute', "CREATE USER #{user} IDENTIFIED BY PASSWORD '#{form}'")
  end

  # @return [Boolean] whether the user can log in with the password
  def accepts?(user, password)
    runs?(user, password)
  end

  # @return [Array<String>] the last lines of its log
  def tail
    end_of(log, 20)
  end

  private

  def log
    File.join(@folder, 'log')
  end

  def socket
    File.join(@folder, 'socket')
  end

  def own
    ["--datadir=#{File.join(@folder, 'data')}", *('--user=root' if Process.euid.zero?)]
  end

  def client(user)
    address = user == 'root' ? ["--socket=#{socket}"] : ['--host=127.0.0.1', "--port=#{@port}"]
    ['--no-defaults', "--user=#{user}", *address]
  end

  def runs?(user, password)
    system({ 'MYSQL_PWD' => password }, 'mariadb', *client(user), '--execute', 'SELECT 1', %i[out err] => File::NULL)
  end

  def execute(name, *arguments)
    output, status = Open3.capture2e(name, *arguments)
    raise "#{name}: #{output.lines.last(5).join}" unless status.success?
  end
end
