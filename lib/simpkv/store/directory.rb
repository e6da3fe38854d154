# frozen_string_literal: true

module Simpkv
  # The entries of a directory, whether or not they are keys: see {Store#directory}. Thread-safe. Each failure raises a
  # subclass of {Error}: {InvalidError} if the store is of another type, or the DN is malformed.
  class Directory
    # @param native [Native::Store]
    # @param timeout_ms [Integer] the time of a call
    def initialize(native, timeout_ms)
      @native = native
      @timeout_ms = timeout_ms
    end

    # Reads any entry of the directory.
    #
    # @param dn [String] '' for the root DSE, in which the server describes itself
    # @param attributes [Array<String>] names; `*` and an empty list stand for user attributes, `+` for operational ones
    # @return [Hash{String => Array<String>}] the values of each attribute of the entry, without those that are not
    #   UTF-8. Names have the server's spelling; 389-DS repeats the spelling of `attributes`
    # @raise [NotFoundError] the entry does not exist
    # @raise [DeniedError] the identity may not see it
    # @example
    #   directory.read_entry('', %w[namingContexts])  #=> {'namingContexts' => ['dc=simp']}
    def read_entry(dn, attributes)
      @native.read_entry(dn, attributes, @timeout_ms)
    end

    # Adds an entry to the directory.
    #
    # @param dn [String]
    # @param attributes [Hash{String => Array<String>}]
    # @return [Boolean] whether it was added; false if an entry with that DN exists. If the connection was lost or the
    #   call interrupted before the response came, false may mean that this very call has added it
    # @raise [NotFoundError] the entry above it does not exist
    # @raise [DeniedError] the identity may not
    # @raise [UnavailableError] the server refuses the entry, and says why
    # @example
    #   directory.add_entry('ou=simpkv,dc=simp', 'objectClass' => %w[top organizationalUnit], 'ou' => ['simpkv'])
    def add_entry(dn, attributes)
      @native.add_entry(dn, attributes, @timeout_ms)
    end

    # Lists the entries directly below one; or with a filter, that entry and all below it which match.
    #
    # @param dn [String]
    # @param attributes [Array<String>] as of {#read_entry}
    # @param filter [String, nil] of RFC 4515; the caller has escaped the values in it
    # @return [Hash{String => Hash{String => Array<String>}}] by DN, what {#read_entry} returns
    # @raise [NotFoundError, DeniedError, InvalidError] as {#read_entry}
    # @raise [TooLargeError] a limit of the server ended the list
    def entries(dn, attributes, filter = nil)
      @native.list_entries(dn, attributes, filter, @timeout_ms)
    end

    # Changes an entry of the directory, all of the changes or none.
    #
    # @param dn [String]
    # @param changes [Array<Array(Symbol, String, Array<String>)>] operations, attributes and values: `:add`, `:delete`,
    #   `:replace` (all values by these; by none, if there are none)
    # @param version [String, nil] the entry's `entryCSN` when it was read: a server that can compare it, as OpenLDAP,
    #   makes the changes only if nobody has changed the entry since. 389-DS has neither
    # @return [Boolean] whether the changes were made; false if a value to be added exists, one to be deleted does not,
    #   or the entry has another version. As with {#add_entry}, it may be this very call that has made them
    # @raise [NotFoundError, DeniedError, UnavailableError, InvalidError] as {#add_entry}
    # @example
    #   directory.modify_entry('cn=ops,dc=simp', [[:delete, 'member', ['cn=a']], [:add, 'member', ['cn=b', 'cn=c']]])
    def modify_entry(dn, changes, version: nil)
      texts = changes.flat_map do |operation, attribute, values|
        next ['clear', attribute, ''] if operation == :replace && values.empty?

        values.flat_map { |value| [operation.to_s, attribute, value] }
      end
      @native.modify_entry(dn, texts, version || '', @timeout_ms)
    end

    # Adds values to attributes of an entry of the directory, all or none.
    #
    # @param dn [String]
    # @param attributes [Hash{String => Array<String>}]
    # @return [Boolean] whether they were added; false if one of them existed: as {#modify_entry}
    # @raise [NotFoundError, DeniedError, UnavailableError, InvalidError] as {#add_entry}
    def extend_entry(dn, attributes)
      modify_entry(dn, attributes.map { |name, values| [:add, name, values] })
    end

    # Deletes an entry of the directory that has none below it.
    #
    # @param dn [String]
    # @param version [String, nil] as of {#modify_entry}
    # @return [Boolean] whether it existed
    # @raise [ConflictError] the entry has another version
    # @raise [DeniedError, UnavailableError, InvalidError] as {#add_entry}
    def delete_entry(dn, version: nil)
      @native.delete_entry(dn, version || '', @timeout_ms)
    end

    # Sets the password of an entry of the directory, so that the server stores a hash.
    #
    # @param dn [String]
    # @param password [String]
    # @return [nil]
    # @raise [NotFoundError, DeniedError, UnavailableError, InvalidError] as {#add_entry}
    def set_entry_password(dn, password)
      @native.set_password(dn, password, @timeout_ms)
    end

    # Returns true if a server accepts the password: binds once as that entry, on a connection of its own. A server may
    # count refused binds, and lock the account.
    #
    # @param dn [String]
    # @param password [String]
    # @return [Boolean] false also if there is no such entry
    # @raise [DeniedError] the server refuses the bind for another reason
    # @raise [UnavailableError, TimeoutError, InvalidError]
    def password?(dn, password)
      @native.check_password(dn, password, @timeout_ms)
    end
  end
end
