# frozen_string_literal: true

require 'forwardable'

module Simpkv
  # A {Directory} that writes a line to an audit log for each change, with the same methods. In these lines, the key is
  # a DN. Thread-safe.
  class AuditedDirectory
    extend Forwardable

    # The outcomes by the results of the methods.
    ADDED = { true => 'written', false => 'unchanged' }.freeze
    CHANGED = { true => 'written', false => 'conflict' }.freeze
    DELETED = { true => 'deleted', false => 'absent' }.freeze
    private_constant :ADDED, :CHANGED, :DELETED

    def_delegators :@below, :read_entry, :entries, :password?

    # @param below [Directory]
    # @param recorder [Audit::Recorder]
    def initialize(below, recorder)
      @below = below
      @recorder = recorder
    end

    # @return [Boolean] as {Directory#add_entry}
    # @raise [AuditError] as all methods that have a line, with `required`
    def add_entry(dn, attributes)
      @recorder.record('add_entry', dn, ADDED) { @below.add_entry(dn, attributes) }
    end

    # @return [Boolean] as {Directory#modify_entry}
    def modify_entry(dn, changes, version: nil)
      @recorder.record('modify_entry', dn, CHANGED) { @below.modify_entry(dn, changes, version: version) }
    end

    # @return [Boolean] as {Directory#extend_entry}
    def extend_entry(dn, attributes)
      @recorder.record('modify_entry', dn, CHANGED) { @below.extend_entry(dn, attributes) }
    end

    # @return [Boolean] as {Directory#delete_entry}
    def delete_entry(dn, version: nil)
      @recorder.record('delete_entry', dn, DELETED) { @below.delete_entry(dn, version: version) }
    end

    # @return [nil] as {Directory#set_entry_password}
    def set_entry_password(dn, password)
      @recorder.record('set_entry_password', dn, nil => 'written') { @below.set_entry_password(dn, password) }
    end
  end
end
