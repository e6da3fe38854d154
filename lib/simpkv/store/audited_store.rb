# frozen_string_literal: true

require 'simpkv/audit/recorder'
require 'simpkv/store/audited_directory'
require 'simpkv/store/layer'

module Simpkv
  # A store that writes a line to an audit log for each operation on the store below it, with the same methods. No line
  # has a value, nor metadata. Thread-safe, if the store below is.
  class AuditedStore < Layer
    # The outcomes by the results of the methods.
    WRITTEN = { true => 'written', false => 'unchanged' }.freeze
    CHANGED = { true => 'written', false => 'conflict' }.freeze
    DELETED = { true => 'deleted', false => 'absent' }.freeze
    MATCHED = { true => 'deleted', false => 'conflict' }.freeze
    RENEWED = { renewed: 'written', unchanged: 'unchanged', missing: 'absent' }.freeze
    FOUND = Hash.new('found').merge(nil => 'absent', false => 'absent').freeze
    private_constant :WRITTEN, :CHANGED, :DELETED, :MATCHED, :RENEWED, :FOUND

    # Those of an {EncryptedStore}.
    def_delegators :@below, :keyring, :state, :encrypted_paths=

    # @param below [Store, Object] a {Store}, or an object with its methods
    # @param recorder [Audit::Recorder] writes the lines
    def initialize(below, recorder)
      super(below)
      @recorder = recorder
    end

    # @return [AuditedStore] the store below an {EncryptedStore}, with the documents as they are stored
    def below
      self.class.new(@below.below, @recorder)
    end

    # @return [AuditedDirectory] as {Store#directory}
    def directory
      AuditedDirectory.new(@below.directory, @recorder)
    end

    # @return [String, nil] as {Store#get}
    # @raise [AuditError] as all methods with `required`
    def get(key, **how)
      read('get', key, FOUND) { @below.get(key, **how) }
    end

    # @return [String, nil] as {Store#describe}
    def describe(key, **how)
      read('describe', key, FOUND) { @below.get(key, **how) }
    end

    # @return [Boolean] as {Store#exist?}
    def exist?(key, **how)
      read('exists', key, FOUND) { @below.exist?(key, **how) }
    end

    # @return [Symbol, nil] as {Store#kind}
    def kind(key, **how)
      read('exists', key, FOUND) { @below.kind(key, **how) }
    end

    # @return [Hash{String => Object}] as {Store#stat}
    def stat(key, **how)
      read('stat', key, FOUND) { @below.stat(key, **how) }
    end

    # @return [Hash{String => String, Error}] as {Store#get_many}
    def get_many(keys)
      return @below.get_many(keys) unless @recorder.reads?

      @recorder.record_many('get_many', keys, FOUND) { @below.get_many(keys) }
    end

    # @return [Hash] as {Store#list}
    def list(folder, **how, &block)
      read('list', folder, FOUND) { @below.list(folder, **how, &block) }
    end

    # @return [Hash] as {Store#tree}
    def tree(folder, **how, &block)
      read('tree', folder, FOUND) { @below.tree(folder, **how, &block) }
    end

    # Writes its line when the watch begins, because the watch may never end.
    #
    # @return [void] as {Store#watch}
    def watch(folder, since: nil)
      begun = false
      @below.watch(folder, since: since) do |change|
        read('watch', folder, FOUND) { begun = true } unless begun
        yield change
      end
    rescue Error => e
      read('watch', folder, FOUND) { raise e } unless begun
      raise
    end

    # @return [Boolean] as {Store#put}
    def put(key, document, **how)
      @recorder.record('put', key, WRITTEN) { @below.put(key, document, **how) }
    end

    # @return [false] as {Store#refuse_put}
    def refuse_put(key)
      @recorder.record('put', key, CHANGED) { @below.refuse_put(key) }
    end

    # @return [Hash{String => Boolean, Error}] as {Store#put_many}
    def put_many(documents, condition: :any, **how)
      @recorder.record_many('put_many', documents.keys, WRITTEN) do
        @below.put_many(documents, condition: condition, **how)
      end
    end

    # @return [Boolean] as {Store#delete}
    def delete(key, **how)
      @recorder.record('delete', key, how[:expect] ? MATCHED : DELETED) { @below.delete(key, **how) }
    end

    # @return [Boolean] as {Store#deletetree}
    def deletetree(folder)
      @recorder.record('deletetree', folder, DELETED) { @below.deletetree(folder) }
    end

    # @return [Boolean] as {Store#create_folder}
    def create_folder(folder)
      @recorder.record('create_folder', folder, WRITTEN) { @below.create_folder(folder) }
    end

    # @return [Boolean] as {Store#delete_folder}
    def delete_folder(folder)
      @recorder.record('delete_folder', folder, DELETED) { @below.delete_folder(folder) }
    end

    # @return [Symbol] as {EncryptedStore#renew}
    def renew(path, decrypt: false)
      @recorder.record('rekey', path, RENEWED) { @below.renew(path, decrypt: decrypt) }
    end

    private

    def read(operation, path, outcomes, &call)
      @recorder.reads? ? @recorder.record(operation, path, outcomes, &call) : yield
    end
  end
end
