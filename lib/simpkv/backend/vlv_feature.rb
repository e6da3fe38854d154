# frozen_string_literal: true

require 'simpkv'
require 'simpkv/backend/feature_rule'
require 'simpkv/backend/ldap_search'

module Simpkv
  # Virtual list views of 389-DS. The server counts the entries that match a filter, and compares their values with one
  # that the client names, without a look at access rules: a client without any right finds out each value. The `aci` of
  # a feature says who may use these views. Each server has its own feature, whose default is everybody who binds
  # (docs/adr/0083).
  class VlvFeature
    FEATURE = '2.16.840.1.113730.3.4.9'
    DN = "oid=#{FEATURE},cn=features,cn=config"

    # Only identities with rights on the configuration see this entry; they see `aci` as well.
    CONTAINER = 'cn=features,cn=config'

    # The entries whose rules concern the feature.
    PLACES = [DN, CONTAINER, 'cn=config'].freeze
    DATABASES = 'cn=ldbm database,cn=plugins,cn=config'

    # Controls: the order of values, and a view of one entry from a value on. The attribute has no ordering rule:
    # OpenLDAP wants the client to name one, and 389-DS 2.3.1 crashes if it does.
    ORDERS = { '389ds' => "\x30\x13\x30\x11\x04\x0fsimpkvJsonValue",
               'openldap' => "\x30\x2b\x30\x29\x04\x0fsimpkvJsonValue\x80\x16caseExactOrderingMatch" }
             .transform_values { |order| "!1.2.840.113556.1.4.473=::#{[order].pack('m0')}" }.freeze
    VIEW = "!#{FEATURE}=::#{["\x30\x09\x02\x01\x00\x02\x01\x00\x81\x01{"].pack('m0')}"

    # Result codes: the control or the ordering rule is unknown, the base is hidden, the right is missing, the server
    # is unwilling.
    REFUSALS = [12, 18, 32, 50, 53].freeze
    NO_INDEX = 'no index of the server is for such views; its access log has VLV where a client uses them'
    private_constant :FEATURE, :DN, :CONTAINER, :PLACES, :DATABASES, :ORDERS, :VIEW, :REFUSALS, :NO_INDEX

    # uri:: of the server
    # state:: `:open` or `:closed` to those who bind; or the reason why it is not known
    # rules:: the values of `aci` that open it; none if the identity may not see them
    # used_by:: the indexes for such views, in words
    Server = Struct.new(:uri, :state, :rules, :used_by) do
      # @return [String] what an identity without rights may do
      def why
        return "#{uri}: it is not known who may use virtual list views: #{state}" unless state == :open

        "#{uri}: 389-DS counts and compares hidden values for everybody who binds (virtual list views)"
      end

      # @return [String, nil] nil if the server is closed
      def warning
        "#{why}#{fix if state == :open}" unless state == :closed
      end

      # @return [Hash] the data of the {Step} that deletes the rules
      def to_step
        { add: [], delete: rules, used_by: used_by }
      end

      private

      def fix
        return ': let an administrator of the server load simpkv schema --server 389ds --form access' if rules.empty?

        ": 'simpkv access apply --narrow-vlv' deletes the server-wide rule #{rules.join(', ')} of '#{DN}'; " +
          used_by.join('; ')
      end
    end

    # @param store [Store]
    # @return [Boolean] whether the server offers virtual list views to anybody
    def self.offered?(store)
      store.directory.read_entry('', %w[supportedControl]).any? { |_, values| values.include?(FEATURE) }
    end

    # Tries to find out something about a key that the identity of a backend may not see. A client that may use these
    # views can crash 389-DS 2.3.1 by them, so this asks first whether it may, and then for a view that the server
    # should refuse.
    #
    # @param settings [Hash{String => Object}] of a backend of type ldap, with this identity
    # @param dn [String] of the key, whose name needs no escapes
    # @param server [String] `389ds` or `openldap`
    # @return [Boolean] whether the identity may use the views of 389-DS, or the server counts the key
    # @raise [UnavailableError] ldapsearch is missing, or the identity cannot bind
    def self.shows?(settings, dn, server)
      # Other servers may not have the key and the user yet.
      settings = settings.merge('ldap_uri' => settings['write_uri'] || settings['ldap_uri'])
      new(settings).usable? || counts?(settings, ORDERS.fetch(server), *dn.split(',', 2))
    end

    # @return [Boolean]
    def self.counts?(settings, order, name, folder)
      words = ['-E', order, '-E', VIEW, "(#{name})", '1.1']
      text = LdapSearch.text(settings.merge('base_dn' => folder), words, REFUSALS)
      text.match?(/^# vlvResult.*count=[1-9]/)
    end
    private_class_method :counts?

    # @param settings [Hash{String => Object}] of a backend on 389-DS
    def initialize(settings)
      @settings = settings
    end

    # @param uris [Array<String>] by default, of all servers of the backend: the rules are not replicated
    # @return [Array<Server>]
    def servers(uris = LdapAccess.uris(@settings).uniq)
      uris.map { |uri| server(uri) }
    end

    # @return [Boolean] whether the identity may use the views of a server
    def usable?
      LdapAccess.uris(@settings).any? do |uri|
        at(uri) { |directory| visible?(directory, DN) }
      rescue Error # it is not known of this server
        false
      end
    end

    # @return [Boolean] whether the backend names a server
    def named?(uri)
      LdapAccess.uris(@settings).include?(uri)
    end

    # @return [Boolean] whether a server answers, if only with a refusal
    def answers?(uri)
      at(uri) { |directory| directory.read_entry('', %w[1.1]) }
      true
    rescue Error => e
      !e.is_a?(TransientError)
    end

    # Deletes rules.
    #
    # @return [void]
    # @raise [ConflictError] another client has changed the rules meanwhile
    # @raise [DeniedError] the identity may not
    def delete(uri, rules)
      change(uri) { |directory| directory.modify_entry(DN, [[:delete, 'aci', rules]]) }
    end

    # Puts deleted rules back.
    #
    # @return [void]
    # @raise (see #delete)
    def restore(uri, rules)
      change(uri) do |directory|
        missing = rules - values(directory)
        missing.empty? || directory.modify_entry(DN, [[:add, 'aci', missing]])
      end
    end

    private

    def change(uri)
      at(uri) { |directory| yield(directory) || raise(ConflictError, "another client has changed '#{DN}'") }
    rescue DeniedError => e
      raise DeniedError, "#{e.message}: let an administrator of the server do this", cause: nil
    end

    def server(uri)
      at(uri) do |directory|
        open = values(directory).select { |rule| FeatureRule.for_anybody?(rule) }
        next Server.new(uri, :open, open, used_by(directory)) if open.any? || !visible?(directory, CONTAINER)

        Server.new(uri, doubt(directory) || :closed, [], [])
      end
    rescue NotFoundError, DeniedError
      # The feature's rules decide about this entry and about its use.
      Server.new(uri, :closed, [], [])
    rescue Error => e
      Server.new(uri, e.message, [], [])
    end

    # @return [String, nil] why the views may be for everybody, although no rule says so
    def doubt(directory)
      rules = PLACES.flat_map { |dn| values(directory, dn).map { |rule| [dn, rule] } }
      dn, rule = rules.find { |_, each| !FeatureRule.for_names?(each) }
      "the rule #{rule} of '#{dn}' may permit it to everybody" if rule
    end

    # @return [Array<String>]
    # @raise [NotFoundError, DeniedError] for the feature: the identity may not use it
    def values(directory, name = DN)
      directory.read_entry(name, %w[objectClass aci]).find { |each, _| each.casecmp?('aci') }&.last.to_a
    end

    def visible?(directory, name)
      directory.read_entry(name, %w[objectClass]) && true
    rescue NotFoundError, DeniedError
      false
    end

    # @return [Array<String>] the indexes for such views, or where to look for clients without one
    def used_by(directory)
      databases = directory.entries(DATABASES, %w[1.1])
      searches = databases.keys.flat_map { |name| below(directory, name, 'vlvSearch').keys }
      indexes = searches.map { |name| below(directory, name, 'vlvIndex') }.reduce({}, :merge)
      return [NO_INDEX] if indexes.empty?

      indexes.map { |name, uses| "the index '#{name}' is for such views#{" (used #{uses} times)" if uses}" }
    rescue NotFoundError, DeniedError
      ['the identity may not see the indexes for such views']
    end

    # @return [Hash{String => String, nil}] the entries of a class right below one: their DNs and uses
    def below(directory, name, kind)
      found = directory.entries(name, %w[objectClass vlvUses]).select do |_, entry|
        entry.fetch('objectClass', []).any? { |each| each.casecmp?(kind) }
      end
      found.transform_values { |entry| entry.fetch('vlvUses', []).first }
    end

    def at(uri)
      LdapAccess.with_store(@settings, 'ldap_uri' => uri, 'write_uri' => uri) { |store| yield store.directory }
    end
  end
end
