# frozen_string_literal: true

require 'simpkv/estate/spool_folder'

module Simpkv
  class Estate
    # What runs report while the server of writes is away, in a folder of this machine: the option `spool` of the estate
    # (docs/adr/0121).
    #
    # It is delivered in the order in which it came. While an entry of a node waits, later entries of the node wait as
    # well. One process at a time delivers. It stores an entry, then deletes it; if it dies in between, the next process
    # stores the entry again, which changes nothing.
    #
    # Thread-safe.
    class Spool
      # The seconds for which a server of writes that was away is not tried again, so that a run does not wait for it at
      # each of its steps.
      AWAY = 5
      # The seconds for which a step of a run delivers what others have left.
      BUDGET = 1
      # The seconds after which the bytes of the spool are counted again: other processes add to it.
      COUNTED = 10
      # The number of reasons that are remembered, to tell each of them once.
      TOLD = 100
      # By option, what it means that its limit is reached.
      LIMITS = { 'spool_bytes' => 'it would have more bytes than it may',
                 'spool_age' => 'something waits there for longer than it may' }.freeze
      private_constant :AWAY, :BUDGET, :COUNTED, :TOLD, :LIMITS

      # What a delivery did: how many were `stored`; how many were left out, because something newer was stored or the
      # node was deactivated (`overtaken`); by name, the `errors` of those that could not be stored; and `ended_by`,
      # the error that has ended it, or nil.
      Delivery = Struct.new(:stored, :overtaken, :errors, :ended_by)

      # @param error [Error]
      # @return [Boolean] whether the server of writes is down or read-only. Not for a call that was stopped, and for a
      #   directory that was never set up
      def self.away?(error)
        return false if error.is_a?(InterruptedError) || error.is_a?(MissingBaseError)

        error.is_a?(TransientError) || error.fault == :read_only
      end

      # @param estate [Estate] with the option `spool`
      def initialize(estate)
        @estate = estate
        @folder = SpoolFolder.new(estate.options['spool'], estate)
        @bytes_max, @age_max = estate.options.values_at('spool_bytes', 'spool_age')
        @away_until = 0
        @told = []
      end

      # @return [String] the folder
      def path
        @folder.path
      end

      # @return [Array<SpoolFolder::Waiting>] what waits, the oldest first
      # @raise [SpoolError] the spool cannot be used
      def waiting
        @folder.waiting
      end

      # @return [Array<SpoolFolder::Waiting>] of what waits, the entries that the last deliveries could not store for a
      #   reason of their own. Later ones of their nodes wait for them
      # @raise [SpoolError] the spool cannot be used
      def stuck
        nodes = @folder.stuck
        waiting.uniq(&:node).select { |entry| nodes.include?(entry.node) }
      end

      # @return [Enumerator<String>] as {SpoolFolder#leftovers}
      def leftovers
        @folder.leftovers
      end

      # @param certname [String]
      # @return [Boolean] whether something of the node waits
      # @raise [SpoolError] the spool cannot be used
      def waits?(certname)
        of_node?(@folder.names, certname)
      end

      # @param name [String]
      # @return [RunWrite, nil] nil if nothing of that name waits
      # @raise [Error] it cannot be read
      def read(name)
        @folder.read(name)
      end

      # Deletes what waits, undelivered.
      #
      # @param name [String]
      # @return [Boolean] whether it was there
      # @raise [SpoolError] the spool cannot be used
      def delete(name)
        @folder.delete(name)
      end

      # @return [Hash{String => Object}] the number of what is `waiting`, its `bytes`, the time of the `oldest` (nil if
      #   nothing waits), and the option whose `limit` is reached (nil if none is): that of the bytes, if the spool
      #   would refuse an entry as large as the largest one
      # @raise [SpoolError] the spool cannot be used
      def summary
        all = waiting
        sizes = all.map(&:bytes)
        { 'waiting' => all.length, 'bytes' => sizes.sum, 'oldest' => all.first&.time,
          'limit' => limit(sizes.sum + sizes.max.to_i, all.map(&:name)) }
      end

      # Stores what a run reports, or keeps it until that is possible. Before that, delivers for a moment what waits.
      #
      # @param write [RunWrite]
      # @yieldparam error [Error, ConfigError] of the server of writes, if it was found to be away and the spool has
      #   taken the write; a {SpoolError} for something that waits and cannot be stored, once for each reason
      # @return [Boolean] whether it was stored; false if it waits
      # @raise [SpoolError] the spool cannot take it
      # @raise [Error, ConfigError] it cannot be stored, for another reason than that the server is away
      def save(write, &block)
        return keep(write) if away?

        names, error = deliver_others(&block)
        return keep(write, error, &block) if away? || of_node?(names, write.certname)

        Run.current.at_writer { write.save(@estate) }
        true
      rescue TransientError, DeniedError => e
        raise unless Spool.away?(e)

        rest
        keep(write, e, &block)
      end

      # Delivers what waits. An error of one document leaves those of the same node after it.
      #
      # @param seconds [Numeric, nil] how long; nil: until all is delivered
      # @param wait [Boolean] whether to wait for another process that delivers
      # @return [Delivery, nil] nil if another one delivers
      # @raise [SpoolError] the spool cannot be used
      def deliver(seconds: nil, wait: false)
        return Delivery.new(0, 0, {}, nil) if @folder.names.empty? && leftovers.none?

        @folder.exclusively(wait) { deliver_each(@folder.names, seconds && (Clock.now + seconds)) }
      end

      private

      # Delivers what others have left.
      #
      # @return [Array(Array<String>, Error)] the names of what still waits, and what has ended the delivery
      def deliver_others(&block)
        names = @folder.names
        delivery = @folder.exclusively(false) { deliver_each(names, Clock.now + BUDGET) } if names.any?
        return [names] unless delivery

        rest if delivery.ended_by
        tell(delivery.errors, &block)
        [away? ? names : @folder.names, delivery.ended_by]
      end

      def of_node?(names, certname)
        names.any? { |name| SpoolFolder.node_of(name) == SpoolFolder.node(certname) }
      end

      def tell(errors)
        fresh = errors.invert.reject { |why, _| @told.include?(why) }
        @told = (@told + fresh.keys).last(TOLD)
        return unless block_given?

        fresh.each do |why, name|
          yield SpoolError.new("'#{name}' in the spool '#{path}' cannot be stored, and what is later of its node " \
                               "waits: #{why}. 'simpkv spool show' prints it, and 'simpkv spool rm' gives it up")
        end
      end

      def away?
        Clock.now < @away_until
      end

      # The server of writes is not tried for a while.
      def rest
        @away_until = Clock.now + AWAY
      end

      # @param error [Error, nil] why it cannot be stored now
      # @return [false]
      def keep(write, error = nil)
        document = Codec.encode(write.document)
        refuse_full(document.bytesize, error)
        @folder.put(write, document)
        @bytes += document.bytesize
        yield error if error && block_given?
        false
      end

      def refuse_full(bytes, error)
        limit = limit_with(bytes) or return

        away = "#{error.message}. And " if error
        raise SpoolError, "#{away}the spool '#{path}' is full: #{LIMITS.fetch(limit)} ('#{limit}' of 'estate'). " \
                          "Repair the server of writes, or name another one in 'write_uri', and run 'simpkv spool " \
                          "flush'; or raise the limit", cause: nil
      end

      # Others may have delivered since what waits was counted.
      def limit_with(bytes)
        count if @counted.nil? || Clock.now - @counted > COUNTED
        return unless limit(@bytes + bytes, @names)

        count
        limit(@bytes + bytes, @names)
      end

      # Threads may count at once: they set the same.
      def count
        all = waiting
        @names = all.map(&:name)
        @bytes = all.sum(&:bytes)
        @counted = Clock.now
      end

      # The age has no limit for entries that could not be stored for a reason of their own, and for those that wait for
      # such an entry.
      #
      # @param names [Array<String>] of what waits, the oldest first
      # @return [String, nil] the option whose limit is reached
      def limit(bytes, names)
        return 'spool_bytes' if bytes > @bytes_max

        before = (Time.now.to_r - @age_max) * 1_000_000
        old = nodes(names.take_while { |name| name.to_i < before })
        'spool_age' if old.any? && (old - @folder.stuck).any?
      end

      def deliver_each(names, ends)
        delivery = Delivery.new(0, 0, {}, nil)
        stuck = {} # By node that was tried, whether it could not be stored.
        names.each do |name|
          break if over?(delivery, ends)
          next if stuck[node = SpoolFolder.node_of(name)]

          deliver_one(name, delivery)
          stuck[node] = delivery.errors.key?(name) unless delivery.ended_by
        end
        @folder.stuck = ((@folder.stuck & nodes(names)) - stuck.keys) | stuck.select { |_, failed| failed }.keys
        delivery
      ensure
        Run.current.forget # Another thread may change a record before this one uses it.
      end

      def over?(delivery, ends)
        delivery.ended_by || (ends && Clock.now > ends)
      end

      def nodes(names)
        names.map { |name| SpoolFolder.node_of(name) }.uniq
      end

      def deliver_one(name, delivery)
        write = read(name) or return
        stored = Run.current.for_node(write.certname) { Run.current.at_writer { write.deliver(@estate) } }
        delete(name)
        stored ? delivery.stored += 1 : delivery.overtaken += 1
      rescue Error, ConfigError => e
        raise if e.is_a?(InterruptedError) || e.is_a?(SpoolError)

        note(name, delivery, e)
      rescue StandardError => e
        delivery.errors[name] = e.class.name # Its message may have a value.
      end

      # An error of the configuration concerns all that waits.
      def note(name, delivery, error)
        return delivery.ended_by = error if error.is_a?(ConfigError) || Spool.away?(error)

        delivery.errors[name] = error.message
      end
    end
  end
end
