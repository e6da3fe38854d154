# frozen_string_literal: true

require 'simpkv/access/aci'
require 'simpkv/access/names'
require 'simpkv/access/olc_access'

module Simpkv
  module Access
    # The access rules of a server: on 389-DS the ACIs of the base entry, on OpenLDAP those of its database in
    # `cn=config`.
    class ServerRules
      # The usual name, for an administrator.
      SOME_DATABASE = 'olcDatabase={1}mdb,cn=config'
      private_constant :SOME_DATABASE

      # @param store [Store] of type ldap
      # @param settings [Hash{String => Object}] of its backend
      # @param names [Names]
      # @param options [Hash{String => Object}] of `access`
      # @param server [String] `389ds` or `openldap`
      def initialize(store, settings, names, options, server)
        @store = store
        @settings = settings
        @names = names
        @options = options
        @server = server
      end

      # @param grants [Array<Grants::Grant>]
      # @param foreign [Array<String>] the DNs of groups below `roles_dn` that simpkv has not made
      # @param printed [Array<String>] the rules that an administrator was asked to apply
      # @yieldparam rule [String] without a block, and if an administrator changes the rules, all count
      # @yieldreturn [Boolean] whether to add or delete this rule
      # @return [Hash] `add`, `delete`: rules; `changes`: those of {Store#modify_entry}; `additions`: those that delete
      #   nothing, or nil if there is no such step; `ldif`: the changes for an administrator; `by_hand`: whether the
      #   identity may not read `cn=config`; `rules`: all of them; `warnings`
      # @raise [Error]
      def changes(grants, foreign, printed, &concerned)
        wanted = wanted(grants)
        language = language_of_server(foreign)
        by_hand, place, values = current(language.attribute, printed)
        concerned = nil if by_hand
        changes = language.changes(values, wanted, &concerned)
        kinds = changes.group_by(&:first).transform_values { |same| same.flat_map(&:last) }
        { add: kinds.fetch(:add, []), delete: kinds.fetch(:delete, []), changes: changes, by_hand: by_hand,
          additions: language.additions(values, wanted, &concerned), ldif: language.ldif_of(place, changes),
          rules: language.rules(wanted), warnings: warnings(grants) }
      end

      # Makes the changes at once, or none of them.
      #
      # @param changes [Hash] from {#changes}
      # @return [void]
      # @raise [ConflictError] an administrator has changed the rules meanwhile
      # @raise [DeniedError] the identity may not change the rules; the message has the LDIF
      def perform(changes)
        return if holder.modify_entry(place, changes[:changes])

        raise ConflictError, "another client has changed the rules in '#{place}'"
      rescue DeniedError => e
        raise DeniedError, "#{e.message}: set 'config_dn' of 'access', or let an administrator apply this:\n" \
                           "#{changes[:ldif]}", cause: nil
      end

      # @param mine [Array<Grants::Grant>]
      # @param all [Array<Grants::Grant>]
      # @return [Proc] returns true for a rule on which a grant of `mine` has an effect, or none of `all`
      def chooser(mine, all)
        mine = translated(mine)
        all = translated(all)
        language = language_of_server([])
        ->(rule) { language.about?(rule, mine) || !language.about?(rule, all) }
      end

      private

      def warnings(grants)
        return [] unless @server == '389ds'

        grants.select { |grant| grant.rights.include?('read') && !grant.rights.include?('list') }.map do |grant|
          "roles.#{grant.role}: '#{grant.prefix}': 389-DS lets those list who may read"
        end
      end

      # @return [Array<Grant>] the same array for the same grants, so that their rules are made once
      def wanted(grants)
        return @wanted if grants.equal?(@grants)

        @grants = grants
        @wanted = translated(grants)
      end

      def translated(grants)
        grants.map do |grant|
          Grant.new(role: grant.role, prefix: grant.prefix, dn: dn(grant.prefix.chomp('/*')), rights: grant.rights,
                    groups: grant.groups)
        end
      end

      def dn(path)
        Native.dn_from_path(@settings['layout'].to_sym, :folder, @settings['base_dn'], @settings['id'], path)
      end

      # @return [Aci, OlcAccess]
      def language_of_server(foreign)
        @languages ||= {}
        @languages[foreign] ||= begin
          below = dn('globals').sub(/\A(\\.|[^,\\])*,/m, '')
          if @server == '389ds'
            Aci.new(below: below)
          else
            OlcAccess.new(below: below, roles_dn: @names.roles_dn, layout: @settings['layout'], foreign: foreign)
          end
        end
      end

      # @return [Array(Boolean, String, Array<String>)] whether an administrator changes the rules, the DN of the entry
      #   that has them, and the rules that it has
      def current(attribute, printed)
        entry = holder.read_entry(place, [attribute])
        [false, place, entry.find { |name, _| name.casecmp?(attribute) }&.last.to_a]
      rescue DeniedError, NotFoundError => e
        raise if @server == '389ds'
        raise e.class, in_words_of_access(e), cause: nil if separate?

        [true, SOME_DATABASE, printed.each_with_index.map { |rule, number| "{#{number}}#{rule}" }]
      end

      # @return [Store] whose identity changes rules
      def holder
        @holder ||= separate? ? config_store : @store
      end

      # @return [Boolean] whether the rules have an identity or a server of their own
      def separate?
        @server != '389ds' && @options.values_at('config_uri', 'config_dn').any?
      end

      def config_store
        uri, dn, file = @options.values_at('config_uri', 'config_dn', 'config_pw_file')
        identity = { 'ldap_uri' => uri || @settings['ldap_uri'], 'write_uri' => nil, 'admin_dn' => dn,
                     'admin_pw_file' => file }
        LdapAccess.open(@settings.merge(identity).compact)
      rescue InvalidError => e
        raise InvalidError, in_words_of_access(e), cause: nil
      end

      # @return [String] the message with the options of `access` in place of those of a backend
      def in_words_of_access(error)
        "cn=config: #{error.message.gsub(/'(?:admin|ldap)_(dn|pw_file|uri)'/, "'config_\\1'")}"
      end

      # @return [String] the DN of the entry that has the rules
      def place
        @place ||= @server == '389ds' ? @settings['base_dn'] : database
      end

      # @return [String] the DN of the database that holds the base entry
      def database
        base = ",#{Names.normalized(@settings['base_dn'])}"
        found = holder.entries('cn=config', %w[olcSuffix]).transform_values { |attributes| attributes.values.flatten }
        held = found.select do |_, suffixes|
          suffixes.any? { |suffix| base.end_with?(",#{Names.normalized(suffix)}") }
        end
        dn, = held.max_by { |_, suffixes| suffixes.map(&:length).max }
        dn || raise(NotFoundError, "no database in 'cn=config' has '#{@settings['base_dn']}', or the identity may " \
                                   "not read it: set 'config_uri', 'config_dn' and 'config_pw_file' of 'access'")
      end
    end
  end
end
