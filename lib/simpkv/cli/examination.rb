# frozen_string_literal: true

require 'securerandom'
require 'simpkv/cli/walk'

module Simpkv
  module Cli
    # Looks for what is wrong with a backend. What both kinds have in common; see {FileExamination} and
    # {DirectoryExamination}.
    class Examination
      # The name of the folder in which keys are stored to see whether that works; a word of chance follows.
      SCRATCH = 'simpkv-doctor-'

      # @param backend [Backend]
      # @param findings [Findings] to be filled
      # @param write [Boolean] whether keys of its own may be stored, and deleted again
      # @param size [Integer, nil] how many keys a list is to hold; nil for what suits the server
      def initialize(backend, findings, write: true, size: nil)
        @backend = backend
        @findings = findings
        @write = write
        @size = size
      end

      private

      attr_reader :backend, :findings

      def settings
        backend.settings
      end

      # Stores, reads, lists and deletes keys of its own.
      #
      # @yieldparam folder [String] in which this may be done
      # @yieldparam paths [Array<String>] to be filled with the keys that are stored
      def with_scratch
        folder = "globals/#{SCRATCH}#{SecureRandom.hex(4)}"
        paths = []
        yield folder, paths
      ensure
        clean(folder, paths) if folder
      end

      # Where lists are cut, so is what deletetree sees.
      def clean(folder, paths)
        backend.store.deletetree(folder)
      rescue Simpkv::Error
        begin
          paths.each { |path| backend.store.delete(path) }
          backend.store.deletetree(folder)
        rescue Simpkv::Error => e
          findings.warning('cleaning up', e.message, "delete '#{folder}': simpkv rm -gr #{File.basename(folder)}")
        end
      end

      # What a doctor that was killed has left, unless one is at work.
      def look_for_leftovers
        names = backend.store.list('globals') { nil }[:folders].grep(/\A#{SCRATCH}[0-9a-f]{8}\z/)
        names.each do |name|
          findings.warning('leftovers', "globals/#{name}", "unless another doctor is at work: simpkv rm -gr #{name}")
        end
      rescue Simpkv::Error
        nil # There are no global keys; or what is wrong shows elsewhere.
      end

      # Whether everything can be listed.
      def look_at_keys
        errors = {}
        count = 0
        folders = Walk.new(backend.store).each(Walk::ROOTS, errors) { count += 1 }
        errors.sort.first(10).each do |path, why|
          findings.problem("key '#{path}'", why, 'see what it is, and delete it: simpkv rm, or by hand')
        end
        folders = Output.count((folders - Walk::ROOTS).length, 'folder')
        findings.ok('reading', "#{Output.count(count, 'key')} in #{folders}")
      rescue Simpkv::Error => e
        findings.problem('reading', e.message, 'lift what keeps folders from being listed')
      end
    end
  end
end
