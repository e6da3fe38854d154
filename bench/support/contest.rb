# frozen_string_literal: true

$LOAD_PATH.unshift(*Dir[File.expand_path('../../{lib,gems/*/lib}', __dir__)])
require 'rspec/core' # spec/support/slapd.rb defines a hook of specs
require 'simpkv'
require_relative '../../spec/support/ds389'
require_relative '../../spec/support/slapd'
require_relative 'other_process'
require_relative 'report'
require_relative 'versions'

# A contest at a directory server, with folders of keys and contestants that use them.
#
#   Contest.at(Contest::OpenLDAP) { |contest| contest.run('get', 'get', ['bare C loop', 'adapter'], contest.folder('small')) }
class Contest
  # A folder of keys to read, with their document and another one for writes, as strings and as files.
  Folder = Struct.new(:path, :keys, :documents, :files, keyword_init: true)

  ID = 'bench'
  VENDORED = ['/usr/lib/ruby/vendor_ruby',
              *Dir['/usr/lib/puppetserver/vendored-jruby-gems/gems/concurrent-ruby-*/lib']].freeze
  JRUBY = ['jruby', *VENDORED.map { |folder| "-I#{folder}" }].freeze
  MRI = [RbConfig.ruby].freeze
  BY_RUBY = File.join(__dir__, 'ruby_contestant.rb')

  # The variables of the bundle without OpenVox: Debian's Puppet 7.
  PUPPET7 = { 'PUPPET' => 'debian',
              'BUNDLE_GEMFILE' => File.expand_path('../../spec/support/puppet7.gemfile', __dir__) }.freeze

  # The command of each contestant, to which the operation is added.
  COMMANDS = {
    'bare C loop' => [File.join(__dir__, '..', 'c', 'build', 'baseline')],
    'bare C loop, 16 in flight' => [{ 'BENCH_WINDOW' => '16' }, File.join(__dir__, '..', 'c', 'build', 'baseline')],
    'bare C loop, reading first' => [{ 'BENCH_READ' => '1' }, File.join(__dir__, '..', 'c', 'build', 'baseline')],
    'C core' => [File.join(__dir__, '..', 'c', 'build', 'core')],
    'store' => [*MRI, BY_RUBY, 'store'],
    'store, FFI' => [{ 'SIMPKV_NATIVE' => 'ffi' }, *MRI, BY_RUBY, 'store'],
    'adapter' => [*MRI, BY_RUBY, 'adapter'],
    'adapter, FFI' => [{ 'SIMPKV_NATIVE' => 'ffi' }, *MRI, BY_RUBY, 'adapter'],
    'function' => [*MRI, BY_RUBY, 'function'],
    'function, JSON in Ruby' => [{ 'BENCH_JSON' => 'ruby' }, *MRI, BY_RUBY, 'function'],
    'function, Puppet 7' => [PUPPET7, *MRI, BY_RUBY, 'function'],
    'store, JRuby' => [*JRUBY, BY_RUBY, 'store'],
    'adapter, JRuby' => [*JRUBY, BY_RUBY, 'adapter'],
    'function, JRuby' => [*JRUBY, BY_RUBY, 'function'],
    'ruby-ldap' => [*MRI, BY_RUBY, 'ruby-ldap'],
    'net-ldap' => [*MRI, BY_RUBY, 'net-ldap'],
    'ldapsearch, a process a call' => [*MRI, BY_RUBY, 'ldapsearch']
  }.freeze

  # JRuby has gems of its own.
  OUTSIDE = ENV.keys.grep(/\A(BUNDLE|GEM|RUBY)/).to_h { |name| [name, nil] }.merge('JRUBY_OPTS' => '').freeze

  BLOCK_SECONDS = 0.025 # long beside the time in which an idle server wakes up
  # Seconds under load, after which 389-DS and JRuby have reached their speed.
  WARM = { 'JRuby' => 20, '389-DS' => 8 }.freeze

  SMALL = [{ 'password' => 'Xu8#kq!0' }, { 'password' => 'Xu8#kq!1' }].freeze

  # OpenLDAP without the log for specs, and with room for large data.
  class OpenLDAP < Slapd
    private

    def database_section
      super.sub(/^maxsize .*/, "maxsize #{16 << 30}")
    end

    def command
      super.map { |word| word == 'stats' ? '0' : word }
    end
  end

  # 389-DS with its defaults: a buffered log, and caches that hold all keys. By default their size is a share of the
  # machine's memory.
  class DS389 < Ds389
    CACHE = 512 << 20

    private

    def settings
      super.transform_values { |lines| lines - ['nsslapd-accesslog-logbuffering: off'] }
    end
  end

  # Starts a server with the limits of schema/, yields the contest, and stops the server.
  def self.at(server_class)
    server_class.run(tls: true, limits: true, durable: true) { |server| yield new(server) }
  end

  # @return [DirectoryServer]
  attr_reader :server

  def initialize(server)
    @server = server
    @store = Simpkv::Store.open('ldap', server.options('id' => ID, 'operation_timeout_seconds' => 600))
  end

  # Makes a folder of keys k0, k1, ... with one document.
  #
  # @param name [String]
  # @param environment [String] its Puppet environment
  # @param values [Array(Object, Object)] of the document, and of another one for writes
  # @return [Folder]
  def folder(name, environment: 'production', keys: 100, values: SMALL)
    path = "environments/#{environment}/#{name}"
    documents = values.map { |value| Simpkv::Codec.encode(value, 'owner' => 'ops') }
    files = documents.each_with_index.map do |document, number|
      File.join(server.folder, "#{name}-#{number}").tap { |file| File.binwrite(file, document) }
    end
    folder = Folder.new(path: path, keys: keys, documents: documents, files: files)
    fill(folder)
    folder
  end

  # Makes the keys of a folder.
  def fill(folder)
    @store.put("#{folder.path}/other", folder.documents.first)
    @store.delete("#{folder.path}/other")
    filler = contestant('bare C loop', 'fill', folder, {}, 'BENCH_NAME' => 'k', 'BENCH_WINDOW' => '32')
    filler.time(folder.keys - 1)
  ensure
    filler&.stop
  end

  # @param operation [String] the contestants' name of the case
  # @param names [Array<String>] of {COMMANDS}; the others are compared with the first one
  # @param settings [Hash] uri:, threads:, keys:, root: (of a store in files), commands: (more than {COMMANDS}) for the
  #   contestants; blocks:, seconds:, warm: as in {SideBySide.run}
  # @return [Array<SideBySide::Row>]
  def run(title, operation, names, folder, settings = {})
    timing = { seconds: BLOCK_SECONDS, warm: warm(names) }.merge(settings.slice(:blocks, :seconds, :warm))
    contestants = names.to_h { |name| [name, contestant(name, operation, folder, settings)] }
    SideBySide.run(title, contestants, **timing)
  ensure
    contestants&.each_value(&:stop)
  end

  # Starts a contestant.
  #
  # @param more [Hash{String => String}] further environment variables
  # @return [OtherProcess]
  def contestant(name, operation, folder, settings = {}, more = {})
    own = "own-#{name.gsub(/[^a-z]+/i, '-').downcase}"
    @store.put("#{folder.path}/#{own}", folder.documents.last) if operation == 'put_changed'
    environment, *command = environment_and_command(settings.fetch(:commands, {}).fetch(name) { COMMANDS.fetch(name) })
    OtherProcess.new([*command, operation], environment(folder, own, settings).merge(environment, more))
  end

  # @return [Hash{String => String}] the environment variables of a contestant
  def environment(folder, own, settings = {})
    uri = settings.fetch(:uri, server.uri)
    { 'LDAPNOINIT' => '1', 'BENCH_URI' => uri, 'BENCH_BIND_DN' => DirectoryServer::USER_DN,
      'BENCH_PASSWORD_FILE' => server.password_file, 'BENCH_BASE_DN' => DirectoryServer::BASE_DN, 'BENCH_ID' => ID,
      'BENCH_CACERT' => (server.certificates.cacert if uri.start_with?('ldaps')),
      'BENCH_ROOT' => settings[:root], 'BENCH_FOLDER' => folder.path, 'BENCH_FOLDER_DN' => dn(folder.path),
      'BENCH_KEYS' => settings.fetch(:keys, folder.keys).to_s,
      'BENCH_DOCUMENT' => folder.files.first, 'BENCH_OTHER_DOCUMENT' => folder.files.last, 'BENCH_NAME' => own,
      'BENCH_THREADS' => settings.fetch(:threads, 1).to_s }
  end

  # @return [Hash{String => String}]
  def versions
    Versions.own.merge(Versions.of('libldap-2.5-0', server.is_a?(Slapd) ? 'slapd' : '389-ds-base'))
  end

  # @return [String] the folder of the database, without logs and the regions of caches
  def data
    File.join(server.folder, server.is_a?(Slapd) ? 'data' : "db/#{Ds389::BACKEND}")
  end

  # @return [String] for titles
  def server_name
    server.is_a?(Slapd) ? 'slapd' : '389-DS'
  end

  # @return [String] the DN of a folder
  def dn(path)
    Simpkv::Native.dn_from_path(:plain, :folder, DirectoryServer::BASE_DN, ID, path)
  end

  private

  def environment_and_command(command)
    command = [{}, *command] unless command.first.is_a?(Hash)
    command[1] == 'jruby' ? [OUTSIDE.merge(command[0]), *command.drop(1)] : command
  end

  def warm(names)
    [(WARM['JRuby'] if names.any? { |name| name.end_with?('JRuby') }), WARM[server_name], 0].compact.max
  end
end
