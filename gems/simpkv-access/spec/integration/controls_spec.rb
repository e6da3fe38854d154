# frozen_string_literal: true

require 'simpkv/access/ldap_rules/server_rules'
require_relative '../support/access_directory'
require_relative '../../../../spec/support/bare_ldap'

# What a server offers beyond plain operations, by its OID, and how each is tried. An OID that is not here fails the
# spec: find out what it does, and add a row that tries it.
module Offered
  # The states of the secret that nobody without a right may tell apart.
  STATES = { first: '{"value":"aaa"}', last: '{"value":"zzz"}', none: nil }.freeze

  L = BareLdap
  # slapd sorts by attributes with an ordering rule, and by others with a rule that the client names.
  SORTS = [[], [L.text('caseExactOrderingMatch', 0x80)]].map do |rule|
    L.sequence(L.sequence(L.text('simpkvJsonValue'), *rule))
  end
  ATTRIBUTES = L.sequence(L.text('simpkvJsonValue'), L.text('*'))
  ROOT = 'cn=Directory Manager'
  EMPTY = [[nil]].freeze

  # A view from a value on, or from a place on. 389-DS 2.3.1 crashes when it carries out some of them, but the first.
  VIEWS = [*%w[a m z].map { |letter| %({"value":"#{letter}) }.unshift('{').map { |value| L.text(value, 0x81) },
           L.encoded(0xa0, L.integer(1) + L.integer(0))].map { |place| L.sequence(L.integer(0), L.integer(9), place) }
                                                        .freeze

  # By OID, the lists of controls that are sent with each operation: the values of this control, each perhaps with
  # another control. A String says why a control cannot tell anything, and it is sent without a value nevertheless.
  CONTROLS = {
    '2.16.840.1.113730.3.4.2' => EMPTY, # manageDsaIT
    '2.16.840.1.113730.3.4.3' => [], # persistent search, which never ends: it has an example of its own
    '2.16.840.1.113730.3.4.4' => 'password expired: a control of responses',
    '2.16.840.1.113730.3.4.5' => 'password expiring: a control of responses',
    '1.2.840.113556.1.4.473' => SORTS.map { |sort| [sort] },
    '2.16.840.1.113730.3.4.9' => SORTS.product(VIEWS).map { |sort, view| [view, ['1.2.840.113556.1.4.473', sort]] },
    '2.16.840.1.113730.3.4.16' => 'authorization identity: the response to a bind names the one that binds',
    '2.16.840.1.113730.3.4.15' => 'authorization identity: a control of responses',
    '2.16.840.1.113730.3.4.17' => EMPTY, # real attributes only
    '2.16.840.1.113730.3.4.19' => EMPTY, # virtual attributes only
    '1.3.6.1.1.13.1' => [[ATTRIBUTES]], # pre-read
    '1.3.6.1.1.13.2' => [[ATTRIBUTES]], # post-read
    '1.3.6.1.4.1.42.2.27.8.5.1' => EMPTY, # password policy
    '1.3.6.1.4.1.4203.1.10.1' => [[L.boolean(true)], [L.boolean(false)]], # subentries
    '1.3.6.1.4.1.42.2.27.9.5.2' => [['dn:'], ["dn:#{ROOT}"]], # effective rights
    '1.2.840.113556.1.4.319' => [[L.sequence(L.integer(1), L.text(''))]], # paged results
    '1.3.6.1.4.1.42.2.27.9.5.8' => EMPTY, # account usability
    '1.3.6.1.4.1.4203.666.5.16' => [[L.sequence(L.sequence(L.text('member'), L.sequence(L.text('simpkvJsonValue'))))]],
    '1.3.6.1.4.1.4203.1.9.1.1' => [[L.sequence(L.integer(1, 0x0a))]], # synchronization, without waiting
    '2.16.840.1.113730.3.4.14' => [['userroot']], # search in one backend
    '2.16.840.1.113730.3.4.20' => [['userroot'], ['cn=userroot,cn=ldbm database,cn=plugins,cn=config']], # the same
    '1.3.6.1.4.1.1466.29539.12' => [[L.integer(1)]], # loop detection of chaining
    '2.16.840.1.113730.3.4.12' => [[L.sequence(L.text(ROOT))], [L.sequence(L.text(DirectoryServer::USER_DN))]],
    '2.16.840.1.113730.3.4.18' => [["dn:#{ROOT}"], ["dn:#{Slapd::ROOT_DN}"], ["dn:#{DirectoryServer::USER_DN}"], ['']],
    '2.16.840.1.113730.3.4.13' => 'update of a replica: a change without the state of replication is refused',
    '1.3.6.1.1.22' => EMPTY, # do not use a copy
    '1.2.826.0.1.3344810.2.3' => [[L.sequence(L.contains('simpkvJsonValue', 'a'))]], # matched values
    '1.3.6.1.1.12' => %w[a z].map { |letter| [L.contains('simpkvJsonValue', "#{letter}#{letter}")] } # assertion
  }.freeze

  # What slapd can load beside its own, of which docs/watch.md demands syncprov.
  OVERLAYS = %w[sssvlv deref syncprov].map { |name| "moduleload #{name}\noverlay #{name}\n" }.join
  MORE = { Slapd => { more: OVERLAYS }, Ds389 => {} }.freeze

  CHANGE_NUMBER = /\d{14}\.\d{6}Z(#\h+){3}/n.freeze

  # The result of a view has a pointer in slapd's memory.
  POINTER = /(?<=\x0a\x01\x00\x04\x08).{8}/mn.freeze

  # On 389-DS, the searches that tell whether a name exists, or how many names there are.
  NAMES = { '1.2.840.113556.1.4.473' => %i[base], '1.2.840.113556.1.4.319' => %i[base suffix either] }.freeze

  # By OID, the values of an extended operation.
  EXTENSIONS = {
    '2.16.840.1.113730.3.5.7' => [nil, 'dc=simp'], # bulk import
    '2.16.840.1.113730.3.5.8' => [nil], # bulk import, its end
    '2.16.840.1.113730.3.5.3' => [nil, L.sequence(L.text('2.16.840.1.113730.3.6.1'), L.text('dc=simp'))], # replication
    '2.16.840.1.113730.3.5.12' => [nil, L.sequence(L.text('2.16.840.1.113730.3.6.1'), L.text('dc=simp'))],
    '2.16.840.1.113730.3.5.4' => [nil], # a response of replication
    '2.16.840.1.113730.3.5.5' => [nil], # the end of replication
    '2.16.840.1.113730.3.5.6' => [nil], # an entry of replication
    '2.16.840.1.113730.3.5.9' => [nil], # total update
    '2.16.840.1.113730.3.6.5' => [nil, 'dc=simp'], # clean a replica's record
    '2.16.840.1.113730.3.6.6' => [nil, 'dc=simp'], # end that
    '2.16.840.1.113730.3.6.7' => [nil, 'dc=simp'], # its state
    '2.16.840.1.113730.3.6.8' => [nil, 'dc=simp'],
    '1.3.6.1.4.1.4203.1.11.3' => [nil], # who am I
    '1.3.6.1.4.1.4203.1.11.1' => [->(key) { L.sequence(L.text(key, 0x80), L.text('x', 0x82)) }], # password
    '1.3.6.1.1.8' => [L.sequence(L.integer(1))], # cancel
    '1.3.6.1.1.21.1' => [nil], # begin a transaction
    '1.3.6.1.1.21.3' => [L.sequence(L.text('x'))] # end it
  }.freeze

  # By OID, operations on a key and its folder.
  FEATURES = {
    '1.3.6.1.4.1.4203.1.5.1' => ->(_, folder) { L.search(folder, 2, L.present('objectClass'), '*', '+') },
    '1.3.6.1.4.1.4203.1.5.2' => ->(_, folder) { L.search(folder, 2, L.present('objectClass'), '@simpkvEntry') },
    '1.3.6.1.4.1.4203.1.5.3' => ->(_, folder) { L.search(folder, 2, L.encoded(0xa0, ''), '*') },
    '1.3.6.1.4.1.4203.1.5.4' => ->(_, folder) { L.search(folder, 2, L.present('simpkvJsonValue;lang-en'), '*') },
    '1.3.6.1.4.1.4203.1.5.5' => ->(_, folder) { L.search(folder, 2, L.present('simpkvJsonValue;lang-'), '*') },
    '1.3.6.1.1.14' => ->(key, _) { L.modify(key, 3, 'simpkvJsonValue', '1') }
  }.freeze
end

Directories.each_server do |server, tags|
  RSpec.describe "Controls, extended operations and features of #{server}", once: true, **tags do
    before(:context) { @access = start(server, **Offered::MORE.fetch(server)) }

    after(:context) { @access&.stop }

    attr_reader :access

    # A user without roles, one who may read another folder, and in that folder a group that points to the secret.
    def start(server, **more)
      AccessDirectory.new(server, 'plain', **more).tap do |access|
        access.start
        %w[nobody reader lister].each { |user| access.add_user(user) }
        access.add_role('readers', %w[reader])
        access.add_role('listers', %w[lister])
        access.root.put_many({ 'globals/open/k' => '{"value":1}', 'globals/secret/m' => '{"value":"mmm"}' })
        access.apply([access.grant('readers', 'globals/open', %w[read list]), lists(access)])
        access.root.directory.add_entry("cn=pointer,#{access.dn('globals/open')}", 'objectClass' => ['groupOfNames'],
                                                                                   'member' => [key_of(access)])
      end
    end

    def lists(access)
      access.grant('listers', 'globals/secret', %w[list])
    end

    def key_of(access)
      access.dn('globals/secret/k', :key)
    end

    def plant(state, access)
      document = Offered::STATES.fetch(state)
      document ? access.root.put('globals/secret/k', document) : access.root.delete('globals/secret/k')
    end

    # @return [Hash{Symbol => String}] operations on the secret, and searches that find it
    def searches(access)
      ldap = BareLdap
      folder = access.dn('globals/secret')
      { base: ldap.search(key_of(access), 0, ldap.present('objectClass'), '*'),
        all: ldap.search(folder, 2, ldap.present('objectClass'), '*'),
        suffix: ldap.search('dc=simp', 2, ldap.present('objectClass'), '*'),
        pointer: ldap.search(access.dn('globals/open'), 2, ldap.present('member'), 'member'),
        filter: ldap.search(folder, 2, ldap.contains('simpkvJsonValue', 'aaa'), '1.1'),
        either: ldap.search('dc=simp', 2, either(ldap.contains('simpkvJsonValue', 'aaa')), '1.1') }
    end

    # A filter that holds for two entries which the reader may see, too.
    def either(filter)
      ldap = BareLdap
      ldap.encoded(0xa1, ldap.equal('ou', 'open') + ldap.present('member') + filter)
    end

    def others(access)
      ldap = BareLdap
      key = key_of(access)
      { compare: ldap.compare(key, 'simpkvJsonValue', Offered::STATES[:first]),
        modify: ldap.modify(key, 2, 'simpkvJsonValue', 'x'),
        remove: ldap.modify(key, 1, 'simpkvJsonValue', Offered::STATES[:first]),
        delete: ldap.delete(key), tree: ldap.delete(access.dn('globals/secret')),
        rename: ldap.rename(key, 'simpkvKey=other'),
        add: ldap.add(key, 'objectClass' => ['simpkvEntry'], 'simpkvKey' => ['k'], 'simpkvJsonValue' => ['x']) }
    end

    # @return [Array<Array<String>>] the lists of controls with which a row is tried
    def controls(oid)
      row = Offered::CONTROLS.fetch(oid)
      row = Offered::EMPTY if row.is_a?(String)
      row.map do |value, *more|
        [BareLdap.control(oid, value), *more.map { |other, data| BareLdap.control(other, data) }]
      end
    end

    def client(user, access)
      path = CGI.unescape(access.server.uri.delete_prefix('ldapi://'))
      name = user == 'root' ? access.server.class::ROOT_DN : access.user_dn(user)
      BareLdap.new(path, name, DirectoryServer::PASSWORD)
    end

    # @return [Hash] by request, the responses
    def answers(user, access, requests)
      client = client(user, access)
      requests.to_h do |name, (operation, controls)|
        [name, client.call(operation, *controls.to_a)]
      rescue SystemCallError, IOError # The server ends the connection after some requests.
        client = client(user, access)
        [name, []]
      end
    ensure
      client&.close
    end

    # @return [Hash] by state of the secret and by request, the responses
    def answers_by_state(user, access, requests)
      Offered::STATES.keys.to_h do |state|
        plant(state, access)
        found = answers(user, access, requests)
        expect(access.root.list('globals/secret')[:keys]['k']).to eq(Offered::STATES[state]) unless user == 'root'
        [state, found.transform_values { |all| all.map { |response| without_numbers(response.bytes) } }]
      end
    end

    # When a change was made is no secret.
    def without_numbers(bytes)
      bytes.gsub(Regexp.union(Offered::CHANGE_NUMBER, Offered::POINTER), '')
    end

    # @return [Hash{Symbol => Array}] the requests whose answers tell apart which value the secret has (`:value`), and
    #   whether it exists (`:existence`)
    def telling(user, access, requests)
      by_state = answers_by_state(user, access, requests)
      { value: %i[first last], existence: %i[first none] }.transform_values do |states|
        requests.keys.reject { |request| by_state.values_at(*states).map { |found| found[request] }.uniq.one? }
      end
    end

    # @return [Hash{Array => Array}] by name and number of the list, the requests of a control
    def requests(oid, access)
      operations = searches(access).merge(others(access)).to_a
      operations.product(controls(oid).each_with_index.to_a).to_h do |(name, operation), (list, number)|
        [[name, number], [operation, list]]
      end
    end

    def offered(attribute)
      access.root.directory.read_entry('', [attribute]).values.flatten
    end

    # @return [Hash{String => Array}] by OID, what {#telling} finds for users without a right on the secret
    def found(kind, oids)
      all = oids.to_h do |oid|
        [oid, %w[nobody reader].flat_map { |user| telling(user, access, yield(oid)).fetch(kind) }.uniq]
      end
      all.reject { |_, requests| requests.empty? }
    end

    { 'supportedControl' => Offered::CONTROLS, 'supportedExtension' => Offered::EXTENSIONS,
      'supportedFeatures' => Offered::FEATURES }.each do |attribute, table|
      it "are in the table of what is tried, as far as #{attribute} names them" do
        expect(offered(attribute) - table.keys).to eq([])
      end
    end

    it 'tell no values to users without a right: controls' do
      oids = offered('supportedControl') & Offered::CONTROLS.keys
      expect(found(:value, oids) { |oid| requests(oid, access) }).to eq({})
    end

    # The number of entries that match is the number of those that exist, not of those that are shown.
    it 'tell which names exist by the searches that docs/security.md names' do
      oids = offered('supportedControl') & Offered::CONTROLS.keys
      seen = found(:existence, oids) do |oid|
        requests(oid, access).select { |(name, _), _| searches(access).key?(name) }
      end
      expect(seen.transform_values { |all| all.map(&:first).uniq })
        .to eq(access.slapd? ? {} : Offered::NAMES)
    end

    it 'tell no values to users without a right: extended operations' do
      oids = offered('supportedExtension') & Offered::EXTENSIONS.keys
      tried = found(:value, oids) do |oid|
        Offered::EXTENSIONS.fetch(oid).each_with_index.to_h do |value, number|
          value = value.call(key_of(access)) if value.is_a?(Proc)
          [[oid, number], [BareLdap.extended(oid, value)]]
        end
      end
      expect(tried).to eq({})
    end

    it 'tell no values to users without a right: features' do
      oids = offered('supportedFeatures') & Offered::FEATURES.keys
      tried = found(:value, oids) do |oid|
        { oid => [Offered::FEATURES.fetch(oid).call(key_of(access), access.dn('globals/secret'))] }
      end
      expect(tried).to eq({})
    end

    # Otherwise the server refuses the request itself, and nothing is tried.
    it 'are tried with requests that the server understands' do
      oids = (offered('supportedControl') & Offered::CONTROLS.keys).reject { |oid| Offered::CONTROLS[oid].is_a?(String) }
      plant(:first, access)
      refused = oids.reject do |oid|
        requests = requests(oid, access).select { |(name, _), _| %i[all compare modify].include?(name) }
        requests = requests.first(1).to_h if oid == '2.16.840.1.113730.3.4.9' && !access.slapd?
        codes = answers('root', access, requests).values.map { |all| all.last&.code }
        requests.empty? || (codes & [0, 5, 6, 122]).any?
      end
      expect(refused).to eq([])
    end

    # docs/access.md said that OpenLDAP is exact about this, also with the overlay sssvlv.
    it 'tell the order of values to users who may list, of which plan warns' do
      names = Simpkv::Access::Names.new(*access.section.values_at('users_dn', 'roles_dn'))
      kind = access.slapd? ? 'openldap' : '389ds'
      rules = Simpkv::Access::ServerRules.new(access.root, access.settings, names, access.section, kind)
      told = telling('lister', access, requests('1.2.840.113556.1.4.473', access)).fetch(:value)
      expect(told.map(&:first)).to include(:all)
      expect(rules.changes([lists(access)], [], [])[:warnings]).to include(['listers', /sorts keys by their values/])
    end

    # As it is installed, 389-DS tells everybody who binds which values match a filter.
    it 'are found if they tell values', if: server == Ds389 do
      open = start(server, views: true)
      request = { view: [searches(open).fetch(:either), controls('2.16.840.1.113730.3.4.9').first] }
      expect(%w[nobody reader].map { |user| telling(user, open, request) })
        .to eq([{ value: [:view], existence: [:view] }] * 2)
    ensure
      open&.stop
    end

    # The first event that the reader gets is that of its own folder, though the secret was changed before.
    it 'tell no values to users without a right: persistent search', if: server == Ds389 do
      value = BareLdap.sequence(BareLdap.integer(15), BareLdap.boolean(true), BareLdap.boolean(true))
      control = BareLdap.control('2.16.840.1.113730.3.4.3', value)
      plant(:none, access)
      reader, root = %w[reader root].map { |user| client(user, access) }
      [reader, root].each do |client|
        client.send_request(BareLdap.search('dc=simp', 2, BareLdap.present('objectClass'), '*'), control)
      end
      plant(:first, access)
      nil until root.receive.bytes.include?('aaa')
      access.root.put('globals/open/k', %({"value":"#{SecureRandom.hex(4)}"}))
      expect(reader.receive.bytes).to include(access.dn('globals/open/k', :key))
    ensure
      [reader, root].compact.each(&:close)
    end
  end
end
