# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'

module Simpkv
  module Kit
    # The stores of the example that runs: for each backend that it uses, a folder in memory or in a temporary folder,
    # which is empty at first. An example that uses none makes no folder.
    class Stores
      # The options of a backend that have a meaning for every store.
      KEPT = %w[case_sensitive history].freeze
      private_constant :KEPT

      # @return [Integer] the number of times that somebody has used a store
      attr_reader :uses

      def initialize
        @uses = 0
        @configured = {}
        @named = []
      end

      # Gives the block stores of its own.
      #
      # @return [Object] what the block returns
      # @raise [ArgumentError] the example has named a backend before its first call of a function, and no call could
      #   use that backend
      def for_example
        around = [@folder, @places, @configured, @named]
        @folder = nil
        @places = {}
        @configured = {}
        @named = []
        yield.tap { @named.each { |name| check(name) } }
      ensure
        FileUtils.remove_entry(@folder, true) if @folder
        @folder, @places, @configured, @named = around
      end

      # Checks a backend that an example names: now, or when the example ends if it has called no function yet. Before
      # the first call, the kit does not know the backends that Hiera names.
      #
      # @param name [String]
      # @return [void]
      # @raise [ArgumentError] functions have been called, and none of them could use this backend
      def name(name)
        @configured.empty? ? @named << name : check(name)
      end

      # @param options [Hash] see {UnitTest.redirect}
      # @return [Hash] the same options, but for the place of the chosen backend, and what belongs to a place
      # @raise [ConfigError] no example runs
      def redirect(options)
        name = options['backend']
        backend = options['backends'][name]
        @configured.merge!(options['backends'].transform_values { |each| id_of(each) })
        redirected = backend.slice(*KEPT)
                            .merge('type' => 'file', 'id' => @configured[name], 'root_path' => place(name))
        options.merge('backends' => options['backends'].merge(name => redirected))
      end

      # @param name [String] of a backend
      # @return [Store] its store. The caller closes nothing: a store in files holds no descriptor
      # @raise [ConfigError] no example runs
      def store(name)
        Store.open('file', 'root_path' => place(name))
      end

      # @return [Array<String>] the names of the backends that the example has used
      def names
        @places.to_h.keys.grep(String)
      end

      private

      def check(name)
        return if @configured.empty? || @configured.key?(name)

        known = @configured.keys.sort.join("', '")
        raise ArgumentError, "no backend '#{name}': the calls of this example have '#{known}'"
      end

      # Nobody has checked a backend that no call has chosen.
      def id_of(backend)
        backend.values_at(*(backend['type'] == 'file' ? %w[id] : %w[type id])).join('-') if backend.is_a?(Hash)
      end

      # Two names of one backend have one place, as they have in production.
      def place(name)
        unless @places
          raise ConfigError, 'simpkv/rspec has a store only while an example runs: not in before(:context), and not ' \
                             'while files are loaded'
        end

        @uses += 1
        id = @configured[name]
        same = [:id, id]
        place = @places[name] ||= (id && @places[same]) || File.join(folder, @places.length.to_s)
        @places[same] ||= place if id
        place
      end

      def folder
        @folder ||= Dir.mktmpdir('simpkv-rspec', parent)
      end

      # @return [String] the folder of temporary files: in memory, unless the environment names one
      def parent
        ENV['TMPDIR'].to_s.empty? && File.writable?('/dev/shm') ? '/dev/shm' : Dir.tmpdir
      end
    end
  end
end
