# frozen_string_literal: true

require 'simpkv/store/chosen_documents'
require 'simpkv/store/layer'

module Simpkv
  # A store that encrypts the documents of the store below it, with the same methods: callers pass and get plain
  # documents. A plain document of the store below is read as it is. Thread-safe, if the store below is.
  #
  # Each encrypted document is bound to its backend and path. Equal documents are encrypted differently, so that this
  # class reads before it writes: a put of an equal value writes nothing, and a condition holds for the plain document.
  class EncryptedStore < Layer
    # A document is not encrypted, which it must be.
    class PlainError < MalformedError
      # @param path [String] of the document
      # @return [PlainError]
      def self.at(path)
        new("the document of '#{path}' is not encrypted, which 'encrypted_only' requires, or the estate: a process " \
            "with other options may have stored it. Correct them, read it, and run 'simpkv rekey'")
      end
    end

    # Finds rich data, and the members by which declared records, inspection rules and catalogs name what is Sensitive.
    # A text with escapes may hold anything.
    #
    # @param document [String] a plain document
    # @return [Boolean] whether it holds a value of Puppet's type Sensitive; perhaps true for one that does not
    def self.sensitive?(document)
      bytes = document.b
      ['\\u', '"sensitive"', 'sensitive_parameters'].any? { |text| bytes.include?(text) } ||
        (bytes.include?('__ptype') && bytes.include?('Sensitive'))
    end

    # @return [Native::Keyring]
    attr_reader :keyring

    # @param beginnings [Array<String>] of the paths at which a plain document is an error
    attr_writer :encrypted_paths

    # @param below [Store, Object] a {Store}, or an object with its methods
    # @param keyring [Native::Keyring]
    # @param backend [String] `<type>/<id>`, for the headers of documents
    # @param mode [:all, :sensitive, :none] which documents to encrypt: all, those that hold a Sensitive, or none
    # @param encrypted_only [Boolean] whether a plain document is an error
    # @yieldparam path [String]
    # @yieldreturn [String] the path in the header: the same for all paths that are one key, if the store ignores case
    def initialize(below, keyring, backend, mode: :all, encrypted_only: false, &canonical)
      super(below)
      @keyring = keyring
      @backend = backend
      @mode = mode
      @encrypted_paths = encrypted_only ? [''] : []
      @folds = !canonical.nil?
      @canonical = canonical || :itself.to_proc
    end

    # @param how [Hash] as {Store#get}
    # @return [String, nil] as {Store#get}
    # @raise [PlainError] it is plain, with `encrypted_only`, or at one of {#encrypted_paths=}
    # @raise [MalformedError] the document was changed, copied from another place, or encrypted with another key of the
    #   same name
    # @raise [DeniedError] the file of keys lacks the key that has encrypted the document; or its owner or mode is wrong
    # @raise [InvalidError] the content of the file of keys is wrong
    # @raise [Error] as {Store#get}
    def get(key, **how)
      raw = @below.get(key, **how)
      raw && decrypt(key, raw)
    end

    # @return [String, nil] as {Store#describe}
    alias describe get

    # @param how [Hash] the other keywords of {Store#put}. A document that this store can decrypt is replaced whatever
    #   `keep_encrypted` says
    # @return [Boolean] as {Store#put}. Replaces a damaged document, without `condition`
    # @raise [DeniedError] the stored document is encrypted with a key that the file of keys lacks
    # @raise [Error] as {Store#put} and {#get}
    def put(key, document, condition: :any, expect: nil, non_unique: false, **how)
      return put_any(key, document, **how) if condition == :any && expect.nil?
      return put_expected(key, document, expect, **how) if condition == :expect && expect

      form = form_of(key, document)
      # Two encrypted documents are never the same.
      non_unique &&= form.equal?(document)
      @below.put(key, form, condition: condition, expect: expect, non_unique: non_unique, **how)
    end

    # @param how [Hash] the other keywords of {Store#put_many}, as of {#put}
    # @return [Hash{String => Boolean, Error}] as {Store#put_many}
    # @raise [TypeError, ArgumentError, InvalidError, DeniedError] nothing is stored
    def put_many(documents, condition: :any, expect: nil, **how)
      Batch.check(documents, condition, expect)
      forms, failed = forms_of(documents)
      written = case condition
                when :any then put_any_of(documents, forms, how)
                when :expect then put_expected_of(documents, forms, expect, how)
                else @below.put_many(forms, condition: condition, expect: expect, **how)
                end
      documents.to_h { |key, _| [key, failed.fetch(key) { written.fetch(key) }] }
    end

    # @return [Hash{String => String, Error}] as {Store#get_many}
    # @raise [InvalidError, DeniedError] the file of keys cannot be used
    def get_many(keys)
      @keyring.kids
      @below.get_many(keys).to_h { |key, raw| [key, raw.is_a?(String) ? attempt { decrypt(key, raw) } : raw] }
    end

    # @return [Boolean] as {Store#delete}
    # @raise [Error] as {Store#delete}; with `expect` as {#get}
    def delete(key, expect: nil, deadline: nil)
      return @below.delete(key, deadline: deadline) unless expect

      again("Delete of '#{key}' failed") do
        raw = latest(key, deadline)
        next false unless raw && decrypt(key, raw).b == expect.b

        @below.delete(key, expect: raw, deadline: deadline) || CompareAndSwap.overtaken(key)
      end
    end

    # @return [Hash] as {Store#list}
    # @raise [InvalidError, DeniedError] the file of keys cannot be used
    # @raise [Error] as {Store#list}
    def list(folder, required: true, partial: true, chosen: nil, deadline: nil, &block)
      how = { required: required, partial: partial }
      return listing(:list, folder, block, **how) unless chosen

      names = ChosenDocuments.none(@below, folder, **how, deadline: deadline)
      ChosenDocuments.read(self, folder, names, chosen, &block)
    end

    # @return [Hash] as {Store#tree}
    # @raise [InvalidError, DeniedError] the file of keys cannot be used
    # @raise [Error] as {Store#tree}
    def tree(folder, values: true, required: true, &block)
      return listing(:tree, folder, block, required: required) if values

      @below.tree(folder, values: false, required: required)
    end

    # @param raw [String] a document of the store below
    # @return [String, :plain, :damaged] the name of the key that has encrypted it, as its header says
    def state(raw)
      Native::Keyring.kid_of(raw) || :plain
    rescue MalformedError
      :damaged
    end

    # Encrypts a document with the first key, unless it is so already; or stores it as a plain one. Other writers may
    # change it at the same time.
    #
    # @param path [String]
    # @param decrypt [Boolean] whether it becomes plain
    # @return [:renewed, :unchanged, :missing]
    # @raise [Error] as {#get} and {#put}
    def renew(path, decrypt: false)
      again("Key write to '#{path}' failed") do
        next :missing unless (raw = latest(path))

        form = decrypt ? @keyring.decrypt(@backend, @canonical.call(path), raw) : renewed(path, raw)
        next :unchanged unless form

        put_in_place_of(raw, path, form)
        :renewed
      end
    end

    # @param path [String]
    # @param raw [String] a document of the store below
    # @return [String] the plain document
    # @raise [PlainError, MalformedError, DeniedError, InvalidError] as {#get}
    def decrypt(path, raw)
      document = @keyring.decrypt(@backend, @canonical.call(path), raw)
      raise PlainError.at(path) if document.nil? && path.start_with?(*@encrypted_paths)

      document || raw
    rescue Error => e
      raise e.about(path)
    end

    # @return [String] no keys
    def inspect
      "#<#{self.class.name} #{@backend} #{@below.inspect}>"
    end

    private

    def encrypt(path, document)
      @keyring.encrypt(@backend, @canonical.call(path), document)
    end

    # @return [String] the document as it is stored; the same object if it stays plain
    def form_of(path, document)
      encrypt?(document) ? encrypt(path, document) : document
    end

    def encrypt?(document)
      @mode == :all || (@mode == :sensitive && self.class.sensitive?(document))
    end

    # @return [String, nil] the document of {#renew}; nil if it is under the first key, or stays plain
    def renewed(path, raw)
      kid = Native::Keyring.kid_of(raw)
      return if kid && kid == @keyring.kids.first

      form = kid ? encrypt(path, decrypt(path, raw)) : form_of(path, raw)
      form unless form.equal?(raw)
    end

    # @return [Array(Hash{String => String}, Hash{String => Error})] by key
    # @raise [InvalidError, DeniedError] the file of keys cannot be used
    def forms_of(documents)
      @keyring.kids
      documents.to_h { |key, document| [key, attempt { form_of(key, document) }] }
               .partition { |_, form| form.is_a?(String) }.map(&:to_h)
    end

    # @return [Boolean] whether the document is stored; false if the stored one is damaged
    # @raise [DeniedError] the file of keys lacks its key
    def stored?(key, raw, document)
      Native.document_same?(decrypt(key, raw), document)
    rescue MalformedError
      false
    end

    def put_any(key, document, **how)
      form = form_of(key, document)
      raw = latest_for_put(key, how[:deadline])
      raw && stored?(key, raw, document) ? false : @below.put(key, form, **how, keep_encrypted: false)
    end

    def latest(key, deadline = nil)
      @below.get(key, latest: true, required: false, deadline: deadline)
    end

    # @return [String, nil] nil also if it may not be read, or there is a folder of that name: the store below decides
    #   whether the key may be written
    def latest_for_put(key, deadline)
      latest(key, deadline)
    rescue DeniedError, IsFolderError
      nil
    end

    def put_expected(key, document, expect, **how)
      form = form_of(key, document)
      again("Key write to '#{key}' failed") do
        raw = latest(key, how[:deadline]) || raise(conflict(key, 'there is no such key'))
        now = decrypt(key, raw)
        raise conflict(key, 'the stored document is not the expected one') unless now.b == expect.b

        Native.document_same?(now, document) ? false : put_in_place_of(raw, key, form, **how)
      end
    end

    # Repeats the block while other documents appear, which may be the same one, encrypted again.
    def again(failure, &block)
      CompareAndSwap.repeat("#{failure}: others keep changing it", &block)
    end

    # @return [Boolean]
    def put_in_place_of(raw, key, form, **how)
      CompareAndSwap.attempt { @below.put(key, form, **how, condition: :expect, expect: raw, keep_encrypted: false) }
    end

    def conflict(key, why)
      ConflictError.new("Key write to '#{key}' failed: #{why}").about(key)
    end

    # @return [Hash{String => Boolean, Error}]
    def put_any_of(documents, forms, how)
      raws = @below.get_many(forms.keys).select { |_, raw| raw.is_a?(String) }
      known = raws.to_h { |key, raw| [key, attempt { raw if stored?(key, raw, documents[key]) }] }.compact
      same, denied = known.partition { |_, raw| raw.is_a?(String) }.map(&:to_h)
      written = @below.put_many(forms.reject { |key, _| known.key?(key) }, **how, keep_encrypted: false)
      written.merge(confirmed(same, documents), denied)
    end

    # {Store#get_many} may have asked a server that lags behind. A put of the same document writes nothing.
    def confirmed(same, documents)
      return same.transform_values { false } unless @below.is_a?(Store)

      @below.put_many(same, condition: :expect, expect: same).to_h do |key, outcome|
        [key, outcome.is_a?(ConflictError) ? attempt { put_any(key, documents[key]) } : outcome]
      end
    end

    # The server that {Store#get_many} asks may lag behind, so a separate put decides on each conflict.
    def put_expected_of(documents, forms, expect, how)
      raws = expected_raws(forms.keys, expect)
      certain = raws.merge(forms.keys.reject { |key| expect[key] }.to_h { |key| [key, nil] })
      sure = forms.select { |key, _| certain.key?(key) }.merge(unchanged(raws, documents, expect))
      outcomes = @below.put_many(sure, **how, condition: :expect, expect: certain, keep_encrypted: false)
      again = forms.keys - certain.keys + raws.keys.select { |key| outcomes[key].is_a?(ConflictError) }
      outcomes.merge(each_put_expected(again, documents, expect))
    end

    # A put of the same document writes nothing.
    def unchanged(raws, documents, expect)
      raws.select { |key, _| Native.document_same?(expect[key], documents[key]) }
    end

    def each_put_expected(keys, documents, expect)
      keys.to_h { |key| [key, attempt { put_expected(key, documents[key], expect[key]) }] }
    end

    # @return [Hash{String => String}] the documents as they are stored, of keys that have the expected one
    def expected_raws(keys, expect)
      @below.get_many(keys.select { |key| expect[key] }).select do |key, raw|
        now = raw.is_a?(String) && attempt { decrypt(key, raw) }
        now.is_a?(String) && now.b == expect[key].b
      end
    end

    # Lists with the core, which decrypts documents while the server looks for more. Documents of plugins, and of names
    # that the block of {#initialize} may change, are decrypted here.
    #
    # @param method [:list, :tree]
    # @return [Hash] as {Store#list}
    def listing(method, folder, block, **how)
      @keyring.kids
      place = Native.key_join(folder, '')
      result = listed(method, folder, cipher(place), block, **how)
      failed = decrypt_rest(place, result[:encrypted] || {}, result[:keys], block)
      name, why = failed.min_by(&:first) unless how.fetch(:partial, true)
      raise Error, "Key '#{name}': #{why}" if name

      result.slice(:keys, :folders).merge(errors: result[:errors].merge(failed))
    end

    # @return [Hash] as {Store#list_decrypted}
    def listed(method, folder, cipher, block, **how)
      return @below.public_send("#{method}_decrypted", folder, cipher, **how, &block) if @below.is_a?(Store)

      result = @below.public_send(method, folder, **how)
      result.merge(keys: {}, encrypted: result[:keys])
    end

    # @return [Array] for {Store#list_decrypted}
    def cipher(folder)
      [@keyring, @backend, @canonical.call(folder), folder.start_with?(*@encrypted_paths), @folds]
    end

    # @param raws [Hash{String => String}] documents by name
    # @param keys [Hash{String => Object}] receives the plain documents, or the results of the block
    # @return [Hash{String => String}] by name, why a document cannot be decrypted
    def decrypt_rest(folder, raws, keys, block)
      raws.each_with_object({}) do |(name, raw), failed|
        document = attempt { decrypt(Native.key_join(folder, name), raw) }
        next failed[name] = document.message if document.is_a?(Error)

        keys[name] = block ? block.call(name, document) : document
      end
    end
  end
end
