# frozen_string_literal: true

# The kind of an LDAP request, for proxies.
module LdapRequest
  TAGS = { bind: 0, search: 3, modify: 6, add: 8, delete: 10 }.freeze
  private_constant :TAGS

  # A request is a SEQUENCE of its number and its operation, each after a byte for its tag and the bytes of its length.
  #
  # @param bytes [String] which start with a request
  # @return [Symbol, nil] :bind, :search, :modify, :add or :delete
  def self.kind(bytes)
    length = bytes.getbyte(1)
    number = length < 0x80 ? 2 : 2 + (length & 0x7f)
    operation = bytes.getbyte(number + 2 + bytes.getbyte(number + 1))
    TAGS.key(operation & 0x1f) if operation
  end
end
