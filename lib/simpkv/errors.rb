# frozen_string_literal: true

module Simpkv
  # Every failure of a store or of the codec. Messages never contain a document's bytes or a password. It is a
  # RuntimeError, because callers of simpkv 1.0.0 rescue that.
  class Error < RuntimeError
    class << self
      # @return [Symbol, nil] the core's status of this class of failure, such as :not_found; nil if it has none
      def status
        STATUSES.key(self)
      end

      # @param status_name [String, Symbol] as `skv_status_name` spells it, such as 'not_found'
      # @return [Class] the subclass of {Error} for it; {Error} itself for a status without a class
      def for(status_name)
        STATUSES.fetch(status_name.to_sym, self)
      end

      # @param key [String] the path of a document in the store
      # @param reason [String] why the document cannot be read
      # @return [Error] of this class. Its message has both
      def unreadable(key, reason)
        new("'#{key}' cannot be read: #{reason}").about(key, reason)
      end
    end

    # @return [String, nil] the path in the store of the key or folder that the error is about, such as
    #   `environments/production/app1/password`; nil if it is about none, or about several
    attr_reader :key

    # @return [Symbol, nil] what the failure is about, to choose advice by, such as :certificate_expired: see
    #   skv_reply_fault() in simpkv_faults.h; nil for anything else
    attr_reader :fault

    # @return [String] the message, without the name of the key if {Error.unreadable} has made the error
    def reason
      @reason || message
    end

    # Names the key that the error is about. Only the first call counts, because it is the nearest to the cause.
    #
    # @param key [String, nil] its path in the store; ignored if it is nil, empty, or no text
    # @param reason [String, nil] see {#reason}
    # @return [self]
    def about(key, reason = nil)
      return self if @key || key.to_s.empty?

      text = key.dup.force_encoding(Encoding::UTF_8)
      return self unless text.valid_encoding?

      @key = text.freeze
      @reason = reason
      self
    end

    # @param fault [String, Symbol, nil] see {#fault}; nil or empty for anything else
    # @return [self]
    def with_fault(fault)
      @fault = fault.to_sym unless fault.to_s.empty?
      self
    end

    # @param message [String]
    # @return [Error] of the same class, about the same key and fault. Raise it with `cause: nil`: the message of a
    #   cause may quote what the new one hides
    def reworded(message)
      self.class.new(message).about(key).with_fault(fault)
    end

    # @return [Symbol, nil] see {Error.status}
    def status
      self.class.status
    end
  end

  # The same call may succeed later. After a write, it is unknown whether something was written.
  class TransientError < Error; end
  # The deadline passed.
  class TimeoutError < TransientError; end
  # The storage cannot be used now: an I/O error, the server is down.
  class UnavailableError < TransientError; end
  # The disk is full, or the quota used up. Nothing was written.
  class FullError < UnavailableError; end
  # A directory has no base entry, or does not show it.
  class MissingBaseError < UnavailableError; end
  # Another thread stopped the call.
  class InterruptedError < TransientError; end

  # The condition of a write does not hold. Read the key again before the next attempt.
  class ConditionError < Error; end
  # The key exists, and the caller wanted to store a new one.
  class ExistsError < ConditionError; end
  # The stored document is not the one that the writer expected, or the folder to delete is not empty.
  class ConflictError < ConditionError; end

  # No such key or folder.
  class NotFoundError < Error; end
  # The call is for a key, and the name is a folder's.
  class IsFolderError < Error; end
  # The call is for a folder, and the name is a key's.
  class IsKeyError < Error; end
  # An argument, a key or an option is malformed; the message says which.
  class InvalidError < Error; end
  # No permission, or a link that leads out of the store.
  class DeniedError < Error; end
  # A name or a document exceeds a limit, which the message names.
  class TooLargeError < Error; end
  # The bytes are not a readable document.
  class MalformedError < Error; end
  # The core ran out of memory.
  class OutOfMemoryError < Error; end
  # A value that no document can hold. The core has no such status: Ruby encodes values.
  class UnencodableError < Error; end
  # The audit log cannot be written, and the option `required` of `audit` is set. The message says whether the operation
  # was done.
  class AuditError < Error; end
  # A plugin of another module failed. Nothing more is known.
  class PluginError < Error; end

  # An inspection rule refuses a node, or cannot be applied to it; the message names the rule.
  class RefusedError < Error
    # @return [Inspection::Inspector::Outcome] of the inspection
    attr_reader :outcome

    def initialize(message, outcome)
      super(message)
      @outcome = outcome
    end
  end

  # The configuration of a store is wrong.
  class ConfigError < ArgumentError
    # @param source [String, nil] the file of the options, or another source
    # @return [ConfigError] its message begins with the source; this error if it has a source, or there is none
    def naming(source)
      return self if @source || source.nil?

      self.class.new("#{source}: #{message}").tap { |error| error.source = source }
    end

    protected

    attr_writer :source
  end

  # There is no store in the configured folder: it is another one, or its file system is not mounted.
  class MissingStoreError < ConfigError; end

  class Error
    # The class for each status of SKV_STATUS_MAP in simpkv.h.
    STATUSES = {
      not_found: NotFoundError, exists: ExistsError, conflict: ConflictError, is_folder: IsFolderError,
      is_key: IsKeyError, invalid: InvalidError, timeout: TimeoutError, interrupted: InterruptedError,
      denied: DeniedError, unavailable: UnavailableError, too_large: TooLargeError, malformed: MalformedError,
      no_memory: OutOfMemoryError, full: FullError
    }.freeze
    private_constant :STATUSES
  end
end
