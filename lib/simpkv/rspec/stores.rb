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
      end

      # Gives the block stores of its own.
      #
      # @return [Object] what the block returns
      def for_example
        around = [@folder, @places]
        @folder = nil
        @places = {}
        yield
      ensure
        FileUtils.remove_entry(@folder, true) if @folder
        @folder, @places = around
      end

      # @param options [Hash] see {UnitTest.redirect}
      # @return [Hash] the same options, but for the place of the chosen backend, and what belongs to a place
      # @raise [ConfigError] no example runs
      def redirect(options)
        name = options['backend']
        backend = options['backends'][name]
        id = backend.values_at(*(backend['type'] == 'file' ? %w[id] : %w[type id])).join('-')
        redirected = backend.slice(*KEPT).merge('type' => 'file', 'id' => id, 'root_path' => place(name, id))
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

      # Two names of one backend have one place, as they have in production.
      def place(name, id = nil)
        unless @places
          raise ConfigError, 'simpkv/rspec has a store only while an example runs: not in before(:context), and not ' \
                             'while files are loaded'
        end

        @uses += 1
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
