# frozen_string_literal: true

require 'simpkv/secrets/entry'
require 'simpkv/secrets/request'

module Simpkv
  # The secrets of a store: each is made once, by the first of several callers, and so is each form of it.
  class Secrets
    # @param store [Store, Object] the store of forms, and of reads
    # @param versioned [VersionedStore] the store of new secrets
    # @param deadline [Deadline, nil] of all calls
    # @param known [Hash{String => Entry}] by path, filled with the keys and certificates that the caller has read, so
    #   that all their parts come from one moment
    # @param warn [#call] receives the reason why a certificate could not be renewed
    # @yieldparam key [String] of a CA
    # @yieldreturn [Array<String>] the paths where it may be; the first one that exists counts
    def initialize(store, versioned, deadline: nil, known: {}, warn: ->(_why) {}, &paths_of)
      @store = store
      @versioned = versioned
      @deadline = deadline
      @known = known
      @warn = warn
      @paths_of = paths_of
    end

    # Reads what is there, and makes what is missing: the secret, or the form. Replaces a certificate that ends soon.
    #
    # @param path [String]
    # @param request [Request]
    # @param make [Boolean, :form] whether it may be made; `:form`: only the form of a secret that is there
    # @return [String, nil] what the request names; nil if it is missing, and may not be made
    # @raise [ConfigError] an option of the request is wrong
    # @raise [InvalidError] the request does not fit the secret
    # @raise [Error]
    def fetch(path, request, make: true)
      entry = @known[path] || unexpired(@store.get(path, stored: true, required: false, deadline: @deadline))
      entry = available(path, entry, request, make) if make
      return unless entry

      @known[path] = entry if entry.parts.any?
      entry.text_for(request)
    end

    # @param path [String]
    # @param request [Request]
    # @param number [Integer] of the version: -1 is the one before the current one
    # @return [String] what the request names of the secret of that version
    # @raise [NotFoundError] there is no such key
    # @raise [InvalidError] the key has no such version, or the version has no such form: nothing is made for it
    def earlier(path, request, number)
      entry = unexpired(@store.get(path, deadline: @deadline))
      version = entry && Versions.version(entry.document, number)
      raise InvalidError, "the secret has no version #{number}" unless version

      Entry.new(version).text_for(request) ||
        raise(InvalidError, "version #{number} of the secret has no form '#{request.form}'")
    end

    # Replaces a secret by another one, made in the same way. It expires after the same time, and the key keeps as many
    # earlier values, unless the store of new secrets says otherwise.
    #
    # @param path [String]
    # @param options [Hash{String => Object}] of the new one, in place of those of the old one: see {Request::MAKING}
    # @yieldparam entry [Entry] the stored one
    # @yieldreturn [Boolean] whether it is replaced; without a block it is
    # @return [void]
    # @raise [NotFoundError] there is none
    # @raise [InvalidError] something else has made it, or the options name another kind
    # @raise [ConfigError] no other one can be made with these options
    def rotate(path, options = {})
      CompareAndSwap.repeat do
        entry = Entry.new(@store.get(path, latest: true, deadline: @deadline))
        next if block_given? && !yield(entry)

        entry.check_kind(options['kind'])
        document = secret(entry.made.merge(options))
        put(@versioned.or_else(**entry.kept), path, document, entry)
      end
    end

    # Puts a certificate on the revocation list of the CA that has signed it.
    #
    # @param path [String] of the certificate
    # @return [String] its serial number
    # @raise [NotFoundError] there is no certificate
    # @raise [ConfigError] its CA is missing
    # @raise [InvalidError] no CA of the store has signed it, or that CA was replaced since
    def revoke(path)
      entry = Entry.new(@store.get(path, latest: true, deadline: @deadline))
      issuer = entry.made['issuer'] || raise(InvalidError, 'no CA of this store has signed it')
      authority, authority_path = find_authority(issuer)
      unless authority.signed?(entry)
        raise InvalidError, "the CA '#{issuer}' was replaced since: its list does not hold for this certificate"
      end

      revoke_number(authority_path, entry.parts['serial'])
    end

    # @param path [String] of a CA
    # @param serial [String] of a certificate that it has signed, in hexadecimal digits
    # @return [String] the serial number
    # @raise [NotFoundError] there is no CA
    # @raise [InvalidError] it is no CA
    # @raise [ConfigError] that is no number
    def revoke_number(path, serial)
      replace(path) { |authority| authority.revoking(serial.upcase) }
      serial
    end

    private

    # @return [Entry, nil] nil without a document, and for one that has expired
    def unexpired(document)
      Entry.new(document) unless document.nil? || Versions.expired?(document)
    end

    # @param entry [Entry, nil] what is there
    # @return [Entry, nil] the same, or another one that has all that the request names
    def available(path, entry, request, make)
      entry&.check_kind(request.kind)
      entry = renewed(path, entry, request) if make == true && entry&.due?(request)
      entry&.text_for(request) ? entry : find_or_make(path, request, make)
    end

    def find_or_make(path, request, make)
      CompareAndSwap.repeat do
        entry = unexpired(@store.get(path, latest: true, required: false, deadline: @deadline))
        next unless entry || make == true

        entry ||= Entry.new(FirstWrite.put(@versioned, path, first(request), @deadline))
        next entry if entry.text_for(request)

        document = entry.completed(request)
        put(@store, path, document, entry, non_unique: true)
        Entry.new(document)
      end
    end

    # Fails before anything is stored if the request names what the new secret would not have.
    #
    # @return [String] the document of a new secret, with the form
    def first(request)
      if request.part && request.kind.nil?
        raise InvalidError, "it is missing, and 'part' does not say what to make: add 'kind', or make it first"
      end

      entry = Entry.new(secret(request.of_making))
      entry.text_for(request) ? entry.document : entry.completed(request)
    end

    # A certificate that cannot be replaced stays until it ends.
    #
    # @return [Entry]
    def renewed(path, entry, request)
      if request.list?
        replace(path) { |stored| stored.relisted if stored.due?(request) }
      else
        rotate(path, request.making) { |stored| stored.due?(request) }
      end
      Entry.new(@store.get(path, latest: true, deadline: @deadline))
    rescue Error, ConfigError => e
      raise if e.is_a?(AuditError) || entry.ended?(request)

      @warn.call("it ends soon, and could not be renewed: #{e.message}")
      entry
    end

    # @yieldparam entry [Entry] the stored one
    # @yieldreturn [String, nil] the document in its place; nil for none
    def replace(path)
      CompareAndSwap.repeat do
        entry = Entry.new(@store.get(path, latest: true, deadline: @deadline))
        document = yield(entry)
        put(@store, path, document, entry) if document
      end
    end

    def put(store, path, document, entry, **how)
      CompareAndSwap.attempt do
        store.put(path, document, condition: :expect, expect: entry.document, deadline: @deadline, **how)
      end
    end

    # @return [String] the document of a new secret
    def secret(options)
      issuer = options['issuer']
      Entry.make(issuer ? options.merge('issuer' => find_authority(issuer).first.authority) : options, options)
    end

    # @return [Array(Entry, String)] a CA, and its path
    # @raise [ConfigError] there is none
    def find_authority(key)
      @paths_of.call(key).each do |path|
        document = @store.get(path, required: false, deadline: @deadline)
        return authority(key, path, document) if document
      end
      raise ConfigError, "option 'issuer': there is no key '#{key}'"
    end

    def authority(key, path, document)
      entry = Entry.new(document)
      return [entry, path] if entry.authority

      raise ConfigError, "option 'issuer': '#{key}' is no secret of the kind 'x509'"
    end
  end
end
