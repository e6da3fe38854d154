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
    #   seconds are Numerics, URIs a String or an Array of them
    # @return [Store] use {#close} when it is no longer needed
    # @raise [ConfigError] an option has the wrong type
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
    # @return [String] its document, tagged UTF-8
    # @raise [NotFoundError, IsFolderError]
    # @raise [TimeoutError] another process kept the key locked, or the server did not answer in time: as for all calls
    def get(key)
      @native.get(key, @timeout_ms)
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
      @native.kind(key, @timeout_ms)
    end

    # Stores a document, with the folders that it needs. Writes nothing when the stored document says the same already.
    #
    # With a condition, let the documents of different writers differ, by the writer's name for instance: when a
    # connection to a directory is lost, or a call is interrupted, before the answer came, the stored document tells
    # whose write it was.
    #
    # @param key [String]
    # @param document [String]
    # @param condition [:any, :absent, :expect] `:absent` stores only a new key; `:expect` only in place of `expect`
    # @param expect [String, nil] the document, byte for byte, that must be stored now
    # @return [Boolean] whether something was written
    # @raise [ExistsError] with `:absent`: the key is there
    # @raise [ConflictError] with `:expect`: another document is stored, or none
    # @raise [IsFolderError, IsKeyError] the name is a folder's; a name on the way is a key's
    # @raise [TimeoutError] another process kept the key locked; the directory did not answer
    # @raise [UnavailableError] the storage cannot be used; or, with a condition, nobody can tell whether it was written
    def put(key, document, condition: :any, expect: nil)
      @native.put(key, document, condition, expect, @timeout_ms)
    end

    # Deletes a key. Its folder stays, even when it is left empty.
    #
    # @param key [String]
    # @return [Boolean] whether it was there
    # @raise [IsFolderError]
    # @raise [TimeoutError] another process kept the key locked
    def delete(key)
      @native.delete(key, @timeout_ms)
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
    # @yield while the server looks for more, each document that was found. The list keeps its connection meanwhile: the
    #   block should not call a store, nor wait
    # @yieldparam name [String]
    # @yieldparam document [String]
    # @yieldreturn [Object] what is to stand in the document's place
    # @return [Hash] `{keys: {name => document}, folders: [name], errors: {name => why}}`, unsorted; `errors` are the
    #   keys that could not be read
    # @raise [NotFoundError] there is no such folder
    def list(folder, &block)
      @native.list(folder, @timeout_ms, &block)
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
