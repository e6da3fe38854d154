# frozen_string_literal: true

require 'simpkv/access/ldap_rules/aci'
require 'simpkv/access/names'
require 'simpkv/access/ldap_rules/olc_access'
require 'simpkv/access/ldap_rules/site_rules'

module Simpkv
  module Access
    # The access rules of a server: on 389-DS the ACIs of the base entry, on OpenLDAP those of its database in
    # `cn=config`.
    class ServerRules
      # The usual name, for an administrator.
      SOME_DATABASE = 'olcDatabase={1}mdb,cn=config'
      DEBIAN = "lets anybody read, such as Debian's 'to * by * read'"

      # The control that sorts (RFC 2891).
      SORTING = '1.2.840.113556.1.4.473'
      SORTS = 'sorts keys by their values for those who may list, so they can find out the values'
      private_constant :SOME_DATABASE, :DEBIAN, :SORTING, :SORTS

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

      # @param grants [Array<Grant>]
      # @param foreign [Array<String>] the DNs of groups below `roles_dn` that simpkv has not made
      # @param printed [Array<String>] the rules that an administrator was asked to apply
      # @yieldparam rule [String] without a block, and if an administrator changes the rules, all count
      # @yieldreturn [Boolean] whether to add or delete this rule
      # @return [Hash] `add`, `delete`: rules; `changes`: those of `modify_entry`; `additions`: those that delete
      #   nothing, or nil if there is no such step; `ldif`: the changes for an administrator; `by_hand`: whether the
      #   identity may not read `cn=config`; `rules`: all of them; `warnings`, each with its role, or nil for all
      # @raise [Error]
      def changes(grants, foreign, printed, &concerned)
        wanted = wanted(grants)
        language = language_of_server(foreign)
        by_hand, place, entry = current(language, wanted, printed)
        values = entry.fetch(language.attribute, [])
        concerned = nil if by_hand
        rules = language.changes(values, wanted, &concerned)
        settings = by_hand && rules.empty? ? [] : settings(language, wanted, entry)
        additions = language.additions(values, wanted, &concerned)
        texts(rules, settings).merge(
          changes: settings + rules, by_hand: by_hand, additions: additions && (settings + additions),
          ldif: language.ldif(place, settings + rules), rules: language.rules(wanted),
          warnings: warnings(grants) + warnings_of_site(language, values, by_hand, rules).map { |text| [nil, text] }
        )
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

      # @param mine [Array<Grant>]
      # @param all [Array<Grant>]
      # @return [Proc] returns true for a rule on which a grant of `mine` has an effect, or none of `all`
      def chooser(mine, all)
        mine = translated(mine)
        all = translated(all)
        language = language_of_server([])
        ->(rule) { language.about?(rule, mine) || !language.about?(rule, all) }
      end

      private

      def warnings(grants)
        grants.map { |grant| warning(grant) }.compact
      end

      def warning(grant)
        rights = Access.expand(grant.rights) & %w[read list]
        why = if rights == %w[read] && @server == '389ds' then '389-DS lets those list who may read'
              elsif rights == %w[list] && sorts? then "#{sorter} #{SORTS}"
              end
        [grant.role, "roles.#{grant.role}: '#{grant.prefix}': #{why}"] if why
      end

      # Servers that sort do so by values that they do not show, and no rule forbids the control.
      #
      # @return [Boolean]
      def sorts?
        @sorts = @store.directory.read_entry('', %w[supportedControl]).values.flatten.include?(SORTING) if @sorts.nil?
        @sorts
      end

      def sorter
        @server == '389ds' ? '389-DS' : 'the overlay sssvlv'
      end

      # @return [Array<String>] on OpenLDAP, that the rules after those of simpkv let everybody read
      def warnings_of_site(language, values, by_hand, changes)
        return [] if @server == '389ds' || @grants.empty? || (by_hand && changes.empty?)
        return ["roles: the identity may not read 'cn=config': if a rule there #{DEBIAN}, put #{closing}"] if by_hand

        opening = SiteRules.new(language.others(values), LdapAccess.instance_dn(@settings)).opening
        opening ? ["roles: also without one, anybody may read keys, by your rule '#{opening}': put #{closing}"] : []
      end

      # @return [String] the remedy
      def closing
        "'to dn.subtree=\"#{@settings['base_dn']}\" by * none' in front of it, and behind simpkv's rules"
      end

      # @return [Array<Grant>] the same array for the same grants, so that their rules are made once
      def wanted(grants)
        return @wanted if grants.equal?(@grants)

        @grants = grants
        @wanted = translated(grants)
      end

      def translated(grants)
        grants.map { |grant| grant.at(LdapAccess.folder_dn(@settings, grant.prefix.chomp('/*'))) }
      end

      # @return [Aci, OlcAccess]
      def language_of_server(foreign)
        @languages ||= {}
        @languages[foreign] ||= begin
          below = LdapAccess.instance_dn(@settings)
          if @server == '389ds'
            Aci.new(below: below, layout: @settings['layout'],
                    foreign_attributes: OwnEntries.foreign_attributes(@store, @settings['layout']))
          else
            OlcAccess.new(below: below, roles_dn: @names.roles_dn, layout: @settings['layout'], foreign: foreign,
                          attributes: OwnEntries.attributes_beyond(@store, @settings['layout']))
          end
        end
      end

      # @return [Array(Boolean, String, Hash{String => Array<String>})] whether an administrator changes the rules, the
      #   DN of the entry that has them, and the attributes of it that are known
      def current(language, wanted, printed)
        [false, place, attributes([language.attribute, *language.settings(wanted).keys])]
      rescue DeniedError, NotFoundError => e
        raise if @server == '389ds'
        raise e.reworded(in_words_of_access(e)), cause: nil if separate?

        numbered = printed.each_with_index.map { |rule, number| "{#{number}}#{rule}" }
        [true, SOME_DATABASE, { language.attribute => numbered }]
      end

      # @return [Hash{String => Array<String>}] of the entry that has the rules, with these names
      def attributes(names)
        entry = holder.read_entry(place, names)
        names.to_h { |name| [name, entry.find { |key, _| key.casecmp?(name) }&.last.to_a] }
      end

      # @return [Array] the changes of attributes beside the rules, for {Simpkv::Directory#modify_entry}
      def settings(language, wanted, entry)
        language.settings(wanted).reject { |name, value| entry[name] == [value] }
                .map { |name, value| [:replace, name, [value]] }
      end

      # @return [Hash{Symbol => Array<String>}] the lines that changes add and delete
      def texts(rules, settings)
        kinds = rules.group_by(&:first).transform_values { |same| same.flat_map(&:last) }
        { add: settings.map { |_, name, (value)| "#{name}: #{value}" } + kinds.fetch(:add, []),
          delete: kinds.fetch(:delete, []) }
      end

      # @return [Simpkv::Directory] whose identity changes rules
      def holder
        @holder ||= (separate? ? config_store : @store).directory
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
