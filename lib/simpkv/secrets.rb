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
    # @yieldparam key [String] of a CA
    # @yieldreturn [String] its path
    def initialize(store, versioned, deadline = nil, &path_of)
      @store = store
      @versioned = versioned
      @deadline = deadline
      @path_of = path_of
    end

    # Reads what is there, and makes what is missing: the secret, or the form.
    #
    # @param path [String]
    # @param request [Request]
    # @param make [Boolean, :form] whether it may be made; `:form`: only the form of a secret that is there
    # @return [String, nil] what the request names; nil if it is missing, and may not be made
    # @raise [InvalidError] the request does not fit the secret, or nothing can be made of it
    # @raise [Error]
    def fetch(path, request, make: true)
      document = live(@store.get(path, stored: true, required: false, deadline: @deadline))
      taken(document, request) || (made(path, request, make) if make)
    end

    # @param path [String]
    # @param request [Request]
    # @param number [Integer] of the version: -1 is the one before the current one
    # @return [String] what the request names of the secret of that version
    # @raise [NotFoundError] there is none
    # @raise [InvalidError] it lacks the form: nothing is made for an earlier secret
    def earlier(path, request, number)
      document = live(@store.get(path, deadline: @deadline))
      version = document && Versions.version(document, number)
      raise NotFoundError.new("Key not found: there is no version #{number} of it").about(path) unless version

      taken(version, request) || raise(InvalidError, "version #{number} of the secret has no form '#{request.form}'")
    end

    # Replaces a secret by another one, made in the same way.
    #
    # @param path [String]
    # @return [void]
    # @raise [NotFoundError] there is none
    # @raise [InvalidError] something else has made it
    def rotate(path)
      CompareAndSwap.repeat do
        stored = @store.get(path, latest: true, deadline: @deadline)
        document = secret(Entry.new(stored).made)
        CompareAndSwap.attempt do
          @versioned.put(path, document, condition: :expect, expect: stored, deadline: @deadline)
        end
      end
    end

    private

    # @return [String, nil] the document; nil if it has expired
    def live(document)
      document unless document.nil? || Versions.expired?(document)
    end

    # @return [String, nil] what the request names, if the document has it
    def taken(document, request)
      Entry.new(document).take(request) if document
    end

    def made(path, request, make)
      CompareAndSwap.repeat do
        stored = live(@store.get(path, latest: true, required: false, deadline: @deadline))
        next unless stored || make == true

        stored ||= FirstWrite.put(@versioned, path, first(request), @deadline)
        taken(stored, request) || form_of(path, stored, request)
      end
    end

    # @return [String] the document of a new secret, with the form
    def first(request)
      document = secret(request.of_making)
      request.form ? Entry.new(document).with_form(request).last : document
    end

    # All processes that make a form of one document make the same one.
    def form_of(path, stored, request)
      text, document = Entry.new(stored).with_form(request)
      return text if document == stored

      CompareAndSwap.attempt do
        @store.put(path, document, condition: :expect, expect: stored, non_unique: true, deadline: @deadline)
      end
      text
    end

    # @return [String] the document of a new secret
    def secret(options)
      key = options['issuer']
      Entry.make(key ? options.merge('issuer' => authority(key)) : options, options)
    end

    # @return [Hash{String => String}] a CA, for the core
    def authority(key)
      entry = Entry.new(@store.get(@path_of.call(key), deadline: @deadline))
      certificate = entry.parts.fetch('certificate') do
        raise InvalidError, "option 'issuer': '#{key}' is not a secret of the kind 'x509'"
      end
      { 'certificate' => certificate, 'private' => entry.value }
    end
  end
end
