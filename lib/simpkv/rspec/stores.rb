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
      end

      # Gives the block stores of its own.
      #
      # @return [Object] what the block returns
      def for_example
        around = [@folder, @places, @configured]
        @folder = nil
        @places = {}
        @configured = {}
        yield
      ensure
        FileUtils.remove_entry(@folder, true) if @folder
        @folder, @places, @configured = around
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

      # @return [Array<String>] the names of the backends that Hiera, or a call itself, has given to the calls of the
      #   example, and of those that it has used; none before the first call
      def backends
        @configured.empty? ? [] : (@configured.keys | names).sort
      end

      private

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
