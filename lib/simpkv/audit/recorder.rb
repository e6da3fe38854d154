# frozen_string_literal: true

require 'simpkv/audit'

module Simpkv
  module Audit
    # Calls operations, and writes a line for each to the audit log of a backend. Thread-safe.
    #
    # With `required`, an operation first reserves the space of its lines. If that fails, it is not done.
    class Recorder
      # The operations whose paths are DNs, and no keys.
      OF_ENTRIES = %w[add_entry modify_entry delete_entry set_entry_password].freeze
      NEVER = { Object => :never }.freeze
      private_constant :OF_ENTRIES, :NEVER

      # @param settings [Hash{String => Object}] the options of the backend, with `audit`
      # @param node [String, #call, nil] the node that the operations are for, or returns it; nil for this machine
      # @param warn [#call, nil] receives a warning if the log cannot be written, once
      def initialize(settings, node: nil, warn: nil)
        @warn = warn
        to, @reads, @required = settings['audit'].values_at('to', 'reads', 'required')
        @log = Log.to(to)
        @line = Line.new(settings.values_at('type', 'id').join('/'), Audit.identity(settings), Audit.user,
                         node || Audit.host)
      end

      # @return [Boolean] whether reads have lines
      def reads?
        @reads
      end

      # Calls the block, and writes its line, even if the block raises or the thread is killed.
      #
      # @param operation [String]
      # @param path [String] of a key or a folder, or a DN
      # @param outcomes [Hash{Object => String}] by the result of the block
      # @return [Object] the result of the block
      # @raise [AuditError] with `required`: nothing was done, or the line cannot be written
      def record(operation, path, outcomes)
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

      # As {#record}, with a line for each key.
      def record_many(operation, keys, outcomes)
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

      private

      # @return [String] the other members of the line
      def listed(result)
        return '' unless result.is_a?(Hash) && result.key?(:errors)

        %(,"count":#{result[:keys].length + result[:errors].length})
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

        warn_of(e) unless @warned
      end

      def ended(error, outcome)
        "#{error.message}. The operation itself is over, with the outcome '#{outcome}': only its line is missing"
      end

      def warn_of(error)
        @warned = true
        @warn&.call("#{error.message}: lines of the audit log are lost")
      end
    end
  end
end
