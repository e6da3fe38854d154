# frozen_string_literal: true

require 'simpkv/inspection'

module Simpkv
  # The common code of Puppet's termini named simpkv, in lib/puppet/indirector. They run inside Puppet. This file,
  # those of its folder and those of document/rich_data are the only ones of the gem's library that know Puppet.
  module Termini
    # The termini that read stored copies. Others, such as facter or the compiler, make new data.
    STORED = %i[json memory msgpack simpkv store_configs yaml].freeze
    MUTEX = Mutex.new
    private_constant :STORED, :MUTEX

    class << self
      # @return [Estate] the one of this process, opened at the first call
      # @raise [ConfigError, SystemCallError]
      def estate
        MUTEX.synchronize do
          @estate ||= Estate.load(confdirs: [Puppet[:confdir]], vardirs: Vardirs.of_puppet,
                                  node: method(:node)) do |warning|
            Puppet.warning("simpkv estate: #{warning}")
          end
        end
      end

      # Runs a call of the estate. Its errors name the step.
      #
      # @param step [String] such as `save the facts of 'web1'`
      # @param otherwise [Object] the result if the backend fails and the option `soft` is set, with a warning
      # @param soft [Boolean] whether the option `soft` counts; false for a call of an operator
      # @param node [String, nil] the node that the call is for, in the audit log; nil: the one of the call around this
      #   one, or this machine
      # @yieldparam estate [Estate]
      # @return [Object] what the block returns
      # @raise [Puppet::Error]
      def perform(step, otherwise: nil, soft: true, node: nil)
        Estate::Run.current.for_node(node) { yield(estate) }.tap { warn_of_passwords }
      rescue TransientError, DeniedError, AuditError => e
        raise Puppet::Error, message(step, e), cause: nil unless soft && estate.options['soft']

        Puppet.warning(message(step, e))
        otherwise
      rescue Error, ConfigError, SystemCallError => e
        raise Puppet::Error, message(step, e), cause: nil
      end

      # Runs a step that stores what a run reports: see {store}.
      #
      # @param step [String] as for {perform}
      # @param certname [String]
      # @yieldparam estate [Estate]
      # @yieldparam store [#call] stores a {Estate::RunWrite}
      # @return [void]
      # @raise [Puppet::Error]
      def report(step, certname)
        perform(step, node: certname) do |estate|
          yield(estate, ->(write) { store(step, write) })
        end
      end

      # Stores what a run reports. If the server of writes is down or read-only, the report waits in the spool of the
      # estate.
      #
      # @param step [String] as for {perform}
      # @param write [Estate::RunWrite]
      # @return [void]
      # @raise [Error, ConfigError] there is no spool, it is full, or something else is wrong
      def store(step, write)
        return drop(step) { Estate::Run.current.at_writer { write.save(estate) } } unless estate.spool

        write.check(estate)
        estate.spool.save(write) do |error|
          next Puppet.warning("simpkv estate: #{error.message}") if error.is_a?(Estate::SpoolError)

          Puppet.warning("#{message(step, error)}. What runs report waits in the spool '#{estate.spool.path}'")
        end
      end

      # Returns true if a terminus answers a `find`. As a cache of a terminus that makes new data, it answers only if
      # Puppet asks the cache alone: otherwise Puppet would compile with the facts of the last run, or deliver its
      # catalog.
      #
      # @param terminus [Puppet::Indirector::Terminus]
      # @param request [Puppet::Indirector::Request]
      # @return [Boolean]
      def answers?(terminus, request)
        STORED.include?(main(terminus)) || request.ignore_terminus?
      end

      # @param terminus [Puppet::Indirector::Terminus]
      # @return [Symbol] the main terminus of its indirection. A setting makes it a Symbol, routes.yaml a String
      def main(terminus)
        terminus.indirection.terminus_class.to_sym
      end

      # Refuses a malformed document, or leaves it out with a warning if the option `skip_undecodable` is set.
      #
      # @param key [String]
      # @param why [String]
      # @return [nil]
      # @raise [MalformedError]
      def malformed(key, why)
        return left_out("'#{key}'", why) if estate.options['skip_undecodable']

        raise MalformedError.unreadable(key, why)
      end

      # Warns of what a search leaves out.
      #
      # @param what [String]
      # @param why [String, nil]
      # @return [nil]
      def left_out(what, why = nil)
        Puppet.warning(["simpkv estate: left out #{what}, which cannot be read", why].compact.join(': '))
        nil
      end

      # @return [Hash{String => String}] the members of what this server sends now: see {Estate::Produced}
      def produced
        Estate::Produced.members(Puppet[:certname])
      end

      private

      # Drops what a run reports, with a warning, if the server of writes is away and the option `soft_writes` is set.
      # The estate counts it, so that `simpkv status` tells.
      def drop(step)
        yield.tap { tell_dropped if estate.counters.dropped? }
      rescue TransientError, DeniedError => e
        raise unless estate.options['soft_writes'] && Estate::Spool.away?(e)

        estate.counters.count_drop
        Puppet.warning("#{message(step, e)}. It is dropped, because 'soft_writes' of 'estate' is set")
        nil
      end

      # Stores how much was dropped, as soon as something can be stored.
      def tell_dropped
        estate.counters.save_due
      rescue TransientError
        nil # What was saved before did not need the server of writes. The next save stores the number.
      rescue Error, ConfigError => e
        Puppet.warning(message('save the number of what was dropped', e))
      end

      # @return [String] the node that the call of this thread is for
      def node
        Estate::Run.current.node || Puppet[:certname]
      end

      # Warns once of each password file that a server refuses. The estate is opened once, and the file changes later.
      def warn_of_passwords
        refused = LdapAccess.refused_passwords
        fresh = MUTEX.synchronize do
          known = @refused.to_a
          @refused = refused.keys
          refused.reject { |file, _| known.include?(file) }
        end
        fresh.each_value { |warning| Puppet.warning("simpkv estate: #{warning}") }
      end

      def message(step, error)
        "simpkv estate: could not #{step}: #{error.message}"
      end
    end
  end
end
