# frozen_string_literal: true

require 'simpkv/store/chosen_documents'
require 'simpkv/store/directory'

module Simpkv
  # A key/value store: documents (byte strings) under paths such as `environments/production/app1/password`.
  # Thread-safe. Each failure raises a subclass of {Error}.
  class Store
    # Opens a store. For type 'file', makes missing folders. For type 'ldap', asks no server yet.
    #
    # @param type [String] 'file' or 'ldap'
    # @param options [Hash{String => Object}] for 'file': `root_path`, an absolute path; `lock_timeout_seconds`, a
    #   Numeric, 5 unless given; `follow_links`, true unless given: with false, a folder that is a link, or is reached
    #   through one, raises {DeniedError}. For 'ldap': those of {Config::TYPES}, `ldap_uri` and `id` among them. Times
    #   in seconds are Numerics, URIs a String or an Array of them. `anonymous` (true): the store does not bind
    # @return [Store] call {#close} when it is no longer needed
    # @raise [ConfigError] an option has the wrong type, or the store would be inside another one
    # @raise [InvalidError] unknown type or option, missing option
    # @raise [DeniedError, UnavailableError] the storage cannot be used
    # @example
    #   store = Simpkv::Store.open('file', 'root_path' => '/srv/simpkv')
    #   store.put('globals/greeting', '{"value":"hello","metadata":{}}')
    #
    #   Simpkv::Store.open('ldap', 'ldap_uri' => 'ldapi://%2Frun%2Fslapd.socket', 'id' => 'default')
    def self.open(type, options)
      new(type, options)
    end

    private_class_method :new

    def initialize(type, options)
      @type = type
      @location = options.values_at('root_path', 'base_dn', 'ldap_uri').flatten.compact.join(' ')
      options, @timeout_ms = StoreOptions.convert(type, options)
      @native = Native::Store.new(type, options)
    end

    # Reads a key.
    #
    # @param key [String]
    # @param latest [Boolean] whether to ask a server of `write_uri`, where writes go, instead of one of `ldap_uri`: for
    #   callers that decide on a write by the stored document
    # @param stored [Boolean] whether a key that 389-DS has only half deleted counts as missing (docs/adr/0054): for
    #   callers that write nothing if the key exists. `latest` includes it
    # @param required [Boolean] whether a missing key raises {NotFoundError}; otherwise the result is nil
    # @param deadline [Deadline, nil] of the call that this operation is a step of, for a directory: so for all methods
    #   that take a deadline. A store in files waits for each lock by itself
    # @return [String, nil] its document, tagged UTF-8
    # @raise [NotFoundError, IsFolderError]
    # @raise [TimeoutError] another process kept the key locked, or the server did not respond in time: as for all calls
    def get(key, latest: false, stored: false, required: true, deadline: nil)
      flags = (latest ? Native::LATEST : 0) | (stored ? Native::STORED : 0)
      @native.get(key, flags, time(deadline))
    rescue NotFoundError
      raise if required
    end

    # Reads a key for a caller who does not pass on its value: times, metadata and versions are in the same document.
    # In an {AuditedStore}, the line says so.
    #
    # @param key [String]
    # @return [String, nil] as {#get}
    # @raise [Error] as {#get}
    alias describe get

    # Checks a key as manifests write it, reads it, and decodes its document: {Native.key_check}, {Native.key_join},
    # {#get} and {Codec.decode} in one native call.
    #
    # @param folder [String] such as `environments/production`
    # @param key [String] below it
    # @param upper [Boolean] whether the key may have capital letters
    # @return [Hash{Symbol => Object}, String, nil] `{value:, metadata:}`; the document if it has more than these; nil
    #   if the key is malformed or too long, or stands for the folder itself
    # @raise [NotFoundError, IsFolderError, TimeoutError] as {#get}
    def get_decoded(folder, key, upper)
      @native.get_decoded(folder, key, upper, @timeout_ms)
    end

    # Returns true if there is a key or a folder of that name.
    #
    # @param key [String]
    # @return [Boolean]
    # @raise [DeniedError] it cannot be determined
    def exist?(key, deadline: nil)
      !kind(key, deadline: deadline).nil?
    end

    # Returns the kind of the name: a key, a folder, or neither.
    #
    # @param key [String]
    # @return [:key, :folder, nil]
    # @raise [DeniedError] it cannot be determined
    def kind(key, deadline: nil)
      @native.kind(key, time(deadline))
    end

    # Describes a key or a folder by what its storage knows of it, without decrypting a document. No part of a value is
    # in the result. Times are UTC, to the second, in the form of RFC 3339.
    #
    # @param key [String]
    # @param count [Boolean] whether to count what is directly below a folder: one list, without documents
    # @param document [Boolean] whether to read the document of a key as it is stored, for {StoredForm.facts}, which are
    #   left out if it may not be read
    # @return [Hash{String => Object}] with the members that the storage has, and shows to this identity:
    #   - `kind`, 'key' or 'folder'
    #   - `modified_at`, of a key the last write; of a folder in files, the last name that was added or removed
    #   - `modified_by`, `created_by` (DNs) and `created_at`, of a directory. In files, `created_at` of folders
    #   - `size` and `owner`, of files: bytes, and the user who owns the file, who need not be its writer
    #   - `keys` and `folders`, with `count`, expired keys included; `unreadable`, the entries whose kind is hidden
    #   - the members of {StoredForm.facts}, with `document`
    # @raise [NotFoundError] there is neither a key nor a folder
    # @raise [DeniedError] it cannot be determined
    # @example
    #   store.stat('globals/greeting')
    #   # => {'kind' => 'key', 'modified_at' => '2026-11-26T00:38:24Z', 'size' => 32, 'owner' => 'puppet'}
    def stat(key, count: false, document: false, deadline: nil)
      facts = @native.stat(key, count, time(deadline))
      uid = facts.delete('uid')
      facts['owner'] = Audit.user_name(uid) if uid
      document && facts['kind'] == 'key' ? facts.merge(stored_form(key, deadline)) : facts
    end

    # Stores a document, with the folders that it needs. Writes nothing if the stored document is equal to it.
    #
    # A lost connection to a directory, or an interrupt, may leave the outcome of a write unknown. Then the stored
    # document tells which writer stored it. So with a condition, either the documents of different writers differ, by
    # the writer's name for instance, or `non_unique` says that they may be equal. On 389-DS, `:expect` is not exact: if
    # many writers replace one document at the same moment, two may succeed (docs/adr/0013). `:absent` is exact.
    #
    # @param key [String]
    # @param document [String]
    # @param condition [:any, :absent, :expect] `:absent` stores only a new key; `:expect` only in place of `expect`
    # @param expect [String, nil] the document, byte for byte, that must be stored now
    # @param non_unique [Boolean] whether other writers may store the same document
    # @param keep_encrypted [Boolean] whether a plain document in place of an encrypted one is refused
    # @return [Boolean] whether something was written
    # @raise [ExistsError] with `:absent`: the key exists
    # @raise [ConflictError] with `:expect`: another document is stored, or none
    # @raise [DeniedError] the stored document is encrypted: see `keep_encrypted`
    # @raise [IsFolderError, IsKeyError] the name is a folder's; a name on the way is a key's
    # @raise [TimeoutError] another process kept the key locked; the directory did not respond
    # @raise [UnavailableError] the storage cannot be used; or the outcome is unknown: the connection to the directory
    #   was lost before the response came, and another client has changed the key since
    def put(key, document, condition: :any, expect: nil, non_unique: false, keep_encrypted: true, deadline: nil) # rubocop:disable Metrics/ParameterLists
      flags = (non_unique ? Native::NON_UNIQUE : 0) | (keep_encrypted ? Native::KEEP_ENCRYPTED : 0)
      @native.put(key, document, condition, expect, flags, time(deadline))
    end

    # Notes that the caller has read a key, and stores nothing because another value than the expected one is there.
    # Does nothing here; in an {AuditedStore}, writes the line that a {#put} with the expected document would.
    #
    # @param key [String]
    # @return [false]
    # @raise [AuditError] as {AuditedStore#get}
    def refuse_put(_key)
      false
    end

    # Stores many documents, each as {#put} would. In a directory this takes a fraction of the time: it uses one
    # connection, and sends the next request before the response to the last one. It is not a transaction: each document
    # has its own result. `operation_timeout_seconds` bounds the wait for the next response. If another thread
    # interrupts the call, a part of the documents may be stored.
    #
    # @param documents [Hash{String => String}] by key
    # @param condition [:any, :absent, :expect] `:absent` stores only new keys; `:expect` only in place of what `expect`
    #   says
    # @param expect [Hash{String => String, nil}, nil] with `:expect`: for each key the document, byte for byte, that
    #   must be stored now; nil for a key that must not exist
    # @param keep_encrypted [Boolean] as {#put}
    # @return [Hash{String => Boolean, Error}] by key, in the same order: whether it was written; or the error that
    #   {#put} would have raised. If the server cannot be reached any more, or does not respond, each key that this
    #   concerns has an {UnavailableError} or a {TimeoutError}
    # @raise [TypeError] a key or a document is not a String; nothing is stored
    # @raise [ArgumentError] `expect` lacks a key; nothing is stored
    # @example
    #   store.put_many({ 'globals/a' => '{"value":1}', 'globals/b' => '{"value":2}' }, condition: :absent)
    #   # => { 'globals/a' => true, 'globals/b' => #<Simpkv::ExistsError: ...> }
    # @example
    #   store.put_many({ 'globals/a' => '{"value":3}', 'globals/new' => '{"value":3}' },
    #                  condition: :expect, expect: { 'globals/a' => '{"value":1}', 'globals/new' => nil })
    #   # => { 'globals/a' => true, 'globals/new' => true }
    def put_many(documents, condition: :any, expect: nil, keep_encrypted: true)
      Batch.of_documents(documents, condition, expect, keep_encrypted).put(@native, @timeout_ms)
    end

    # Reads many keys, each as {#get} would, in the manner of {#put_many}.
    #
    # @param keys [Array<String>]
    # @return [Hash{String => String, Error}] by key, in the same order: its document, tagged UTF-8; or the error that
    #   {#get} would have raised
    # @raise [TypeError] a key is not a String
    def get_many(keys)
      Batch.of_keys(keys.uniq).get(@native, @timeout_ms)
    end

    # Deletes a key. Its folder stays, even when it is left empty.
    #
    # With `expect`, deletes the key only if that document is stored. On 389-DS, which cannot compare while it deletes,
    # this is not exact: a document that another client puts at the same moment is deleted and put back at once
    # (docs/adr/0038).
    #
    # @param key [String]
    # @param expect [String, nil] the document, byte for byte, that must be stored now; nil for any
    # @return [Boolean] whether it existed; with `expect`, whether this call deleted it: false if the key does not exist
    #   or has another document. Without `expect`, if the connection to a directory was lost before the response came,
    #   whether the key existed when the call read it
    # @raise [IsFolderError]
    # @raise [DeniedError] with `expect`: the stored document may not be read
    # @raise [TimeoutError] another process kept the key locked
    # @raise [UnavailableError] as {#put}. With `expect`, the outcome is also unknown if the connection was lost and the
    #   key does not exist any more
    def delete(key, expect: nil, deadline: nil)
      @native.delete(key, expect, time(deadline))
    end

    # Makes a folder, with the missing folders above it, as {#put} makes them. It stays until {#delete_folder} or
    # {#deletetree}, even empty.
    #
    # @param folder [String]
    # @return [Boolean] whether this call made it; false if it existed. If the connection to a directory was lost before
    #   the response came, true if it did not exist when the call read it
    # @raise [IsKeyError] the folder, or one above it, is a key
    # @raise [UnavailableError] the storage cannot be used
    def create_folder(folder)
      @native.create_folder(folder, @timeout_ms)
    end

    # Deletes an empty folder. A key or a folder that another client adds to it at the same moment is never lost: either
    # this call fails, or the other one makes the folder again.
    #
    # @param folder [String]
    # @return [Boolean] whether this call deleted it; false if it did not exist. If the connection to a directory was
    #   lost before the response came, true if it existed when the call read it
    # @raise [ConflictError] it is not empty; the message names a key or folder in it
    # @raise [IsKeyError]
    # @raise [InvalidError] it is `globals` or `environments`, which every store has
    # @raise [TimeoutError] another process keeps writing to it
    # @raise [UnavailableError] the storage cannot be used
    def delete_folder(folder)
      @native.delete_folder(folder, @timeout_ms)
    end

    # Deletes a folder and everything below it. `globals` and `environments` themselves stay, empty.
    #
    # @param folder [String]
    # @return [Boolean] whether it existed
    # @raise [IsKeyError]
    # @raise [TimeoutError] another process kept a key locked, or others kept adding to it
    def deletetree(folder)
      @native.deletetree(folder, @timeout_ms)
    end

    # Lists the keys and folders of a folder, without those of the folders below it.
    #
    # @param folder [String]
    # @param required [Boolean] whether a missing folder raises {NotFoundError}; otherwise it is empty
    # @param partial [Boolean] whether keys that cannot be read become `errors`; otherwise the first is raised
    # @yield while the server looks for more, each document that was found. The list keeps its connection meanwhile: the
    #   block should not call a store, nor wait
    # @yieldparam name [String]
    # @yieldparam document [String]
    # @yieldreturn [Object] replaces the document in the result
    # @param chosen [#call, nil] receives the list with `''` for each document, and returns the names of the keys whose
    #   documents are read, each by itself; others stay `''`. nil: all are read
    # @param deadline [Deadline, nil] of the list of names, with `chosen`. Of other lists, each response has the time of
    #   an operation
    # @return [Hash] `{keys: {name => document}, folders: [name], errors: {name => why}}`, unsorted; `errors` are the
    #   keys that could not be read
    # @raise [NotFoundError] the folder does not exist
    # @raise [Error] without `partial`: a key cannot be read
    def list(folder, required: true, partial: true, chosen: nil, deadline: nil, &block)
      return list_decrypted(folder, nil, required: required, partial: partial, &block) unless chosen

      names = listing(required) { @native.names(folder, time(deadline)) }
      ChosenDocuments.read(self, folder, names, chosen, &block)
    end

    # As {#list}, and decrypts documents, for {EncryptedStore}.
    #
    # @param cipher [Array] see take_cipher() in ext/simpkv/many.c
    # @return [Hash] as {#list}, with `encrypted: {name => document}` as well, which the core leaves to the caller
    def list_decrypted(folder, cipher, required: true, partial: true, &block)
      result = listing(required) { @native.list(folder, cipher, @timeout_ms, &block) }
      name, why = result[:errors].min_by(&:first) unless partial
      raise Error, "Key '#{name}': #{why}" if name

      result
    end

    # Lists the keys and folders of a folder and of all folders below it, in a directory with one search.
    #
    # @param folder [String]
    # @param values [Boolean] whether to read documents; otherwise each is ''
    # @param required [Boolean] whether a missing folder raises {NotFoundError}; otherwise it is empty
    # @yield as {#list} does, each document with its path; never without `values`
    # @return [Hash] as {#list}, with paths from the folder on: `{keys: {path => document}, folders: [path],
    #   errors: {path => why}}`
    # @raise [NotFoundError] the folder does not exist
    # @example
    #   store.tree('globals')  #=> {keys: {'app1/password' => '{"value":...}'}, folders: ['app1'], errors: {}}
    def tree(folder, values: true, required: true, &block)
      listing(required) { @native.tree(folder, values, nil, @timeout_ms, &(block if values)) }
    end

    # As {#tree}, and decrypts documents, for {EncryptedStore}.
    #
    # @param cipher [Array] as of {#list_decrypted}
    # @return [Hash] as {#list_decrypted}
    def tree_decrypted(folder, cipher, required: true, &block)
      listing(required) { @native.tree(folder, true, cipher, @timeout_ms, &block) }
    end

    # Yields the changes of the keys in a folder and in all folders below it, as they happen, until the block breaks or
    # raises. The first {Change} is `:ready`, after those since `since`: what changes later is not missed.
    #
    # A change may come more than once, and of several changes of one key only the last one is certain to come. An
    # error ends the watch: the caller watches again from the last cookie on.
    #
    # @param folder [String]
    # @param since [String, nil] the cookie of an earlier change; nil for now
    # @yieldparam change [Change]
    # @return [void] only if the block breaks
    # @raise [NotFoundError] the folder does not exist, or was deleted
    # @raise [InvalidError] malformed cookie; or the store cannot be watched: the message says what it needs
    # @raise [FullError] a limit of the kernel: the message names its setting
    # @raise [UnavailableError] the storage cannot be used any more; a directory, for 5 minutes
    # @example
    #   store.watch('globals/app1') { |change| puts "#{change.kind} #{change.key}" }
    def watch(folder, since: nil)
      @native.watch(folder, since, Change::WAIT_MS, @timeout_ms) do |changes|
        changes.each { |kind, key, cookie| yield Change.of(kind, key, cookie) }
      end
    end

    # @return [Directory] the entries of the directory that has the keys, for a store of type 'ldap'
    def directory
      Directory.new(@native, @timeout_ms)
    end

    # Releases the store. Running calls end as usual; later calls raise {InvalidError}.
    #
    # @return [nil]
    def close
      @native.close
    end

    # @return [String] type and location, and no secret
    def inspect
      "#<#{self.class.name} #{@type} #{@location}>"
    end

    private

    def listing(required)
      yield
    rescue NotFoundError
      raise if required

      { keys: {}, folders: [], errors: {} }
    end

    # @return [Hash{String => Object}]
    def stored_form(key, deadline)
      StoredForm.facts(get(key, deadline: deadline))
    rescue DeniedError
      {}
    end

    # The time for an operation which its option bounds as a whole.
    def time(deadline)
      deadline && @type == 'ldap' ? deadline.left(@timeout_ms) : @timeout_ms
    end
  end
end
