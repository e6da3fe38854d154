# frozen_string_literal: true

require 'simpkv/counted'

module Simpkv
  # What can be told of a document as it is stored, without decrypting it and without a value.
  module StoredForm
    # What a document with times or a history has, or one that spells these names with escapes.
    VERSIONED = ['"expires"', '"history"', '\u'].freeze
    private_constant :VERSIONED

    # @param document [String] as a {Store} returns it
    # @return [Hash{String => Object}]
    #   - `size`, in bytes
    #   - `encrypted`; and `encryption_key`, the name of the key that has encrypted it
    #   - of a plain one, `stored_at` and `expires` where it has them, `expired` if it is so, and `versions`, the number
    #     of values, the current one included. Encrypted documents have their times and history inside
    #   - `damaged`, true for what is neither a document nor an encrypted one
    def self.facts(document)
      key = Native::Keyring.kid_of(document)
      facts = { 'size' => document.bytesize, 'encrypted' => !key.nil? }
      key ? facts.merge('encryption_key' => key) : facts.merge(plain(document))
    rescue MalformedError
      { 'size' => document.bytesize, 'damaged' => true }
    end

    # Reads a document as functions do, unless it is encrypted.
    #
    # @param document [String] as a {Store} returns it
    # @return [Hash{Symbol => Object}, nil] see {RichData.decode}; nil for an encrypted document
    # @raise [MalformedError] functions cannot read it, or it is a damaged encrypted one
    def self.content(document)
      RichData.decode(document)
    rescue MalformedError
      raise unless Native::Keyring.kid_of(document)
    end

    # Checks a document without making anything of it, in 0.5 us for most. Only what may have times or a history is read
    # twice.
    #
    # @param document [String] as a {Store} returns it
    # @return [void]
    # @raise [MalformedError] as {.content}; or its times or its history are malformed
    def self.check(document)
      return if content(document).nil? || !versioned?(document)

      Versions.log(document)
      Versions.expired?(document)
    end

    # Says why functions cannot read a document, for doctor, status, transfers and lists. It quotes nothing.
    #
    # @param document [String] as a {Store} returns it
    # @return [String, nil] nil if they can, also for an encrypted document that is not damaged
    def self.fault(document)
      return 'its document is empty' if document.empty?

      check(document)
      nil
    rescue MalformedError => e
      return e.message if content?(document)

      "its document is corrupt (#{Counted.of(document.bytesize, 'byte')})"
    end

    # @param document [String]
    # @param error [MalformedError] that reading it has raised
    # @return [String] its {fault}; the message of the error if it has none, or is encrypted
    def self.reason(document, error)
      (fault(document) unless Codec.encrypted?(document)) || error.message
    end

    # @param document [String] without a {fault}
    # @return [Time, nil] when it expires; nil also for an encrypted one
    def self.expires(document)
      expires = content(document).to_h[:expires] if versioned?(document)
      expires && Versions.utc(expires)
    end

    def self.content?(document)
      content(document)
      true
    rescue MalformedError
      false
    end
    private_class_method :content?

    def self.versioned?(document)
      VERSIONED.any? { |text| document.include?(text) }
    end
    private_class_method :versioned?

    def self.plain(document)
      newest, *older = Versions.log(document)
      expired = { 'expired' => true } if Versions.expired?(document)
      newest.slice('stored_at', 'expires').merge(expired.to_h, 'versions' => older.length + 1)
    end
    private_class_method :plain
  end
end
