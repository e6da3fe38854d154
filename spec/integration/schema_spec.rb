# frozen_string_literal: true

require_relative '../support/slapd'

RSpec.describe 'The files in schema/' do
  # A definition with single spaces, and without the source that slapd adds to those of cn=config.
  def tidy(definition)
    definition.gsub(/\s+/, ' ').sub(/\{\d+\}/, '').strip
  end

  # What a server of that schema publishes of ours.
  def published(slapd)
    found = slapd.entry('cn=Subschema', 'attributeTypes', 'objectClasses')
    found.values_at('attributeTypes', 'objectClasses').map do |definitions|
      definitions.grep(/simpkv/).map { |definition| tidy(definition) }.sort
    end
  end

  def read(name)
    File.read(File.join(Slapd::SCHEMAS, name))
  end

  # The values of an attribute in an LDIF text, with its folded lines joined.
  def values(ldif, attribute)
    ldif.gsub("\n ", '').scan(/^#{attribute}: (.*)$/).flatten.map { |definition| tidy(definition) }.sort
  end

  {
    'plain' => [
      ["( 1.3.6.1.4.1.47012.1.1.1.1.1.1 NAME 'simpkvKey' DESC 'key' SUP name SINGLE-VALUE X-ORIGIN 'SIMP simpkv' )",
       "( 1.3.6.1.4.1.47012.1.1.1.1.1.2 NAME 'simpkvJsonValue' DESC 'JSON-formatted value' EQUALITY caseExactMatch " \
       'SUBSTR caseExactSubstringsMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE ' \
       "X-ORIGIN 'SIMP simpkv' )"],
      ["( 1.3.6.1.4.1.47012.1.1.1.1.2.1 NAME 'simpkvEntry' DESC 'simpkv entry' SUP top STRUCTURAL " \
       "MUST ( simpkvKey $ simpkvJsonValue ) X-ORIGIN 'SIMP simpkv' )"]
    ],
    'hex' => [
      ["( 1.3.6.1.4.1.47012.1.1.1.1.1.1 NAME 'simpkvHexId' DESC 'hex-encoded backend instance, folder, or key name' " \
       "SUP name SINGLE-VALUE X-ORIGIN 'SIMP simpkv' )",
       "( 1.3.6.1.4.1.47012.1.1.1.1.1.2 NAME 'simpkvId' DESC 'backend instance, key or folder name' " \
       'EQUALITY caseExactMatch SUBSTR caseExactSubstringsMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE ' \
       "X-ORIGIN 'SIMP simpkv' )",
       "( 1.3.6.1.4.1.47012.1.1.1.1.1.3 NAME 'simpkvJsonValue' DESC 'JSON-formatted value' EQUALITY caseExactMatch " \
       'SUBSTR caseExactSubstringsMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE ' \
       "X-ORIGIN 'SIMP simpkv' )"],
      ["( 1.3.6.1.4.1.47012.1.1.1.1.2.1 NAME 'simpkvEntry' DESC 'simpkv entry' SUP top STRUCTURAL " \
       "MUST ( simpkvHexId $ simpkvId $ simpkvJsonValue ) X-ORIGIN 'SIMP simpkv' )",
       "( 1.3.6.1.4.1.47012.1.1.1.1.2.2 NAME 'simpkvFolder' DESC 'simpkv folder in which simpKvHexId represents the " \
       "relative folder name in hex in the DN' SUP top STRUCTURAL MUST ( simpkvHexId $ simpkvId ) " \
       "X-ORIGIN 'SIMP simpkv' )"]
    ]
  }.each do |layout, definitions|
    suffix = { 'plain' => '', 'hex' => '-hex' }[layout]

    it "are taken by slapd from slapd.conf, layout #{layout}, with the limits and indexes" do
      Slapd.run(layout: layout, more: Slapd.limits(layout)) { |slapd| expect(published(slapd)).to eq(definitions) }
    end

    it "are taken by slapd through cn=config, layout #{layout}" do
      Slapd.run(layout: nil, more: "database config\nrootdn \"#{Slapd::ROOT_DN}\"") do |slapd|
        expect(published(slapd)).to eq([[], []])
        slapd.add(read("openldap/simpkv#{suffix}.ldif"))
        expect(published(slapd)).to eq(definitions)
      end
    end

    it "say the same to 389 Directory Server, layout #{layout}, one definition a line" do
      ldif = read("389ds/#{layout}.ldif")
      expect([values(ldif, 'attributeTypes'), values(ldif, 'objectClasses')]).to eq(definitions)
      expect(ldif).to include("dn: cn=schema\nchangetype: modify\nadd: attributeTypes\n")
      expect(ldif.lines.grep(/\A /)).to eq([])
    end
  end

  %w[389ds/plain.ldif 389ds/hex.ldif 389ds/limits.ldif].each do |name|
    it "are LDIF that ldapmodify reads: #{name}" do
      output, status = Open3.capture2e('ldapmodify', '-n', '-f', File.join(Slapd::SCHEMAS, name))
      expect(status).to be_success, output
      expect(output).to match(/^!(modifying|adding new) entry/)
    end
  end

  it 'lift the limit on lists for the identity that they name, and for no other' do
    entries = (1..600).map { |n| "dn: ou=f#{n},#{Slapd::BASE_DN}\nobjectClass: organizationalUnit\n" }.join("\n")
    listed = lambda do |slapd|
      slapd.add(entries)
      output, = Open3.capture2e('ldapsearch', '-x', '-D', Slapd::USER_DN, '-y', slapd.password_file, '-H', slapd.uri,
                                '-LLL', '-E', 'pr=100/noprompt', '-s', 'one', '-b', Slapd::BASE_DN, '1.1')
      output.scan(/^dn: ou=f/).length
    end
    expect(Slapd.run(&listed)).to eq(500)
    expect(Slapd.run(more: Slapd.limits('plain'), &listed)).to eq(600)
  end
end
