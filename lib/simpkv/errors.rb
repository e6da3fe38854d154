# frozen_string_literal: true

module Simpkv
  # What every failure of a store or of the codec is. `status` says which, as the core names it
  # (SKV_STATUS_MAP in simpkv.h). Messages never hold a document's bytes, nor a password. It is a RuntimeError, since
  # callers of simpkv 1.0.0 rescue that.
  class Error < RuntimeError
    # @return [Symbol, nil] the status of this class of failure, such as :not_found; nil when the core has none
    def self.status
      nil
    end

    # The class for a status of the core.
    #
    # @param status_name [String, Symbol] as `skv_status_name` spells it, such as 'not_found'
    # @return [Class] the subclass of {Error}; {Error} itself for a status that no class stands for
    def self.for(status_name)
      BY_STATUS.fetch(status_name.to_s, Error)
    end

    # @return [Symbol, nil] see {Error.status}
    def status
      self.class.status
    end
  end

  # There is no such key, or no such folder.
  class NotFoundError < Error
    def self.status
      :not_found
    end
  end

  # The key is there already, and was to be written only if it were not.
  class ExistsError < Error
    def self.status
      :exists
    end
  end

  # The stored document is another one than the writer expected.
  class ConflictError < Error
    def self.status
      :conflict
    end
  end

  # A key was asked for, and the name is a folder's.
  class IsFolderError < Error
    def self.status
      :is_folder
    end
  end

  # A folder was asked for, and the name is a key's.
  class IsKeyError < Error
    def self.status
      :is_key
    end
  end

  # An argument, a key or an option is malformed; the message says which.
  class InvalidError < Error
    def self.status
      :invalid
    end
  end

  # The deadline passed first.
  class TimeoutError < Error
    def self.status
      :timeout
    end
  end

  # The call was stopped from outside, by a thread that was told to end for instance.
  class InterruptedError < Error
    def self.status
      :interrupted
    end
  end

  # No permission, or a link that leads out of the store.
  class DeniedError < Error
    def self.status
      :denied
    end
  end

  # The storage cannot be used now: disk full, I/O error, server down.
  class UnavailableError < Error
    def self.status
      :unavailable
    end
  end

  # A name or a document exceeds a limit, which the message names.
  class TooLargeError < Error
    def self.status
      :too_large
    end
  end

  # Not a document that can be read.
  class MalformedError < Error
    def self.status
      :malformed
    end
  end

  # The core ran out of memory.
  class OutOfMemoryError < Error
    def self.status
      :no_memory
    end
  end

  # A value that no document can hold. The core knows no such failure: encoding is Ruby's affair.
  class UnencodableError < Error; end

  # The configuration of a store is wrong.
  class ConfigError < ArgumentError; end

  class Error
    BY_STATUS = [
      NotFoundError, ExistsError, ConflictError, IsFolderError, IsKeyError, InvalidError, TimeoutError,
      InterruptedError, DeniedError, UnavailableError, TooLargeError, MalformedError, OutOfMemoryError
    ].to_h { |error| [error.status.to_s, error] }.freeze
    private_constant :BY_STATUS
  end
end
