# frozen_string_literal: true

require 'simpkv/config/isolation'
require 'simpkv/config/coercion'

module Simpkv
  # The stores that unit tests of a module may use: those of the kit (`require 'simpkv/rspec'`), or without the kit
  # stores that are visibly temporary, and never those of this machine or site (gems/simpkv-rspec/docs/adr/0074).
  module UnitTest
    # A server on this host, but not at the port of the host's own server.
    OWN_SERVER = %r{\Aldaps?://(?:localhost|127(?:\.\d+){3}|\[::1\]):(?!(?:389|636)\b)\d+\z}.freeze
    OWN_SOCKET = %r{\Aldapi://(?<path>%2F[^/?]+)\z}.freeze
    # Folders in which root may write, and can make nothing.
    VIRTUAL = %w[/proc/ /sys/].freeze
    private_constant :OWN_SERVER, :OWN_SOCKET, :VIRTUAL

    class << self
      # @return [#redirect, nil] the stores of the kit, which sets them; nil without the kit
      attr_accessor :kit

      # @return [Boolean] whether this process runs unit tests: somebody has loaded the kit, rspec-puppet, or Puppet's
      #   test support. No program that loads modules for a node does that
      def running?
        return true if kit || defined?(::Puppet::Test::TestHelper) || defined?(::RSpec::Puppet)

        false
      end

      # @param options [Hash] merged and checked options, of which `backend` names one of `backends`
      # @return [Hash] the options to use: in production the same ones, with the kit those of the example's store
      # @raise [ConfigError] the backend is not visibly that of a test
      def redirect(options)
        return options unless running?
        return kit.redirect(options) if kit

        name = options['backend']
        places(options['backends'][name]).each { |place| check(place, "'#{place}' of backend '#{name}'") }
        options
      end

      # @param file [String, nil] the site's file, where one is named
      # @return [String, nil] the one to use: none with the kit, whose stores need no options
      # @raise [ConfigError] it is not visibly that of a test
      def site_file(file)
        return if kit || file.nil?

        check(file, "'#{file}'")
        file
      end

      # @param place [String] a path, or the URI of a directory server
      # @param what [String] names it in the message
      # @return [void]
      # @raise [ConfigError] it is not visibly that of a test
      def check(place, what)
        require 'pathname'
        return if place.start_with?('/') ? own_path?(place) || impossible?(Pathname(place)) : own_uri?(place)

        raise ConfigError, "#{what} is not a temporary place, and a unit test does not touch the stores of this " \
                           "machine: put `require 'simpkv/rspec'` into spec_helper.rb, which gives each example a " \
                           'store of its own (docs/testing.md)'
      end

      private

      # @return [Array<String>] where the backend keeps its keys. Without `root_path`, {DefaultRoot} checks its place.
      #   simpkv does not know where a third-party plugin keeps them
      def places(backend)
        case backend['type']
        when 'file' then [Coercion.convert(:path, backend['root_path'])].compact
        when 'ldap' then backend.values_at('ldap_uri', 'write_uri').flat_map { |uris| words(uris) }
        else []
        end
      end

      def words(uris)
        Coercion.convert(:uris, uris).to_s.split
      end

      # A malformed URI passes: its user says what is wrong with it.
      def own_uri?(uri)
        return true unless uri.match?(%r{\Aldap[is]?://}i)

        socket = uri[OWN_SOCKET, :path]
        socket ? own_path?(socket.gsub(/%(\h\h)/) { $1.hex.chr }) : uri.match?(OWN_SERVER) # rubocop:disable Style/PerlBackrefs
      end

      # A folder below the one where the tests run belongs to the module.
      def own_path?(path)
        require 'tmpdir'
        path = Isolation.canonical(path)
        folders = [Dir.tmpdir, '/tmp', '/var/tmp', '/dev/shm', Dir.pwd].map { |folder| Isolation.canonical(folder) }
        (folders - ['/']).any? { |folder| path.start_with?("#{folder}/") }
      end

      # No store is or can be there: the backend says why, as tests of modules expect.
      def impossible?(path)
        above = path.ascend.find(&:exist?)
        above != path && (!above.directory? || !above.writable? || VIRTUAL.any? { |root| path.to_s.start_with?(root) })
      end
    end
  end
end
