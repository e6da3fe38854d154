# frozen_string_literal: true

# Reads DNs by RFC 4514 alone, to compare with the DNs that the core makes.
module DistinguishedNames
  # @param dn [String] the DN of an entry below "ou=<id>,ou=instances,<base_dn>", with an id of one segment
  # @return [Array(Symbol, String)] the kind, nil for a simpkvHexId, and the path
  def self.path(dn, base_dn)
    names = rdns(dn)
    kind = { 'simpkvKey' => :key, 'ou' => :folder }[names.first.first]
    names = names.first(names.length - rdns(base_dn).length - 2).reverse
    [kind, names.map { |attribute, value| attribute == 'simpkvHexId' ? unhex(value) : value }.join('/')]
  end

  # @return [Array<Array(String, String)>] the attribute and the value of each RDN
  def self.rdns(dn)
    dn.b.scan(/([^=,]+)=((?:\\.|[^\\,])*)/m).map { |attribute, value| [attribute, unescape(value)] }
  end

  def self.unescape(value)
    bytes = value.gsub(/\\(?:(\h\h)|(.))/m) { Regexp.last_match(2) || [Regexp.last_match(1)].pack('H2') }
    bytes.force_encoding('UTF-8')
  end

  def self.unhex(digits)
    [digits].pack('H*').force_encoding('UTF-8')
  end
  private_class_method :unescape, :unhex
end
