# frozen_string_literal: true

$LOAD_PATH.unshift(*Dir[File.expand_path('../../{lib,gems/*/lib}', __dir__)])

# The layers of simpkv, and other clients. All have the methods that the cases need: `get`, `exists`, `put` and `delete`
# of a name in the folder; `document`, the stored bytes. Values and documents have the numbers 0 and 1.
module Layers
  # Yields an instance for each thread.
  def self.open(name, threads, &block)
    { 'store' => StoreLayer, 'adapter' => AdapterLayer, 'function' => FunctionLayer, 'ruby-ldap' => RubyLdapLayer,
      'net-ldap' => NetLdapLayer, 'ldapsearch' => LdapsearchLayer }.fetch(name).open(threads, &block)
  end

  # @return [Array<String>]
  def self.documents
    %w[BENCH_DOCUMENT BENCH_OTHER_DOCUMENT].map { |name| File.read(ENV.fetch(name), encoding: 'UTF-8') }
  end

  # @return [Hash{String => Object}] options of a store or backend
  def self.options
    { 'ldap_uri' => ENV.fetch('BENCH_URI'), 'admin_dn' => ENV.fetch('BENCH_BIND_DN'),
      'admin_pw_file' => ENV.fetch('BENCH_PASSWORD_FILE'), 'base_dn' => ENV.fetch('BENCH_BASE_DN'),
      'tls_cacert' => ENV.fetch('BENCH_CACERT', nil), 'id' => ENV.fetch('BENCH_ID') }.compact
  end

  # @return [Hash{String => Object}] a backend: a directory, or files
  def self.backend
    root = ENV.fetch('BENCH_ROOT', nil)
    root ? { 'type' => 'file', 'id' => ENV.fetch('BENCH_ID'), 'root_path' => root } : options.merge('type' => 'ldap')
  end

  def self.password
    File.read(ENV.fetch('BENCH_PASSWORD_FILE'))
  end

  def self.dn(name)
    "simpkvKey=#{name},#{ENV.fetch('BENCH_FOLDER_DN')}"
  end

  # Simpkv::Store, with documents.
  class StoreLayer
    def self.open(threads)
      require 'simpkv'
      store = Simpkv::Store.open('ldap', Layers.options)
      yield Array.new(threads) { new(store) }
    end

    def initialize(store)
      @store = store
      @folder = ENV.fetch('BENCH_FOLDER')
      @documents = Layers.documents
    end

    def get(name)
      @store.get("#{@folder}/#{name}")
    end
    alias document get

    def exists(name)
      @store.exist?("#{@folder}/#{name}")
    end

    def put(name, number)
      @store.put("#{@folder}/#{name}", @documents[number])
    end

    def delete(name)
      @store.delete("#{@folder}/#{name}")
    end

    def list
      @store.list(@folder)
    end

    def documents(listed)
      listed[:keys].values
    end
  end

  # The base class of both layers inside Puppet, with values.
  class PuppetLayer
    def self.open(threads)
      require 'puppet'
      require 'puppet/test/test_helper'
      require 'simpkv'
      require_relative 'json_in_ruby' if ENV['BENCH_JSON']
      require_relative '../../spec/support/puppet_world'
      Puppet::Test::TestHelper.initialize
      Puppet::Test::TestHelper.before_all_tests
      Puppet::Test::TestHelper.before_each_test
      backend = Layers.backend
      world = PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } })
      adapter = world.adapter
      world.inside { |compiler| yield Array.new(threads) { new(adapter, compiler, backend) } }
    ensure
      world&.close
    end

    def initialize
      @folder = ENV.fetch('BENCH_FOLDER').delete_prefix('environments/production/')
      @values = Layers.documents.map { |document| Simpkv::Codec.decode(document).values_at(:value, :metadata) }
    end

    def document(name)
      found = get(name)
      Simpkv::Codec.encode(found['value'] || found[:value], found['metadata'] || found[:metadata])
    end

    def documents(listed)
      found = listed['keys'] || listed[:keys]
      found.values.map { |each| Simpkv::Codec.encode(each['value'] || each[:value], each['metadata'] || each[:metadata]) }
    end
  end

  # The adapter.
  class AdapterLayer < PuppetLayer
    def initialize(adapter, _compiler, backend)
      super()
      @adapter = adapter
      # Frozen, like the options of functions.
      @options = Simpkv::Config.frozen('environment' => 'production', 'softfail' => false, 'backend' => 'default',
                                       'backends' => { 'default' => backend })
    end

    def get(name)
      checked(@adapter.get("#{@folder}/#{name}", @options))
    end

    def exists(name)
      checked(@adapter.exists("#{@folder}/#{name}", @options))
    end

    def put(name, number)
      checked(@adapter.put("#{@folder}/#{name}", *@values[number], @options))
    end

    def delete(name)
      checked(@adapter.delete("#{@folder}/#{name}", @options))
    end

    def list
      checked(@adapter.list(@folder, @options))
    end

    private

    def checked(answer)
      raise answer[:err_msg] if answer[:err_msg]

      answer[:result]
    end
  end

  # Puppet's functions, called as in a manifest.
  class FunctionLayer < PuppetLayer
    def initialize(_adapter, compiler, _backend)
      super()
      @scope = compiler.topscope
      loader = compiler.loaders.private_environment_loader
      @functions = %w[get exists put delete list].to_h { |name| [name, loader.load(:function, "simpkv::#{name}")] }
    end

    def get(name)
      @functions['get'].call(@scope, "#{@folder}/#{name}")
    end

    def exists(name)
      @functions['exists'].call(@scope, "#{@folder}/#{name}")
    end

    def put(name, number)
      @functions['put'].call(@scope, "#{@folder}/#{name}", *@values[number])
    end

    def delete(name)
      @functions['delete'].call(@scope, "#{@folder}/#{name}")
    end

    def list
      @functions['list'].call(@scope, @folder)
    end
  end

  # The gem ruby-ldap, a binding to libldap. It supports TCP only.
  class RubyLdapLayer
    def self.open(threads)
      require 'ldap'
      yield Array.new(threads) { new }
    end

    def initialize
      host, port = ENV.fetch('BENCH_URI').delete_prefix('ldap://').split(':')
      @connection = LDAP::Conn.new(host, Integer(port))
      @connection.set_option(LDAP::LDAP_OPT_PROTOCOL_VERSION, 3)
      @connection.bind(ENV.fetch('BENCH_BIND_DN'), Layers.password)
    end

    def get(name)
      found = @connection.search2(Layers.dn(name), LDAP::LDAP_SCOPE_BASE, '(objectClass=*)', ['simpkvJsonValue'])
      found.first['simpkvJsonValue'].first
    end
    alias document get
  end

  # The gem net-ldap, in pure Ruby. It supports TCP only.
  class NetLdapLayer
    def self.open(threads, layers = [], &block)
      require 'net/ldap'
      return yield(layers) if layers.length == threads

      host, port = ENV.fetch('BENCH_URI').delete_prefix('ldap://').split(':')
      identity = { method: :simple, username: ENV.fetch('BENCH_BIND_DN'), password: Layers.password }
      Net::LDAP.open(host: host, port: Integer(port), auth: identity) do |ldap|
        NetLdapLayer.open(threads, [*layers, new(ldap)], &block)
      end
    end

    def initialize(ldap)
      @ldap = ldap
    end

    def get(name)
      found = @ldap.search(base: Layers.dn(name), scope: Net::LDAP::SearchScope_BaseObject,
                           attributes: ['simpkvJsonValue'])
      found.first['simpkvJsonValue'].first
    end
    alias document get
  end

  # A process of ldapsearch for each call, as in simpkv 1.0.0.
  class LdapsearchLayer
    def self.open(threads)
      yield Array.new(threads) { new }
    end

    def get(name)
      command = ['ldapsearch', '-LLL', '-o', 'ldif_wrap=no', '-x', '-H', ENV.fetch('BENCH_URI'),
                 '-D', ENV.fetch('BENCH_BIND_DN'), '-y', ENV.fetch('BENCH_PASSWORD_FILE'),
                 '-s', 'base', '-b', Layers.dn(name), 'simpkvJsonValue']
      IO.popen(command, &:read)[/^simpkvJsonValue: (.*)/, 1]
    end
    alias document get
  end
end
