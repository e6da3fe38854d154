# frozen_string_literal: true

require_relative '../support/ds389'
require_relative '../support/eventually'
require_relative '../support/slapd'

RSpec.describe 'The files in schema/', :heavy do
  include Eventually

  # The attributes that 389-DS adds to `SUP name`: it publishes the inherited rules and syntax.
  inherited = 'EQUALITY caseIgnoreMatch SUBSTR caseIgnoreSubstringsMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 '

  # Normalizes a definition: single spaces, without the number that slapd adds in cn=config, and without the second
  # origin that 389-DS adds to a definition that it receives while it runs.
  define_method(:tidy) do |definition|
    definition.gsub(/\s+/, ' ').sub(/\{\d+\}/, '').sub("( 'SIMP simpkv' 'user defined' )", "'SIMP simpkv'")
              .sub("SUP name #{inherited}", 'SUP name ').strip
  end

  # Returns simpkv's definitions in the schema that a server publishes.
  def published(server)
    found = server.entry(server.class::SUBSCHEMA, 'attributeTypes', 'objectClasses')
    found.values_at('attributeTypes', 'objectClasses').map do |definitions|
      definitions.grep(/simpkv/).map { |definition| tidy(definition) }.sort
    end
  end

  def read(name)
    File.read(File.join(DirectoryServer::SCHEMAS, name))
  end

  # Runs the commands in the comments of a file, as an administrator does: with the server's address and the password
  # from a file.
  def apply(server, name, text = read(name))
    File.write(File.join(server.folder, File.basename(name)), text)
    text.scan(/^#   (.+)$/) do |(command)|
      command = command.sub('ldap://HOST', server.tcp_uri).sub('-W', "-y #{server.password_file}")
                       .sub('ADMIN_DN', "'#{server.class::ROOT_DN}'")
                       .sub('INSTANCE', "-D '#{server.class::ROOT_DN}' -y #{server.password_file} #{server.tcp_uri}")
      output, status = Open3.capture2e({ 'LDAPTLS_CACERT' => server.certificates.cacert }, command,
                                       chdir: server.folder)
      expect(status).to be_success, "#{command}: #{output}"
    end
  end

  # Returns the number of folders below the base entry that an identity receives, in pages or at once.
  def found(server, dn, *paging)
    output, = Open3.capture2e('ldapsearch', '-x', '-D', dn, '-y', server.password_file, '-H', server.uri, '-LLL',
                              *paging, '-s', 'one', '-b', server.class::BASE_DN, '1.1')
    output.scan(/^dn: ou=f/).length
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
    names = { 'plain' => ['simpkvKey'], 'hex' => %w[simpkvHexId simpkvId] }[layout]

    it "are accepted by slapd from slapd.conf, layout #{layout}, with the limits and indexes" do
      Slapd.run(layout: layout, limits: true) { |slapd| expect(published(slapd)).to eq(definitions) }
    end

    it "are accepted by slapd through cn=config, layout #{layout}" do
      Slapd.run(layout: nil, more: "database config\nrootdn \"#{Slapd::ROOT_DN}\"") do |slapd|
        expect(published(slapd)).to eq([[], []])
        slapd.add(read("openldap/simpkv#{suffix}.ldif"))
        expect(published(slapd)).to eq(definitions)
      end
    end

    it "are accepted by 389-DS, layout #{layout}, with the commands in their comments, limits and indexes", :ds389 do
      Ds389.run(layout: nil, tls: true) do |server|
        expect(published(server)).to eq([[], []])
        server.delete_tree('o=puppet,dc=simp')
        apply(server, 'base.ldif')
        apply(server, "389ds/#{layout}.ldif")
        expect([published(server), unindexed(server, names)]).to eq([definitions, names])
        apply(server, '389ds/limits.ldif', Ds389.limits(layout))
        server.restart
        expect([published(server), unindexed(server, names)]).to eq([definitions, []])
      end
    end
  end

  # Returns the attributes by which 389-DS finds an entry only if it examines all entries.
  def unindexed(server, attributes)
    attributes.select do |attribute|
      server.search(DirectoryServer::SUFFIX, "(#{attribute}=x)")
      eventually { result_of(server, "(#{attribute}=x)") }.include?('Unindexed')
    end
  end

  # Returns the log's result of the last search with that filter. The line may appear after the response, and in
  # another order.
  def result_of(server, filter)
    lines = server.log.lines
    search = lines.rindex { |line| line.include?(' SRCH ') && line.include?(%(filter="#{filter}")) }
    search && lines.drop(search).grep(/#{lines[search][/ conn=\d+ op=\d+ /]}RESULT /).first
  end

  # The number of folders, and the server's limit for a search without pages. In pages 389-DS returns more: it stops
  # after it has examined 5,000 entries.
  { Slapd => [600, 500], Ds389 => [2100, 2000] }.each do |server, (count, limit)|
    it "lift the limits on lists only for their identity: #{server}", ds389: server == Ds389 do
      other = DirectoryServer::STRANGER_DN
      server.run(reader: other) do |running|
        running.add((1..count).map { |n| <<~LDIF }.join("\n"))
          dn: ou=f#{n},#{DirectoryServer::BASE_DN}
          objectClass: organizationalUnit
        LDIF
        expect([found(running, DirectoryServer::USER_DN), found(running, other)]).to eq([limit, limit])
        running.lift_limits
        expect([found(running, DirectoryServer::USER_DN), found(running, other)]).to eq([count, limit])
        expect(found(running, DirectoryServer::USER_DN, '-E', 'pr=100/noprompt')).to eq(count)
      end
    end
  end

  it 'let simpkv read the maximum size of a request of 389-DS, if it is raised', :ds389 do
    Ds389.run(limits: true) do |server|
      server.modify("dn: cn=config\nchangetype: modify\nreplace: nsslapd-maxbersize\nnsslapd-maxbersize: 8388608\n")
      server.restart
      store = Simpkv::Store.open('ldap', server.options)
      large = %({"value":"#{'x' * 3_000_000}","metadata":{}})
      expect([store.put('globals/large', large), store.get('globals/large') == large]).to eq([true, true])
      expect { store.put('globals/large', large * 3) }
        .to raise_error(Simpkv::TooLargeError, /8388608.*nsslapd-maxbersize/)
    end
  end
end
