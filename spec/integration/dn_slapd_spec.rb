# frozen_string_literal: true

require_relative '../support/distinguished_names'
require_relative '../support/paths'
require_relative '../support/slapd'

RSpec.describe 'Distinguished names in a real slapd', :heavy do
  native = Simpkv::Native
  base = Slapd::BASE_DN

  # Returns the folders above the path, from the root down, and the path, each as [kind, path].
  def with_folders(path)
    names = path.split('/')
    folders = (1...names.length).map { |count| [:folder, names.first(count).join('/')] }
    [*folders, [:key, path]]
  end

  # Normalizes a path as the directory's matching rules do, which ignore case and squeeze spaces.
  def folded(path)
    path.downcase.gsub(/[ \u00a0]+/, ' ').gsub(%r{(?<=/) | (?=/)| \z}, '')
  end

  def ldif(dn, kind)
    attributes = if kind == :key
                   "objectClass: simpkvEntry\nsimpkvJsonValue: {\"value\":1,\"metadata\":{}}"
                 else
                   'objectClass: organizationalUnit'
                 end
    "dn:: #{[dn].pack('m0')}\n#{attributes}\n\n"
  end

  it 'are accepted for 3,000 generated keys, and read back as the same keys' do
    random = Random.new(RSpec.configuration.seed)
    paths = {}
    while paths.length < 3_000
      kind, path = Paths.any(random)
      paths[folded(path)] ||= path if kind == :key
    end
    entries = paths.values.flat_map { |path| with_folders(path) }
    entries = entries.uniq { |kind, path| [kind, folded(path)] }

    Slapd.run do |slapd|
      slapd.add("dn: ou=instances,#{base}\nobjectClass: organizationalUnit\n\n" \
                "dn: ou=default,ou=instances,#{base}\nobjectClass: organizationalUnit\n")
      slapd.add(entries.map { |kind, path| ldif(native.dn_from_path(:plain, kind, base, 'default', path), kind) }.join)
      found = slapd.search(base, '(objectClass=simpkvEntry)').map { |dn| DistinguishedNames.path(dn, base) }
      expect(found.map(&:first)).to all(eq(:key))
      expect(found.map { |_, path| folded(path) }).to match_array(paths.keys)
    end
  end
end
