# frozen_string_literal: true

require_relative 'ldap_rules'
require_relative 'own_entries'

module Simpkv
  module Access
    # The access rules of 389-DS: values of `aci` of the base entry, one for each prefix and right, with the groups of
    # all roles. With 200 ACIs for an entry, the server does not remember the groups of an identity, and a get took up
    # to half a second. ACIs add up. This server does not distinguish between reading a known entry and listing, so
    # `read` includes `list` there.
    class Aci < LdapRules
      NAME = /acl "simpkv roles: (?<prefix>[^" ]+) (?<right>read|list|write)"/.freeze
      TARGET = %r{\(\s*target\s*=\s*"ldap:///(?<dn>[^"]*)"\s*\)}.freeze

      # These would end the text, or the server would read them as wildcards, as parts of a URL or as operators.
      UNSUPPORTED = /["*?%|[:cntrl:]]/.freeze

      # The attributes that no role sees. A rule has to match all others, also those that an entry does not have: before
      # the server tells that an entry does not exist, it checks the right to read an attribute called "1.1" of the
      # folder above it.
      HIDDEN = %w[aci userPassword].freeze

      # A filter of entries by values that could mean something to the server, because `targattrfilters` ignores values
      # with an option (`objectClass;lang-en`). Such a filter also sees the values of a class of service, so it names no
      # attribute that a site is likely to give all entries. It applies to deletions, too, so it does not name
      # ldapSubEntry, the class of the conflict entries that deletetree deletes.
      SPECIAL = [*%w[aci nsRoleDN seeAlso userPassword].map { |name| "(#{name}=*)" },
                 *%w[alias cosSuperDefinition cosTemplate extensibleObject nsRoleDefinition nsView passwordPolicy
                     referral].map { |name| "(objectClass=#{name})" }].join.freeze
      private_constant :NAME, :TARGET, :UNSUPPORTED, :HIDDEN, :SPECIAL

      # @param below [String] the DN of the instance: rules with another target are not simpkv's
      # @param layout [String] plain or hex
      # @param foreign_attributes [Array<String>] of {OwnEntries}: writers cannot add entries with these
      def initialize(below:, layout:, foreign_attributes:)
        super()
        @below = below
        @layout = layout
        @foreign_attributes = foreign_attributes
      end

      # @return [String]
      def attribute
        'aci'
      end

      # @param grants [Array<Grant>]
      # @return [Array<String>]
      # @raise [InvalidError] a DN has a character that an ACI cannot contain
      def rules(grants)
        grants.group_by(&:dn).values.flat_map { |same| texts(same) }
      end

      # @param value [String]
      # @return [Boolean]
      def ours?(value)
        target = value[TARGET, :dn]
        value.match?(NAME) && !target.nil? && below?(target, @below)
      end

      # @param value [String] one of simpkv's
      # @param grants [Array<Grant>]
      # @return [Boolean] whether its folder is that of one of the grants
      def about?(value, grants)
        target = value[TARGET, :dn]
        grants.any? { |grant| grant.dn.casecmp?(target) }
      end

      # @param values [Array<String>] of the base entry
      # @param grants [Array<Grant>]
      # @yieldparam rule [String] without a block, all rules count
      # @yieldreturn [Boolean] whether to add or delete this rule
      # @return [Array<Array(Symbol, String, Array<String>)>] for `modify_entry`; none if nothing differs
      def changes(values, grants, &concerned)
        delete = ours(values) - rules(grants)
        delete = delete.select(&concerned) if concerned
        [*([[:delete, attribute, delete]] unless delete.empty?), *additions(values, grants, &concerned)]
      end

      # @return [Array] those of {#changes} that delete nothing
      def additions(values, grants, &concerned)
        add = rules(grants) - values
        add = add.select(&concerned) if concerned
        add.empty? ? [] : [[:add, attribute, add]]
      end

      private

      # @param grants [Array<Grant>] on one prefix
      def texts(grants)
        readers, others = grants.partition { |grant| Access.expand(grant.rights).include?('read') }
        listers = others.select { |grant| grant.rights.include?('list') }
        writers = readers.select { |grant| grant.rights.include?('write') }
        [reading(readers, 'read', HIDDEN), reading(listers, 'list', [*HIDDEN, 'simpkvJsonValue']),
         writing(writers)].compact
      end

      def reading(grants, right, hidden)
        text(grants, right, %((targetattr!="#{hidden.join(' || ')}")), 'read,search,compare') if grants.any?
      end

      # The prefix's own folder stays.
      def writing(grants)
        return if grants.empty?

        filter = "(&#{own}(!(|#{SPECIAL}))(!(entrydn=#{filter_value(grants.first.dn)})))"
        text(grants, 'write', %[(targetattr="simpkvJsonValue")(targattrfilters="#{addable}")(targetfilter="#{filter}")],
             'write,add,delete')
      end

      # An entry that simpkv does not make could show values of others, give rights away, or bind. The server has no
      # rule for "these attributes and no others", so this one names all others that such an entry can have.
      def addable
        @addable ||= begin
          classes = OwnEntries::CLASSES.fetch(@layout).map { |name| "(objectClass=#{name})" }.join
          ["add=objectClass:(|#{classes})", *@foreign_attributes.map { |name| "#{name}:(!(#{name}=*))" }].join(' && ')
        end
      end

      # @return [String] the filter of an entry that is either a key or a folder
      def own
        classes = (OwnEntries::CLASSES.fetch(@layout) - ['top']).map { |name| "(objectClass=#{name})" }
        "(|#{classes.map { |name| "(&#{name}(!(|#{(classes - [name]).join})))" }.join})"
      end

      def text(grants, right, target, operations)
        groups = grants.flat_map(&:groups).uniq.map { |group| "ldap:///#{checked(group)}" }.join(' || ')
        %[(target="ldap:///#{checked(grants.first.dn)}")#{target}(version 3.0; ] +
          %[acl "simpkv roles: #{grants.first.prefix} #{right}"; allow (#{operations}) groupdn="#{groups}";)]
      end

      def checked(name)
        return name unless name.match?(UNSUPPORTED)

        raise InvalidError, "389-DS has no access rules for the DN '#{name}': one of the characters \" * ? % | is in it"
      end

      def filter_value(name)
        name.gsub(/[\\()]/) { |character| format('\\%02x', character.ord) }
      end
    end
  end
end
