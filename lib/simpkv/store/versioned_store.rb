# frozen_string_literal: true

require 'simpkv/store/layer'

module Simpkv
  # A store that keeps the history of keys and lets them expire, with the methods of the store below it. Callers pass
  # documents without times and history; each put stores a successor of the stored document (see {Versions}) by
  # compare-and-swap. Reads return documents as they are stored, expired ones too. Thread-safe, if the store below is.
  #
  # An expired key counts as missing for the condition `:absent`. Its value goes into the history of the new one.
  class VersionedStore < Layer
    # @param below [Store, EncryptedStore, Object] an object with the methods of a {Store}
    # @param history [Integer, nil] how many replaced values to keep; nil: of an expired key one, or as many as it has
    # @param expires_after [Numeric, nil] the seconds after which keys expire; nil: keys do not expire
    def initialize(below, history: nil, expires_after: nil)
      super(below)
      @history = history
      @expires_after = expires_after
    end

    # @return [Boolean] whether a put without condition stores documents as they are
    def plain?
      @history.nil? && @expires_after.nil?
    end

    # @return [VersionedStore] a store with these values where this one has none
    def or_else(history:, expires_after:)
      VersionedStore.new(@below, history: @history || history, expires_after: @expires_after || expires_after)
    end

    # @param document [String] as for {#put}
    # @return [String] the document that a put stores under a missing key
    # @raise [InvalidError, UnencodableError, MalformedError] as {Versions.successor}
    def first(document)
      form(document, nil)
    end

    # Stores a value. Writes nothing if it is equal to the stored one, which then expires late enough.
    #
    # @param key [String]
    # @param document [String] without times and history
    # @param condition [:any, :absent, :expect] as {Store#put}; `:absent` also replaces an expired document
    # @param expect [String, nil] the document, byte for byte, that must be stored now, with its times and history
    # @param non_unique [Boolean] as {Store#put}
    # @param how [Hash] the other keywords of {Store#put}
    # @return [Boolean] whether something was written
    # @raise [ExistsError, ConflictError] the condition does not hold; with `:any`, others keep changing the key
    # @raise [InvalidError, UnencodableError, MalformedError] as {Versions.successor}
    # @raise [Error] as {Store#put}
    def put(key, document, condition: :any, expect: nil, non_unique: false, **how)
      case condition
      when :any then put_any(key, document, **how)
      when :absent then put_absent(key, document, non_unique: non_unique, **how)
      else put_in_place_of(key, document, expect, non_unique: non_unique, **how)
      end
    end

    # @param how [Hash] the other keywords of {Store#put_many}
    # @return [Hash{String => Boolean, Error}] as {Store#put_many}
    # @raise [TypeError, ArgumentError, InvalidError, UnencodableError, MalformedError] nothing is stored
    def put_many(documents, condition: :any, expect: nil, **how)
      Batch.check(documents, condition, expect)
      return put_any_of(documents, how) if condition == :any
      return put_absent_of(documents, how) if condition == :absent

      forms = documents.to_h { |key, document| [key, form(document, expect[key]) || expect[key]] }
      @below.put_many(forms, condition: :expect, expect: expect, **how)
    end

    # @return [String] no values
    def inspect
      "#<#{self.class.name} history=#{@history.inspect} expires_after=#{@expires_after.inspect} #{@below.inspect}>"
    end

    private

    # @return [String, nil] the document to write in place of the stored one
    def form(document, stored)
      Versions.successor(document, stored, history: @history, expires_after: @expires_after)
    end

    # As {#form}; keeps the value of an expired document in any case.
    def form_for_expired(document, stored)
      Versions.successor(document, stored, history: @history && [@history, 1].max, expires_after: @expires_after)
    end

    def put_any(key, document, deadline: nil, **how)
      CompareAndSwap.repeat("Key write to '#{key}' failed: others keep changing it") do
        stored = latest(key, deadline) { return @below.put(key, form(document, nil), deadline: deadline, **how) }
        form = form(document, stored)
        form ? CompareAndSwap.attempt { put_if(key, form, stored, deadline: deadline, **how) } : false
      end
    end

    # @return [String, nil, Object] the stored document; the result of the block if it cannot be read, or a folder has
    #   the name: the store below decides whether the key may be written
    def latest(key, deadline)
      @below.get(key, latest: true, required: false, deadline: deadline)
    rescue MalformedError, DeniedError, IsFolderError
      yield
    end

    # @return [Boolean]
    # @raise [ConditionError] another document is stored now
    def put_if(key, form, stored, **how)
      condition = stored ? { condition: :expect, expect: stored } : { condition: :absent }
      @below.put(key, form, **condition, **how)
    end

    def put_absent(key, document, deadline: nil, **how)
      @below.put(key, form(document, nil), condition: :absent, deadline: deadline, **how)
    rescue ExistsError
      stored = @below.get(key, latest: true, required: false, deadline: deadline)
      raise unless stored && Versions.expired?(stored)

      put_in_place_of_expired(key, document, stored, deadline: deadline, **how)
    end

    # Another client may replace the expired document first.
    def put_in_place_of_expired(key, document, stored, **how)
      @below.put(key, form_for_expired(document, stored), condition: :expect, expect: stored, **how)
    rescue ConflictError
      raise ExistsError, "Key write to '#{key}' failed: another client has replaced its expired value", cause: nil
    end

    # A put of the stored document writes nothing.
    def put_in_place_of(key, document, expect, **how)
      form = expect ? form(document, expect) || expect : document
      @below.put(key, form, condition: :expect, expect: expect, **how)
    end

    # {Store#get_many} may have asked a server that lags behind, so a separate put decides on each conflict.
    def put_any_of(documents, how)
      stored, failed = stored_documents(documents.keys)
      # A put of the stored document writes nothing, and asks the server that decides.
      forms = stored.to_h { |key, old| [key, form(documents[key], old) || old] }
      outcomes = @below.put_many(forms, condition: :expect, expect: stored, **how)
      documents.to_h do |key, document|
        outcome = failed.fetch(key) { outcomes[key] }
        again = outcome.is_a?(Error) && !outcome.is_a?(TransientError)
        [key, again ? attempt { put_any(key, document, **how) } : outcome]
      end
    end

    # @return [Array(Hash{String => String, nil}, Hash{String => Error})] by key: the stored documents, nil for a
    #   missing one; and why a key cannot be read
    def stored_documents(keys)
      results = @below.get_many(keys)
      results = results.transform_values { |result| result unless result.is_a?(NotFoundError) }
      results.partition { |_, result| !result.is_a?(Error) }.map(&:to_h)
    end

    def put_absent_of(documents, how)
      forms = documents.transform_values { |document| form(document, nil) }
      outcomes = @below.put_many(forms, condition: :absent, **how)
      outcomes.each do |key, outcome|
        outcomes[key] = attempt { put_absent(key, documents[key], **how) } if outcome.is_a?(ExistsError)
      end
    end
  end
end
