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
      # @param soft [Boolean] whether that option counts; it does not for an operator's call
      # @param report [Boolean] whether the step stores what a run reports: see {drop}
      # @param node [String, nil] the node that the call is for, in the audit log; nil: the one of the call around this
      #   one, or this machine
      # @yieldparam estate [Estate]
      # @return [Object] what the block returns
      # @raise [Puppet::Error]
      def perform(step, otherwise: nil, soft: true, report: false, node: nil)
        call = -> { yield(estate) }
        Estate::Run.current.for_node(node) { report ? drop(step, &call) : call.call }.tap { warn_of_passwords }
      rescue TransientError, DeniedError, AuditError => e
        raise Puppet::Error, message(step, e), cause: nil unless soft && estate.options['soft']

        Puppet.warning(message(step, e))
        otherwise
      rescue Error, ConfigError, SystemCallError => e
        raise Puppet::Error, message(step, e), cause: nil
      end

      # Drops what a run reports, with a warning, if the server of writes is down or read-only and the option
      # `soft_writes` is set. The estate counts it, so that `simpkv status` tells.
      #
      # @param step [String] as for {perform}
      # @return [Object, nil] what the block returns
      # @raise [Error] without the option, or if the block raises another error
      def drop(step)
        yield.tap { tell_dropped if estate.counters.dropped? }
      rescue TransientError, DeniedError => e
        raise unless estate.options['soft_writes'] && writer_down?(e)

        estate.counters.count_drop
        Puppet.warning("#{message(step, e)}. It is dropped, because 'soft_writes' of 'estate' is set")
        nil
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

      private

      # @return [Boolean] not for a call that was stopped, and for a directory that was never set up
      def writer_down?(error)
        return false if error.is_a?(InterruptedError) || error.is_a?(MissingBaseError)

        error.is_a?(TransientError) || error.fault == :read_only
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
