# frozen_string_literal: true

require 'simpkv/cli/transfer/read_check'
require 'simpkv/cli/walk'

module Simpkv
  module Cli
    # A backend as one end of a transfer.
    class Endpoint
      # @return [ChosenBackend]
      attr_reader :backend

      # @return [Array<String>] the paths of the folders that {#each} has found
      attr_reader :folders

      # @param backend [ChosenBackend]
      # @param jobs [Integer] the number of threads that use it at once
      # @param configuration [Configuration, nil] of a source, whose owners tell what it lacks: see {#each}
      # @param as [Symbol] `:source`, which must exist; `:target`, which is created; or `:either`, which may be missing
      def initialize(backend, jobs, as, configuration = nil)
        @backend = backend
        @configuration = configuration
        @store = backend.store(jobs: jobs, create: as == :target) unless as == :either && !backend.there?
        @source = as == :source
        @jobs = jobs
        @folders = []
        @lock = Mutex.new
      end

      def title
        backend.title
      end

      # @param roots [Array<String>] only what is below these
      # @param errors [Hash{String => String}] filled with the keys that cannot be read, and of a source with what its
      #   {Owners} find that it lacks
      # @yieldparam path [String]
      # @yieldparam document [String]
      # @return [void]
      def each(roots, errors)
        return unless @store

        examined = completeness(roots)
        @folders = Walk.new(@store).each(roots, errors) do |path, document|
          examined.each { |each| each.see(path, document) }
          @backend.check_form(document)
          yield path, document
        rescue MalformedError => e
          errors[path] = e.message
        end
        examined.each { |each| errors.update(each.faults(@folders, @store)) }
      end

      # @param paths [Array<String>]
      # @return [Array<String>] those that are keys, as far as this identity sees them
      def keys_of(paths)
        paths.select do |path|
          @store && @store.kind(path) == :key
        rescue DeniedError
          false
        end
      end

      # Thread-safe, like all methods below.
      #
      # @param paths [Array<String>]
      # @return [Hash{String => String, Simpkv::Error, nil}] their documents; nil for a key that is missing
      def read_many(paths)
        @store.get_many(paths).transform_values { |document| document.is_a?(NotFoundError) ? nil : document }
      end

      # @param documents [Hash{String => String}]
      # @param olds [Hash{String => String, nil}] by key, the document that must be stored; nil for none
      # @return [Hash{String => Simpkv::Error, nil}] nil for a key that has its document
      def write_many(documents, olds)
        raw = @backend.raw? ? { keep_encrypted: false } : {}
        outcomes = in_turn { @store.put_many(documents, condition: :expect, expect: olds, **raw) }
        stored = read_many(outcomes.select { |_, outcome| outcome.is_a?(ExistsError) }.keys)
        outcomes.to_h do |path, outcome|
          same = stored.key?(path) && Native.document_same?(stored[path].to_s, documents[path])
          [path, outcome.is_a?(Simpkv::Error) && !same ? outcome : nil]
        end
      end

      # @param document [String] that must be stored
      # @return [Boolean] whether the key was deleted
      def delete(path, document)
        @store.delete(path, expect: document)
      end

      # Notes that a key stays because another document is stored: see {Store#refuse_put}.
      #
      # @param path [String]
      # @return [void]
      def refuse(path)
        @store.refuse_put(path)
      end

      private

      # @return [Array<Object>] of a source
      def completeness(roots)
        return [] unless @source && @configuration

        plain = ReadCheck.new(@backend).method(:plain)
        Owners.of(@configuration, @backend, @store).each_value.map { |owner| owner.completeness(roots, plain) }
      end

      # Lets only as many threads store at once as the server handles best.
      def in_turn
        turn = turns.pop
        yield
      ensure
        turns << turn if turn
      end

      def turns
        @lock.synchronize do
          @turns ||= Queue.new.tap { |queue| writers.times { |turn| queue << turn } }
        end
      end

      # slapd is fastest with one batch at a time, 389-DS with several (docs/adr/0015).
      def writers
        return @jobs unless backend.ldap?

        @store.directory.read_entry('', ['vendorName']).empty? ? 1 : 4
      end
    end
  end
end
