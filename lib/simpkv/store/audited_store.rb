# frozen_string_literal: true

require 'simpkv/audit'
require 'simpkv/store/layer'

module Simpkv
  # A store that writes a line to an audit log for each operation on the store below it, with the same methods. No line
  # has a value, nor metadata. Thread-safe, if the store below is.
  #
  # With `required`, an operation first reserves the space of its lines. If that fails, it is not done.
  class AuditedStore < Layer
    # The outcomes by the results of the methods.
    WRITTEN = { true => 'written', false => 'unchanged' }.freeze
    CHANGED = { true => 'written', false => 'conflict' }.freeze
    DELETED = { true => 'deleted', false => 'absent' }.freeze
    MATCHED = { true => 'deleted', false => 'conflict' }.freeze
    RENEWED = { renewed: 'written', unchanged: 'unchanged', missing: 'absent' }.freeze
    FOUND = Hash.new('found').merge(nil => 'absent', false => 'absent').freeze
    # The operations whose paths are DNs, and no keys.
    OF_ENTRIES = %w[add_entry modify_entry delete_entry set_entry_password].freeze
    private_constant :WRITTEN, :CHANGED, :DELETED, :MATCHED, :RENEWED, :FOUND, :OF_ENTRIES

    NEVER = { Object => :never }.freeze
    private_constant :NEVER

    # Those of an {EncryptedStore}.
    def_delegators :@below, :keyring, :state, :encrypted_paths=

    # @param below [Store, Object] a {Store}, or an object with its methods
    # @param settings [Hash{String => Object}] the options of the backend, with `audit`
    # @param node [String, #call, nil] the node that the operations are for, or returns it; nil for this machine
    # @param warn [#call, nil] receives a warning if the log cannot be written, once
    def initialize(below, settings, node: nil, warn: nil)
      super(below)
      @settings = settings
      @node = node
      @warn = warn
      @warned = [] # the same for all copies that #within makes
      to, @reads, @required = settings['audit'].values_at('to', 'reads', 'required')
      @log = Audit::Log.to(to)
      @line = Audit::Line.new(settings.values_at('type', 'id').join('/'), Audit.identity(settings), Audit.user,
                              node || Audit.host)
    end

    # @return [AuditedStore] the store below an {EncryptedStore}, with the documents as they are stored
    def below
      self.class.new(@below.below, @settings, node: @node, warn: @warn)
    end

    # @param how [Hash] as {Store#get}
    # @return [String, nil] as {Store#get}
    # @raise [AuditError] as all methods with `required`
    def get(key, **how)
      read('get', key, FOUND) { @below.get(key, **how) }
    end

    # @param how [Hash] as {Store#get}
    # @return [String, nil] as {Store#describe}
    def describe(key, **how)
      read('describe', key, FOUND) { @below.get(key, **how) }
    end

    # @return [Boolean] as {Store#exist?}
    def exist?(key)
      read('exists', key, FOUND) { @below.exist?(key) }
    end

    # @return [Symbol, nil] as {Store#kind}
    def kind(key)
      read('exists', key, FOUND) { @below.kind(key) }
    end

    # @param how [Hash] as {Store#stat}
    # @return [Hash{String => Object}] as {Store#stat}
    def stat(key, **how)
      read('stat', key, FOUND) { @below.stat(key, **how) }
    end

    # @return [Hash{String => String, Error}] as {Store#get_many}
    def get_many(keys)
      return @below.get_many(keys) unless @reads

      audited_many('get_many', keys, FOUND) { @below.get_many(keys) }
    end

    # @return [Hash] as {Store#list}
    def list(folder, **how, &block)
      read('list', folder, FOUND) { @below.list(folder, **how, &block) }
    end

    # @return [Hash] as {Store#tree}
    def tree(folder, values: true, required: true, &block)
      read('tree', folder, FOUND) { @below.tree(folder, values: values, required: required, &block) }
    end

    # Writes its line when the watch begins, because it may never end.
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
    def put(key, document, **options)
      audited('put', key, WRITTEN) { @below.put(key, document, **options) }
    end

    # @return [false] as {Store#refuse_put}
    def refuse_put(key)
      audited('put', key, CHANGED) { @below.refuse_put(key) }
    end

    # @return [Hash{String => Boolean, Error}] as {Store#put_many}
    def put_many(documents, condition: :any, **options)
      audited_many('put_many', documents.keys, WRITTEN) do
        @below.put_many(documents, condition: condition, **options)
      end
    end

    # @return [Boolean] as {Store#delete}
    def delete(key, expect: nil)
      return audited('delete', key, DELETED) { @below.delete(key) } unless expect

      audited('delete', key, MATCHED) { @below.delete(key, expect: expect) }
    end

    # @return [Boolean] as {Store#deletetree}
    def deletetree(folder)
      audited('deletetree', folder, DELETED) { @below.deletetree(folder) }
    end

    # @return [Boolean] as {Store#create_folder}
    def create_folder(folder)
      audited('create_folder', folder, WRITTEN) { @below.create_folder(folder) }
    end

    # @return [Boolean] as {Store#delete_folder}
    def delete_folder(folder)
      audited('delete_folder', folder, DELETED) { @below.delete_folder(folder) }
    end

    # @return [Symbol] as {EncryptedStore#renew}
    def renew(path, decrypt: false)
      audited('rekey', path, RENEWED) { @below.renew(path, decrypt: decrypt) }
    end

    # @return [Boolean] as {Store#add_entry}. In lines about entries, the key is a DN
    def add_entry(dn, attributes)
      audited('add_entry', dn, WRITTEN) { @below.add_entry(dn, attributes) }
    end

    # @return [Boolean] as {Store#modify_entry}
    def modify_entry(dn, changes, version: nil)
      audited('modify_entry', dn, CHANGED) { @below.modify_entry(dn, changes, version: version) }
    end

    # @return [Boolean] as {Store#extend_entry}
    def extend_entry(dn, attributes)
      audited('modify_entry', dn, CHANGED) { @below.extend_entry(dn, attributes) }
    end

    # @return [Boolean] as {Store#delete_entry}
    def delete_entry(dn, version: nil)
      audited('delete_entry', dn, DELETED) { @below.delete_entry(dn, version: version) }
    end

    # @return [nil] as {Store#set_entry_password}
    def set_entry_password(dn, password)
      audited('set_entry_password', dn, nil => 'written') { @below.set_entry_password(dn, password) }
    end

    private

    def read(operation, path, outcomes, &call)
      @reads ? audited(operation, path, outcomes, &call) : yield
    end

    # Calls the block, and writes its line, even if the block raises or the thread is killed.
    #
    # @param outcomes [Hash{Object => String}] by the result of the block
    def audited(operation, path, outcomes)
      key = path unless OF_ENTRIES.include?(operation)
      reserve(key) { @line.size(path) }
      began = now
      outcome = 'error'
      more = ',"error":"Interrupted"'
      begin
        result = yield
        outcome = outcomes[result]
        more = listed(result)
        result
      rescue Exception => e # rubocop:disable Lint/RescueException -- it is raised again
        outcome, more = failure(e)
        raise
      ensure
        write(outcome, key) { @line.of(operation, path, outcome, now - began, more) }
      end
    end

    # @return [String] the other members of the line
    def listed(result)
      return '' unless result.is_a?(Hash) && result.key?(:errors)

      %(,"count":#{result[:keys].length + result[:errors].length})
    end

    # As {#audited}, with a line for each key.
    def audited_many(operation, keys, outcomes)
      return yield if keys.empty?

      reserve { keys.sum { |key| @line.size(key) } }
      began = now
      results = nil
      failed = ['error', ',"error":"Interrupted"']
      begin
        results = yield
      rescue Exception => e # rubocop:disable Lint/RescueException -- it is raised again
        failed = failure(e)
        raise
      ensure
        duration = now - began
        write(results ? 'done' : failed.first) do
          keys.uniq.map do |key|
            outcome, more = results ? outcome_of(results[key], outcomes) : failed
            @line.of(operation, key, outcome, duration, more)
          end.join
        end
      end
    end

    # @return [Array(String, String)] the outcome of one of many keys, and the other members of its line
    def outcome_of(result, outcomes)
      result.is_a?(Error) ? failure(result) : [outcomes[result], '']
    end

    # @return [Array(String, String)] the outcome, and the other members of the line
    def failure(error)
      outcome = case error
                when ConditionError then 'conflict'
                when NotFoundError then 'absent'
                when DeniedError then 'refused'
                else 'error'
                end
      [outcome, %(,"error":"#{error.class.name.to_s.split('::').last}")]
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond)
    end

    # @param key [String, nil] see {Error#key}
    # @yieldreturn [Integer] bytes
    # @raise [AuditError] there is no room
    def reserve(key = nil)
      @log.reserve(yield) if @required
    rescue Error => e
      why = "#{e.message}. The option 'required' of 'audit' is set, so nothing was done"
      raise AuditError.new(why).about(key), cause: nil
    end

    # @param key [String, nil] see {Error#key}
    # @yieldreturn [String] lines
    # @raise [AuditError] they cannot be written, with `required`
    def write(outcome, key = nil)
      Thread.handle_interrupt(NEVER) { @log.write(yield) }
    rescue Error => e
      raise AuditError.new(ended(e, outcome)).about(key), cause: nil if @required

      warn_of(e) if @warned.empty?
    end

    def ended(error, outcome)
      "#{error.message}. The operation itself is over, with the outcome '#{outcome}': only its line is missing"
    end

    def warn_of(error)
      @warned << true
      @warn&.call("#{error.message}: lines of the audit log are lost")
    end
  end
end
