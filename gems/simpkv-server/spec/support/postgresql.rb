# frozen_string_literal: true

require 'etc'
require 'fileutils'
require 'open3'
require 'tmpdir'
require_relative '../../../../spec/support/ports'
require_relative '../../../../spec/support/server_process'

# A PostgreSQL of Debian's packages with one database, in a temporary folder, on a free port of the loopback address.
# It refuses to run as root, so that root runs it as the user postgres.
class PostgreSQL
  include ServerProcess

  START_SECONDS = 120

  # @return [Integer]
  attr_reader :port

  # @param database [String] the name of the database and of its owner
  # @param extensions [Array<String>] of the database
  # @param logins [Hash{String => String}] further roles, which log in with a password: what the server stores of it
  def initialize(database, extensions: [], logins: {})
    @database = database
    @extensions = extensions
    @logins = logins
    @folder = Dir.mktmpdir('postgresql')
    @port = Ports.free(1).first
  end

  def start
    File.chmod(0o755, @folder)
    FileUtils.mkdir(data)
    FileUtils.chown('postgres', nil, data) if root?
    run('initdb', '--pgdata', data, '--auth', 'trust', '--username', 'postgres', '--encoding', 'UTF8', '--no-sync',
        '--locale', 'C.UTF-8')
    flush_writes('off')
    ask_for_passwords
    launch
    create_database
  end

  # @return [Boolean] whether the role can log in with the password
  def accepts?(role, password)
    system({ 'PGPASSWORD' => password }, *program('psql'), *connection(role), '--dbname', @database, '--no-password',
           '--command', 'SELECT 1', chdir: '/', %i[out err] => File::NULL)
  end

  # Makes the server flush its writes to the disk from now on, as by default. That is slow.
  def make_durable
    flush_writes('on')
    Process.kill(:HUP, @pid)
  end

  def stop
    # Rolls back and ends at once. The server ends its children before it ends itself.
    finish(:QUIT)
    super
  end

  # @return [Array<String>] the last lines of its log
  def tail
    end_of(log, 20)
  end

  private

  def root?
    Process.euid.zero?
  end

  def data
    File.join(@folder, 'data')
  end

  def log
    File.join(@folder, 'log')
  end

  # Of the lines for a role, the first one counts.
  def ask_for_passwords
    file = File.join(data, 'pg_hba.conf')
    lines = @logins.keys.map { |role| "host all #{role} 127.0.0.1/32 scram-sha-256\n" }
    File.write(file, lines.join + File.read(file))
  end

  # Of repeated settings, the last one counts.
  def flush_writes(choice)
    File.write(File.join(data, 'postgresql.conf'), "fsync = #{choice}\nfull_page_writes = #{choice}\n", mode: 'a')
  end

  def launch
    settings = { 'port' => @port, 'listen_addresses' => '127.0.0.1', 'unix_socket_directories' => data }
    options = settings.flat_map { |name, value| ['-c', "#{name}=#{value}"] }
    run_process(*program('postgres'), '-D', data, *options, output: log, chdir: '/') do
      system(*program('pg_isready'), *connection, '--dbname', 'postgres', out: File::NULL)
    end
  end

  def create_database
    sql('postgres', "CREATE ROLE #{@database} LOGIN", "CREATE DATABASE #{@database} OWNER #{@database}")
    sql('postgres', *@logins.map { |role, stored| "CREATE ROLE #{role} LOGIN PASSWORD '#{stored}'" })
    sql(@database, *@extensions.map { |name| "CREATE EXTENSION #{name}" })
  end

  def sql(database, *statements)
    statements.each { |each| run('psql', *connection, '--dbname', database, '--quiet', '--command', each) }
  end

  def connection(role = 'postgres')
    ['--host', '127.0.0.1', '--port', @port.to_s, '--username', role]
  end

  # @return [Array<String>] the command, which runs in the same process as the user postgres
  def program(name)
    file = Dir["/usr/lib/postgresql/*/bin/#{name}"].max || raise("there is no #{name}: bin/setup all installs it")
    root? ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups', file] : [file]
  end

  def run(name, *arguments)
    output, status = Open3.capture2e(*program(name), *arguments, chdir: '/')
    raise "#{name}: #{output.lines.last(5).join}" unless status.success?
  end
end
