# frozen_string_literal: true

require 'simpkv/document/rich_data'
require 'simpkv/document/versions'

module Simpkv
  # What can be told of a document as it is stored, without decrypting it and without a value.
  module StoredForm
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

    def self.plain(document)
      newest, *older = Versions.log(document)
      expired = { 'expired' => true } if Versions.expired?(document)
      newest.slice('stored_at', 'expires').merge(expired.to_h, 'versions' => older.length + 1)
    end
    private_class_method :plain
  end
end
