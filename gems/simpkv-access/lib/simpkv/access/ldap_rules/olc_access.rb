# frozen_string_literal: true

require 'simpkv/access/names'
require_relative 'ldap_rules'
require_relative 'own_entries'

module Simpkv
  module Access
    # The access rules of OpenLDAP: values of `olcAccess` of the database, which have an order. slapd stops at the first
    # rule that matches, and in it at the first `by` that matches. So the rules of a prefix come before those of the
    # prefixes around it, and also name the roles of those prefixes. There, a member of such a role has exactly the
    # rights of its roles. For all other identities, slapd goes on to the rules of the site, which follow.
    class OlcAccess < LdapRules
      INDEX = /\A\{(\d+)\}/.freeze
      TARGET = /\Ato dn\.(?:base|exact|one|onelevel|sub|subtree|children)="(?<dn>(?:[^"\\]|\\.)*)"/.freeze
      GROUP = %r{ by group(?:/[\w-]+/[\w-]+)?(?:\.exact)?="(?<dn>(?:[^"\\]|\\.)*)"}.freeze

      # The number of texts of the server that are remembered.
      REMEMBERED = 20_000

      # The privileges of slapd's levels, and of those that have no name. With `a`, an entry can be added that has the
      # value.
      LEVELS = { 'write' => 'wrscxd', '=arscxd' => 'arscxd', '=wd' => 'wd', '=ad' => 'ad', 'read' => 'rscxd',
                 'disclose' => 'd' }.freeze

      # The levels with the privilege to add.
      ADDING = { 'read' => '=arscxd', 'disclose' => '=ad' }.freeze

      # Entries that can bind are not simpkv's: nobody makes an account by writing a key or a folder.
      FILTERS = {
        'keys' => '(&(objectClass=simpkvEntry)(!(userPassword=*)))',
        'plain' => '(&(objectClass=organizationalUnit)(!(userPassword=*)))',
        'hex' => '(&(|(objectClass=simpkvFolder)(objectClass=organizationalUnit))(!(userPassword=*)))'
      }.freeze

      # A rule of a prefix: `kind` is nil, keys or folders; `attributes` is nil for all; `pattern` is that of the
      # values of its only attribute, or nil for all; `levels` has those of the groups.
      Row = Struct.new(:kind, :attributes, :pattern, :levels)
      private_constant :INDEX, :TARGET, :GROUP, :REMEMBERED, :LEVELS, :ADDING, :FILTERS, :Row

      # @param below [String] the DN of the instance: rules with another target are not simpkv's
      # @param roles_dn [String] each rule of simpkv names a group below it
      # @param layout [String] plain or hex
      # @param attributes [Array<String>] those that simpkv's entries do not have, of {OwnEntries.attributes_beyond}
      # @param foreign [Array<String>] the DNs of groups there that simpkv has not made: rules of the site name them
      def initialize(below:, roles_dn:, layout:, attributes:, foreign: [])
        super()
        @below = below
        @roles_dn = roles_dn
        @layout = layout
        @attributes = attributes
        @folders = FILTERS.fetch(layout)
        @bare = {}
        @foreign = foreign.to_h { |group| [Names.normalized(group), true] }
      end

      # @return [String]
      def attribute
        'olcAccess'
      end

      # @param grants [Array<Grant>]
      # @return [Array<String>] in their order, without numbers
      def rules(grants)
        return @rules if @grants.equal?(grants)

        prefixes = grants.map(&:dn).uniq.sort_by { |dn| [-dn.length, dn] }
        @grants = grants
        @rules = guard(grants) +
                 prefixes.flat_map { |dn| compact(rows(dn, grants)).map { |row| text(dn, row) } }
      end

      # slapd compares the values of a new entry with the rules only if the database says so. Without that, the right to
      # add a folder is the right to add any entry with that class, such as an account.
      #
      # @param grants [Array<Grant>]
      # @return [Hash{String => String}] the other attributes that the database needs, beside the rules
      def settings(grants)
        writers?(grants) ? { 'olcAddContentAcl' => 'TRUE' } : {}
      end

      # A rule of simpkv to which somebody has added identities still counts as simpkv's.
      #
      # @param value [String] with or without its number
      # @return [Boolean]
      def ours?(value)
        text = bare(value)
        return true if guarding?(text)

        target = text[TARGET, :dn]
        return false unless target && below?(target, @below)

        text.scan(GROUP).flatten.any? { |group| below?(group, @roles_dn) && !@foreign.key?(Names.normalized(group)) }
      end

      # @param value [String] one of simpkv's, or of {#settings}
      # @param grants [Array<Grant>]
      # @return [Boolean] whether its folder is that of one of the grants, or below it; or it concerns all of them
      def about?(value, grants)
        text = bare(value)
        target = text[TARGET, :dn]
        target.nil? || guarding?(text) || grants.any? { |grant| below?(target, grant.dn) }
      end

      # @param values [Array<String>] of the database
      # @param grants [Array<Grant>]
      # @yieldparam rule [String] without a block, and if simpkv's rules are in another order, all rules count
      # @yieldreturn [Boolean] whether to add or delete this rule
      # @return [Array<Array(Symbol, String, Array<String>)>] for `modify_entry`; none if nothing differs
      def changes(values, grants, &concerned)
        values = in_order(values)
        wanted = rules(grants)
        ordered = ordered?(values, wanted)
        concerned = ->(_rule) { true } unless concerned && ordered
        kept = ordered ? wanted & bare_ours(values) : []
        delete = ours(values).select { |value| !kept.include?(bare(value)) && concerned.call(bare(value)) }
        renumbered(delete, (wanted - kept).select(&concerned), wanted, bare_ours(values - delete))
      end

      # Returns changes that only add rules: each new one follows the one before it in {#rules}. Clients without a role
      # of a new rule go on to the old ones.
      #
      # @return [Array, nil] nil if the order of the rules on the server is another one
      def additions(values, grants, &concerned)
        values = in_order(values)
        wanted = rules(grants)
        present = bare_ours(values)
        return unless ordered?(values, wanted) || (present & wanted).empty?

        add = wanted - present
        renumbered([], concerned ? add.select(&concerned) : add, wanted, present)
      end

      # @param values [Array<String>] of the database
      # @return [Array<String>] the rules of the site, in their order
      def others(values)
        in_order(values).reject { |value| ours?(value) }
      end

      private

      # @return [Boolean] whether simpkv's rules come first, each once, and those that are wanted in their order
      def ordered?(values, wanted)
        ours = bare_ours(values)
        values.first(ours.length).all? { |value| ours?(value) } && ours.uniq.length == ours.length &&
          (ours & wanted) == (wanted & ours)
      end

      # slapd renumbers after each value. So the last ones are deleted first, and the first ones added first.
      #
      # @param stay [Array<String>] the rules that are neither deleted nor added
      # @return (see #changes)
      def renumbered(delete, add, wanted, stay)
        order = wanted.each_with_index.to_h
        add = add.map do |rule|
          before = stay.rindex { |other| order.key?(other) && order[other] < order[rule] }
          place = before ? before + 1 : 0
          stay.insert(place, rule)
          "{#{place}}#{rule}"
        end
        [[:delete, attribute, delete.reverse], [:add, attribute, add]].reject { |*, list| list.empty? }
      end

      def bare_ours(values)
        ours(values).map { |value| bare(value) }
      end

      def in_order(values)
        values.sort_by { |value| value[INDEX, 1].to_i }
      end

      # Remembers the texts, because a change takes several looks at each rule.
      #
      # @return [String] the text of a rule as {rules} writes it: slapd may spell it in other ways
      def bare(value)
        @bare.clear if @bare.length > REMEMBERED
        @bare[value] ||= respelled(value)
      end

      def respelled(value)
        text = value.sub(INDEX, '').strip.gsub(/\s+/, ' ').gsub(' +0 ', ' ').sub(/ filter=([^" ]+)/, ' filter="\1"')
        text.gsub('dn.sub=', 'dn.subtree=').gsub(GROUP) { %( by group="#{Regexp.last_match[:dn]}") }
      end

      # ---- Levels ----

      # A writer, who may add and delete an entry, may also rename it, because slapd checks no right on the new name. A
      # folder that is renamed to `objectClass=posixAccount+uid=...` is an account. With this rule, nobody can bind as
      # an entry among the keys, and nobody finds or reads what makes an account of it.
      def guard(grants)
        writers?(grants) ? ["#{[guarded, *@attributes].join(',')} by * none"] : []
      end

      # @return [Boolean] whether it is the rule of {guard}, also if the server had another schema when it was made
      def guarding?(text)
        text.start_with?("#{guarded} ", "#{guarded},") && text.match?(/\A\S+ \S+ \S+ by \* none\z/)
      end

      def guarded
        %(to dn.subtree="#{quoted(@below)}" attrs=userPassword)
      end

      def writers?(grants)
        grants.any? { |grant| grant.rights.include?('write') }
      end

      # The rights of the groups on a prefix: those of its own grants, and those of the prefixes around it.
      def rights(dn, grants)
        grants.select { |grant| below?(dn, grant.dn) }.each_with_object({}) do |grant, all|
          grant.groups.each { |group| all[group] = all.fetch(group, []) | Access.expand(grant.rights) }
        end
      end

      def rows(dn, grants)
        rights = rights(dn, grants)
        row = lambda do |kind, attributes, pattern = nil, &level|
          Row.new(kind, attributes, pattern, rights.transform_values { |all| level.call(all) })
        end
        key_rows(row) + folder_rows(row)
      end

      def key_rows(row)
        [row.call('keys', %w[simpkvJsonValue]) { |rights| value_level(rights) },
         row.call('keys', %w[entry]) { |rights| rights.include?('write') ? 'write' : 'read' },
         *own_rows(row, 'keys') { |*| 'read' },
         row.call('keys', nil) { |*| 'read' }]
      end

      # To delete or move an entry takes the privilege to write the `children` of the entry above, which no rule gives:
      # the prefix's own folder stays, unless it is inside another prefix that may be written. With that privilege, a
      # folder could also be moved out of the prefix, as slapd checks no privilege on the new name.
      def folder_rows(row)
        [row.call('folders', %w[children entry]) { |rights| changing(rights) },
         *own_rows(row, 'folders') { |rights| reading(rights) },
         row.call(nil, nil) { |rights| reading(rights) }]
      end

      # The values of a new entry, beside its document: see {#settings}.
      #
      # @yieldreturn [String] the level of those who may not write
      def own_rows(row, kind)
        level = ->(rights) { rights.include?('write') ? ADDING.fetch(yield(rights)) : yield(rights) }
        classes = "^(#{OwnEntries::CLASSES.fetch(@layout).join('|')})$"
        [row.call(kind, OwnEntries::NAMING.fetch(@layout), &level), row.call(kind, %w[objectClass], classes, &level)]
      end

      # A search below a folder needs a privilege on the folder's entry, which the read of a known key does not need.
      def reading(rights)
        rights.include?('list') ? 'read' : 'disclose'
      end

      def changing(rights)
        return reading(rights) unless rights.include?('write')

        rights.include?('list') ? 'write' : '=wd'
      end

      def value_level(rights)
        return 'write' if rights.include?('write')

        rights.include?('read') ? 'read' : 'disclose'
      end

      # ---- Rows ----

      # Leaves out the rows that change nothing, and joins those that differ in their attributes alone.
      def compact(rows)
        needed = rows.each_with_index.reject { |row, i| redundant?(row, rows.drop(i + 1)) }.map(&:first)
        needed.chunk_while { |a, b| joinable?(a, b) }.map do |same|
          Row.new(same[0].kind, joined(same.map(&:attributes)), same[0].pattern, same[0].levels)
        end
      end

      def joinable?(row, other)
        [row.pattern, other.pattern].none? && [row.kind, row.levels] == [other.kind, other.levels]
      end

      def redundant?(row, later)
        next_one = later.find { |other| overlap?(row, other) }
        !next_one.nil? && next_one.levels == row.levels
      end

      # The attribute lists of two rows have no name in common.
      def overlap?(row, other)
        (other.kind.nil? || other.kind == row.kind) && other.attributes.nil?
      end

      def joined(lists)
        lists.flatten.sort unless lists.include?(nil)
      end

      # ---- Texts ----

      def text(dn, row)
        filter = { 'keys' => FILTERS['keys'], 'folders' => @folders }[row.kind]
        [%(to dn.subtree="#{quoted(dn)}"), *(%(filter="#{filter}") if filter),
         *("attrs=#{row.attributes.join(',')}" if row.attributes),
         *(%(val.regex="#{row.pattern}") if row.pattern), *clauses(row.levels), 'by * break'].join(' ')
      end

      # The first `by` that matches counts. So the groups come in the order of their levels; if neither of two levels
      # includes the other one, a member of both groups gets both.
      def clauses(levels)
        sorted = levels.sort_by { |group, level| [-LEVELS[level].length, group] }
        return sorted.map { |group, level| "#{by(group)} #{level}" } if chain?(sorted.map(&:last))

        sorted.map { |group, level| "#{by(group)} +#{LEVELS[level]} continue" } +
          sorted.map { |group, _| "#{by(group)} stop" }
      end

      def chain?(levels)
        levels.each_cons(2).all? { |more, less| (LEVELS[less].chars - LEVELS[more].chars).empty? }
      end

      def by(group)
        %(by group="#{quoted(group)}")
      end

      # In cn=config, the next quote ends a text, and a backslash is a character as any other.
      def quoted(name)
        name.gsub(/\\.|"/m) { |part| part.end_with?('"') ? '\\22' : part }
      end
    end
  end
end
