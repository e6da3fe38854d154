# frozen_string_literal: true

require 'simpkv/secrets/entry'
require 'simpkv/secrets/request'
require 'simpkv/store/compare_and_swap'
require 'simpkv/store/first_write'

module Simpkv
  # The secrets of a store: each is made once, by the first of several callers, and so is each form of it.
  class Secrets
    # @param store [Store, Object] the store of forms, and of reads
    # @param versioned [VersionedStore] the store of new secrets
    # @param deadline [Deadline, nil] of all calls
    # @param known [Hash{String => Entry}] by path, filled with the keys and certificates that the caller has got: all
    #   their parts are those of one moment
    # @yieldparam key [String] of a CA
    # @yieldreturn [String] its path
    def initialize(store, versioned, deadline: nil, known: {}, &path_of)
      @store = store
      @versioned = versioned
      @deadline = deadline
      @known = known
      @path_of = path_of
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
      entry = @known[path] || live(@store.get(path, stored: true, required: false, deadline: @deadline))
      entry = completed(path, entry, request, make) if make
      return unless entry

      @known[path] = entry if entry.parts.any?
      entry.take(request)
    end

    # @param path [String]
    # @param request [Request]
    # @param number [Integer] of the version: -1 is the one before the current one
    # @return [String] what the request names of the secret of that version
    # @raise [NotFoundError] there is none
    # @raise [InvalidError] it lacks the form: nothing is made for an earlier secret
    def earlier(path, request, number)
      entry = live(@store.get(path, deadline: @deadline))
      version = entry && Versions.version(entry.document, number)
      raise NotFoundError.new("Key not found: there is no version #{number} of it").about(path) unless version

      Entry.new(version).take(request) ||
        raise(InvalidError, "version #{number} of the secret has no form '#{request.form}'")
    end

    # Replaces a secret by another one, made in the same way.
    #
    # @param path [String]
    # @yieldparam entry [Entry] the stored one
    # @yieldreturn [Boolean] whether it is replaced; without a block it is
    # @return [void]
    # @raise [NotFoundError] there is none
    # @raise [InvalidError] something else has made it
    def rotate(path)
      replace(path, @versioned) { |entry| secret(entry.made) if !block_given? || yield(entry) }
    end

    # Puts a certificate on the revocation list of the CA that has signed it.
    #
    # @param path [String]
    # @return [String] its serial number
    # @raise [NotFoundError] there is no certificate, or no CA
    # @raise [InvalidError] no CA of the store has signed it
    def revoke(path)
      entry = Entry.new(@store.get(path, latest: true, deadline: @deadline))
      issuer = entry.made['issuer'] || raise(InvalidError, 'no CA of this store has signed it')
      serial = entry.parts['serial']
      replace(@path_of.call(issuer), @store) { |authority| authority.revoking(serial) }
      serial
    end

    private

    # @return [Entry, nil] nil without a document, and for one that has expired
    def live(document)
      Entry.new(document) unless document.nil? || Versions.expired?(document)
    end

    # @param entry [Entry, nil] what is there
    # @return [Entry, nil] what has all that the request names
    def completed(path, entry, request, make)
      entry = renewed(path, entry, request) if make == true && entry&.due?(request)
      entry&.take(request) ? entry : made(path, request, make)
    end

    def made(path, request, make)
      CompareAndSwap.repeat do
        entry = live(@store.get(path, latest: true, required: false, deadline: @deadline))
        next unless entry || make == true

        entry ||= Entry.new(FirstWrite.put(@versioned, path, first(request), @deadline))
        entry.take(request) ? entry : with_form(path, entry, request)
      end
    end

    # @return [String] the document of a new secret, with the form
    def first(request)
      document = secret(request.of_making)
      request.form && !request.saltless? ? Entry.new(document).with_form(request) : document
    end

    # All processes that make a form of one document make the same one.
    def with_form(path, entry, request)
      document = entry.with_form(request)
      CompareAndSwap.attempt { put(@store, path, document, entry, non_unique: true) }
      Entry.new(document)
    end

    # While nothing can be stored, a certificate stays until it ends.
    #
    # @return [Entry]
    def renewed(path, entry, request)
      if request.list?
        replace(path, @store) { |stored| stored.relisted if stored.due?(request) }
      else
        rotate(path) { |stored| stored.due?(request) }
      end
      Entry.new(@store.get(path, latest: true, deadline: @deadline))
    rescue TransientError
      raise if entry.over?(request)

      entry
    end

    # @yieldparam entry [Entry] the stored one
    # @yieldreturn [String, nil] the document in its place; nil for none
    def replace(path, store)
      CompareAndSwap.repeat do
        entry = Entry.new(@store.get(path, latest: true, deadline: @deadline))
        document = yield(entry)
        CompareAndSwap.attempt { put(store, path, document, entry) } if document
      end
    end

    def put(store, path, document, entry, **how)
      store.put(path, document, condition: :expect, expect: entry.document, deadline: @deadline, **how)
    end

    # @return [String] the document of a new secret
    def secret(options)
      key = options['issuer']
      Entry.make(key ? options.merge('issuer' => authority(key)) : options, options)
    end

    # @return [Hash{String => String}] a CA, for the core
    def authority(key)
      Entry.new(@store.get(@path_of.call(key), deadline: @deadline)).authority ||
        raise(ConfigError, "option 'issuer': '#{key}' is no secret of the kind 'x509'")
    end
  end
end
