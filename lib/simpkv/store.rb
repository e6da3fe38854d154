# frozen_string_literal: true

module Simpkv
  # A key/value store: documents (byte strings) under paths such as `environments/production/app1/password`.
  # Thread-safe. What goes wrong is raised as a subclass of {Error}.
  class Store
    # By type, the option that bounds each call, and what it is unless given: for files how long to wait for a key that
    # another process has locked, for LDAP how long the whole call may take.
    CALL_TIMEOUT = {
      'file' => ['lock_timeout_seconds', 5].freeze, 'ldap' => ['operation_timeout_seconds', 30].freeze
    }.freeze

    # What a store in an LDAP directory takes for the server's address, a list or text.
    LISTS = %w[ldap_uri write_uri].freeze
    private_constant :CALL_TIMEOUT, :LISTS

    # The longest timeout that is passed on, in milliseconds: some 285,000 years.
    LONGEST_MS = 2**53
    private_constant :LONGEST_MS

    # Opens a store. One in files makes its folders if they are missing; one in LDAP asks no server yet.
    #
    # @param type [String] 'file' or 'ldap'
    # @param options [Hash{String => Object}] for 'file': `root_path`, an absolute path, and `lock_timeout_seconds`, a
    #   Numeric, 5 unless given; for 'ldap': those of {Config::TYPES}, of which `ldap_uri` is needed, and `id`. Times in
    #   seconds are Numerics, URIs a String or an Array of them. `anonymous` (true): the store does not bind
    # @return [Store] use {#close} when it is no longer needed
    # @raise [ConfigError] an option has the wrong type, or the store would be inside another one
    # @raise [InvalidError] unknown type or option, missing option
    # @raise [DeniedError, UnavailableError] the storage cannot be used
    # @example
    #   store = Simpkv::Store.open('file', 'root_path' => '/srv/simpkv')
    #   store.put('globals/greeting', '{"value":"hello","metadata":{}}')
    # @example
    #   Simpkv::Store.open('ldap', 'ldap_uri' => 'ldapi://%2Frun%2Fslapd.socket', 'id' => 'default')
    def self.open(type, options)
      new(type, options)
    end

    private_class_method :new

    def initialize(type, options)
      options = options.dup
      @type = type
      refuse_nesting(options)
      timeout_name, usual = CALL_TIMEOUT.fetch(type, CALL_TIMEOUT['file'])
      @timeout_ms = milliseconds(timeout_name, options.delete(timeout_name) || usual)
      @location = options.values_at('root_path', 'base_dn', 'ldap_uri').flatten.compact.join(' ')
      options = ldap_options(options) if type == 'ldap'
      options.each { |name, value| require_string(name, value) }
      @native = Native::Store.new(type, options)
    end

    # Reads a key.
    #
    # @param key [String]
    # @param latest [Boolean] whether to ask the server that is written to, this time, where `write_uri` is another than
    #   `ldap_uri`: for who decides on a write by what is stored
    # @param required [Boolean] whether a missing key raises {NotFoundError}; otherwise nil is returned
    # @return [String, nil] its document, tagged UTF-8
    # @raise [NotFoundError, IsFolderError]
    # @raise [TimeoutError] another process kept the key locked, or the server did not answer in time: as for all calls
    def get(key, latest: false, required: true)
      @native.get(key, latest, call_timeout)
    rescue NotFoundError
      raise if required
    end

    # Whether there is a key or a folder of that name.
    #
    # @param key [String]
    # @return [Boolean]
    # @raise [DeniedError] it cannot be determined
    def exist?(key)
      !kind(key).nil?
    end

    # What is there under that name.
    #
    # @param key [String]
    # @return [:key, :folder, nil]
    # @raise [DeniedError] it cannot be determined
    def kind(key)
      @native.kind(key, call_timeout)
    end

    # Stores a document, with the folders that it needs. Writes nothing when the stored document says the same already.
    #
    # With a condition, let the documents of different writers differ, by the writer's name for instance, or say that
    # they do not: when a connection to a directory is lost, or a call is interrupted, before the answer came, the
    # stored document tells whose write it was. On 389-DS, `:expect` is not exact where many replace one document at the
    # same moment: now and then two of them are told that they did (docs/adr/0013). `:absent` is exact everywhere.
    #
    # @param key [String]
    # @param document [String]
    # @param condition [:any, :absent, :expect] `:absent` stores only a new key; `:expect` only in place of `expect`
    # @param expect [String, nil] the document, byte for byte, that must be stored now
    # @param alike [Boolean] whether others may put the same document, which is no proof then of whose write it was
    # @return [Boolean] whether something was written
    # @raise [ExistsError] with `:absent`: the key is there
    # @raise [ConflictError] with `:expect`: another document is stored, or none
    # @raise [IsFolderError, IsKeyError] the name is a folder's; a name on the way is a key's
    # @raise [TimeoutError] another process kept the key locked; the directory did not answer
    # @raise [UnavailableError] the storage cannot be used; or nobody can tell whether it was written: the connection to
    #   the directory was lost before the answer came, and another client has changed the key since
    def put(key, document, condition: :any, expect: nil, alike: false)
      @native.put(key, document, condition, expect, alike, call_timeout)
    end

    # Stores many documents, each as {#put} would, in a directory at a fraction of the time: on one connection, without
    # waiting for the answer to one before the next is sent. They are not one transaction: what came of each is told.
    # `operation_timeout_seconds` is how long the server may take to answer the next of them. What an exception of
    # another thread interrupts may have been stored in part.
    #
    # @param documents [Hash{String => String}] by key
    # @param condition [:any, :absent] `:absent` stores only new keys
    # @return [Hash{String => Boolean, Error}] by key, in the same order: whether it was written; or what {#put} would
    #   have raised, not raised. When the server cannot be reached any more, or does not answer, that is so for each key
    #   that it concerns: {UnavailableError}, {TimeoutError}
    # @raise [TypeError] a key or a document is no String; nothing is stored
    # @example
    #   store.put_many({ 'globals/a' => '{"value":1}', 'globals/b' => '{"value":2}' }, condition: :absent)
    #   # => { 'globals/a' => true, 'globals/b' => #<Simpkv::ExistsError: ...> }
    def put_many(documents, condition: :any)
      raise ArgumentError, 'condition is :any or :absent' unless %i[any absent].include?(condition)

      Batch.new(documents.to_a).put(@native, condition, @timeout_ms)
    end

    # Reads many keys, each as {#get} would, as {#put_many} stores them.
    #
    # @param keys [Array<String>]
    # @return [Hash{String => String, Error}] by key, in the same order: its document, tagged UTF-8; or what {#get}
    #   would have raised, not raised
    # @raise [TypeError] a key is no String
    def get_many(keys)
      Batch.new(keys.uniq.map { |key| [key] }).get(@native, @timeout_ms)
    end

    # Deletes a key. Its folder stays, even when it is left empty.
    #
    # @param key [String]
    # @return [Boolean] whether it was there; in a directory, if the connection was lost before the answer came, whether
    #   it was there when the call read it
    # @raise [IsFolderError]
    # @raise [TimeoutError] another process kept the key locked
    # @raise [UnavailableError] as {#put}
    def delete(key)
      @native.delete(key, call_timeout)
    end

    # Deletes a folder with all that is below it. `globals` and `environments` themselves stay, empty.
    #
    # @param folder [String]
    # @return [Boolean] whether it was there
    # @raise [IsKeyError]
    # @raise [TimeoutError] another process kept a key locked, or others kept adding to it
    def deletetree(folder)
      @native.deletetree(folder, @timeout_ms)
    end

    # What is in a folder, not in the folders below it.
    #
    # @param folder [String]
    # @param required [Boolean] whether a missing folder raises {NotFoundError}; otherwise it is empty
    # @param partial [Boolean] whether keys that cannot be read become `errors`; otherwise the first is raised
    # @yield while the server looks for more, each document that was found. The list keeps its connection meanwhile: the
    #   block should not call a store, nor wait
    # @yieldparam name [String]
    # @yieldparam document [String]
    # @yieldreturn [Object] what is to stand in the document's place
    # @return [Hash] `{keys: {name => document}, folders: [name], errors: {name => why}}`, unsorted; `errors` are the
    #   keys that could not be read
    # @raise [NotFoundError] there is no such folder
    # @raise [Error] without `partial`: a key cannot be read
    def list(folder, required: true, partial: true, &block)
      found = listing(required) { @native.list(folder, @timeout_ms, &block) }
      name, why = found[:errors].min_by(&:first) unless partial
      raise Error, "Key '#{name}': #{why}" if name

      found
    end

    # What is in a folder and in all folders below it. Of a directory, it is asked for at once.
    #
    # @param folder [String]
    # @param values [Boolean] whether documents are wanted: else they are not read, and there is '' for each
    # @param required [Boolean] whether a missing folder raises {NotFoundError}; otherwise it is empty
    # @yield as {#list} does, each document with its path; not without `values`
    # @return [Hash] as that of {#list}, with paths from the folder on: `{keys: {path => document}, folders: [path],
    #   errors: {path => why}}`
    # @raise [NotFoundError] there is no such folder
    # @example
    #   store.tree('globals')  #=> {keys: {'app1/password' => '{"value":...}'}, folders: ['app1'], errors: {}}
    def tree(folder, values: true, required: true, &block)
      listing(required) { @native.tree(folder, values, @timeout_ms, &(block if values)) }
    end

    # Reads an entry of the directory, whatever it is; for a store of type 'ldap'.
    #
    # @param dn [String] '' for the root DSE, what the server says of itself
    # @param attributes [Array<String>] which to read: `*` for those that users set, as is an empty list, `+` for those
    #   that the server keeps
    # @return [Hash{String => Array<String>}] the values of each attribute that there is, without those that are not
    #   UTF-8. Names are spelled as the server does; 389-DS repeats the spelling of `attributes`
    # @raise [NotFoundError] there is no such entry
    # @raise [DeniedError] the identity may not see it
    # @raise [InvalidError] the store is another one, or this is no DN
    # @example
    #   store.read_entry('', %w[namingContexts])  #=> {'namingContexts' => ['dc=simp']}
    def read_entry(dn, attributes)
      @native.read_entry(dn, attributes, @timeout_ms)
    end

    # Adds an entry to the directory; for a store of type 'ldap'.
    #
    # @param dn [String]
    # @param attributes [Hash{String => Array<String>}]
    # @return [Boolean] whether it was added; false if it was there, whatever it holds. Where the connection was lost
    #   or the call interrupted before the answer came, false may mean that this very call has added it
    # @raise [NotFoundError] there is no entry above it
    # @raise [DeniedError] the identity may not
    # @raise [UnavailableError] the server refuses the entry, and says why
    # @raise [InvalidError] the store is another one, or this is no DN
    # @example
    #   store.add_entry('ou=simpkv,dc=simp', 'objectClass' => %w[top organizationalUnit], 'ou' => ['simpkv'])
    def add_entry(dn, attributes)
      @native.add_entry(dn, attributes, @timeout_ms)
    end

    # Adds values to attributes of an entry of the directory; for a store of type 'ldap'.
    #
    # @param dn [String]
    # @param attributes [Hash{String => Array<String>}]
    # @return [Boolean] whether they were added; false if one of them was there, and then none was. As with
    #   {#add_entry}, it may be this very call that has added it
    # @raise [NotFoundError] there is no such entry
    # @raise [DeniedError] the identity may not
    # @raise [UnavailableError] the server refuses the values, and says why
    # @raise [InvalidError] the store is another one, or this is no DN
    def extend_entry(dn, attributes)
      @native.extend_entry(dn, attributes, @timeout_ms)
    end

    # Releases the store; calls that are under way end as usual, later ones raise {InvalidError}.
    #
    # @return [nil]
    def close
      @native.close
    end

    # @return [String] type and location, and nothing that could be secret
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

    # A store inside another one would have its keys among those of that one's environments.
    def refuse_nesting(options)
      if @type == 'ldap' && options['id'].to_s.include?('/')
        raise ConfigError, "'id' of a store must be #{Coercion.needed(:id)}"
      end

      problem = Isolation.problem(@type, options)
      raise ConfigError, problem if problem
    end

    # The time of a call that the option bounds as a whole.
    def call_timeout
      @type == 'ldap' ? Deadline.left(@timeout_ms) : @timeout_ms
    end

    def milliseconds(name, seconds)
      unless seconds.is_a?(Numeric) && seconds.real? && seconds >= 0
        raise ConfigError, "'#{name}' must be a number, 0 or more"
      end

      [seconds * 1000, LONGEST_MS].min.ceil
    end

    # The core takes text only, and times in milliseconds.
    def ldap_options(options)
      options.to_h do |name, value|
        if name.to_s.end_with?('_seconds')
          [name.sub(/_seconds\z/, '_ms'), milliseconds(name, value).to_s]
        else
          [name, LISTS.include?(name) && value.is_a?(Array) ? value.join(' ') : plain(value)]
        end
      end
    end

    def plain(value)
      case value
      when true, false, Integer then value.to_s
      else value
      end
    end

    def require_string(name, value)
      return if name.is_a?(String) && value.is_a?(String)

      raise ConfigError, "option '#{name}' of a store must be a String, not #{value.class}"
    end
  end
end
