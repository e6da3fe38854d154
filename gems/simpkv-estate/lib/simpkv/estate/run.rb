# frozen_string_literal: true

module Simpkv
  class Estate
    # What the steps of a run share: the name of the node, for the audit log, and the record of the inventory that one
    # step leaves for the next, which then does not read it.
    #
    # Puppet's indirector calls one terminus after the other: it saves the facts, compiles, which searches resources of
    # other nodes, and saves exports. It gives them requests that have no object in common, and no place for one. They
    # run in one thread, so a thread keeps its run. No other class of simpkv keeps anything in a thread.
    class Run
      THREAD = :simpkv_run

      # The number of seconds after which a record is read again: the run that kept it may have failed.
      KEPT_FOR = 120
      private_constant :THREAD, :KEPT_FOR

      # @return [Run] the one of this thread
      def self.current
        Thread.current[THREAD] ||= new
      end

      # @return [String, nil] the node of the call that is on its way
      attr_reader :node

      # @param name [String, nil] nil: the node of the call around this one
      # @return [Object] what the block returns
      def for_node(name)
        before = @node
        @node = name || before
        yield
      ensure
        @node = before
      end

      # Yields while no other server may answer the reads of this thread in place of the one of writes, if that is away:
      # what is to be stored, or to be seen, may be missing elsewhere.
      #
      # @return [Object] what the block returns
      def at_writer
        before = @at_writer
        @at_writer = true
        yield
      ensure
        @at_writer = before
      end

      # @return [Boolean] whether the caller is in {#at_writer}
      def at_writer?
        @at_writer ? true : false
      end

      # @param inventory [Inventory]
      # @param certname [String]
      # @param stored [Documents::Stored]
      # @return [void]
      def keep(inventory, certname, stored)
        @kept = [inventory, certname, stored, Clock.now]
      end

      # @yieldreturn [Documents::Stored, nil] the record, if none is kept
      # @return [Documents::Stored, nil] the record that was kept, once; else that of the block
      def take(inventory, certname)
        owner, name, stored, time = @kept
        @kept = nil
        owner.equal?(inventory) && name == certname && Clock.now - time < KEPT_FOR ? stored : yield
      end

      # Forgets the record. A thread that serves requests calls it: the next one may be about the same node, and another
      # thread may have changed the record.
      #
      # @return [void]
      def forget
        @kept = nil
      end
    end
  end
end
