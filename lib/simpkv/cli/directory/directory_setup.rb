# frozen_string_literal: true

require 'simpkv'
require 'simpkv/cli/directory/base_entry'
require 'simpkv/cli/directory/directory_schema'
require 'simpkv/cli/failure'
require 'simpkv/cli/output'
require 'simpkv/cli/directory/replica_rules'

module Simpkv
  module Cli
    # The files of schema/, with the names of a site in place of the sample names.
    class DirectorySetup
      # The sample names.
      SAMPLE_BASE = 'ou=simpkv,o=puppet,dc=simp'
      SAMPLE_IDENTITY = 'cn=simpkv,dc=simp'
      SAMPLE_DATABASE = { 'openldap' => '{1}mdb', '389ds' => 'userRoot' }.freeze
      SAMPLE_INDEX = 'simpkvKey'

      # A line about the names to replace.
      NOTE = /\A#:/.freeze
      # A value that needs no base64 in LDIF.
      SAFE = /\A(?![ :<])[\x20-\x7e]*(?<! )\z/.freeze
      private_constant :NOTE, :SAFE

      # @param server [String] `openldap` or `389ds`
      # @param layout [String] `plain` or `hex`
      # @param title [String, nil] of the backend, for a comment; nil keeps the notes about names to replace
      # @param base_dn [String]
      # @param identity [String] the bind DN
      # @param database [String, nil] the server's name of the database that holds the base DN
      # @param replicators [Array<String>] the bind DNs of replicas of OpenLDAP
      # @raise [Failure] a name that such a file cannot contain
      def initialize(server, layout, title: nil, base_dn: SAMPLE_BASE, identity: SAMPLE_IDENTITY, database: nil, # rubocop:disable Metrics/ParameterLists
                     replicators: [])
        @server = server
        @layout = layout
        @title = title
        @names = { SAMPLE_BASE => base_dn, SAMPLE_IDENTITY => identity }
        @database = database || SAMPLE_DATABASE.fetch(server)
        @replicators = replicators
        check_names
      end

      # @param form [String] one of {DirectorySchema.forms}
      # @return [String]
      def text(form)
        body = DirectorySchema::FORMS_WITH_NAMES.include?(form) ? filled(form) : read(form)
        body = "#{schema_to_add}\n#{body}" if form == 'config'
        @title ? "# For #{@title}.\n#{body}" : body
      end

      private

      def read(form)
        File.read(DirectorySchema.file(@server, @layout, form), encoding: Encoding::UTF_8)
      end

      # ldapmodify needs the change type of a new entry.
      def schema_to_add
        read('ldif').sub(/^#   ldapadd .*\n/, '').sub(/^dn: .*\n/) { |line| "#{line}changetype: add\n" }
      end

      def filled(form)
        lines = read(form).lines.reject { |line| @title && line.match?(NOTE) }
        text = form == 'base' && @title ? base_entries(lines) : for_layout(lines.join)
        return with_names(text, '\\\\') if DirectorySchema.file(@server, @layout, form).end_with?('.conf')

        with_names(text, '\\').lines(chomp: true).map { |line| "#{encoded(line)}\n" }.join
      end

      # @param backslash [String] slapd reads two backslashes in slapd.conf as one, and in LDIF as two
      def with_names(text, backslash)
        text = text.lines(chomp: true).map { |line| "#{fill(line, backslash)}\n" }.join
        ReplicaRules.new(@replicators.map { |dn| escaped(dn, backslash) }).add_to(text)
      end

      def base_entries(lines)
        entries = BaseEntry.chain(@names[SAMPLE_BASE]).map do |dn|
          attributes = BaseEntry.attributes(dn).flat_map { |name, values| values.map { |value| "#{name}: #{value}" } }
          ["dn: #{dn}", *attributes].join("\n")
        end
        "#{lines.take_while { |line| line.start_with?('#') }.join}#{entries.join("\n\n")}\n"
      end

      # Replaces the sample attribute in indexes by those of the layout.
      def for_layout(text)
        names = DirectorySchema.attributes_to_index(@layout)
        records = text.split("\n\n").flat_map do |record|
          next names.map { |name| record.gsub(SAMPLE_INDEX, name) } if record.include?("cn: #{SAMPLE_INDEX}")

          record.gsub("--attr #{SAMPLE_INDEX}", names.map { |name| "--attr #{name}" }.join(' '))
                .gsub(SAMPLE_INDEX, names.join(','))
        end
        records.join("\n\n")
      end

      # slapd needs other escapes between quotes than in the DN of an entry. An ACI does not.
      def fill(line, backslash)
        samples = Regexp.union(@names.keys)
        line.gsub(/"(#{samples})"/) { "\"#{escaped(@names[Regexp.last_match(1)], backslash)}\"" }
            .gsub(%r{"ldap:///(#{samples})"}) { "\"ldap:///#{@names[Regexp.last_match(1)]}\"" }
            .sub(/\Adn: (#{samples})\z/) { "dn: #{@names[Regexp.last_match(1)]}" }
            .sub("olcDatabase=#{SAMPLE_DATABASE['openldap']},") { "olcDatabase=#{@database}," }
            .sub("cn=#{SAMPLE_DATABASE['389ds']},cn=ldbm") { "cn=#{@database},cn=ldbm" }
            .sub(/\A(#   dsconf .*) #{SAMPLE_DATABASE['389ds']}\z/) { "#{Regexp.last_match(1)} #{@database}" }
            .sub(/\A# #{Regexp.escape(SAMPLE_DATABASE['openldap'])} is/) { "# #{@database} is" }
      end

      # Encodes a value that is not plain ASCII in base64.
      def encoded(line)
        name, value = line.split(': ', 2)
        return line if value.nil? || line.start_with?('#') || value.match?(SAFE)

        "#{name}:: #{[value].pack('m0')}"
      end

      # @return [String] the DN between the quotes of a rule
      def escaped(dn, backslash)
        quotable(dn).gsub('\\') { backslash }
      end

      # @return [String] the DN with escapes for the characters that a quoted text cannot contain
      def quotable(dn)
        dn.gsub(/\\([^0-9A-Fa-f])|(")/) { format('\\%02X', (Regexp.last_match(1) || Regexp.last_match(2)).ord) }
      end

      def check_names
        check([*@names.values, @database, *@replicators], /[[:cntrl:]]/, 'control characters')
        return unless @server == '389ds'

        check([@names[SAMPLE_IDENTITY]], /["?*]|\|\|/, "'\"', '?', '*' or '||', which mean something in an ACI")
      end

      def check(names, pattern, what)
        name = names.find { |each| each.match?(pattern) }
        raise Failure.new("'#{Output.name(name)}' has #{what}: no file can be printed for it", Failure::CONFIG) if name
      end
    end
  end
end
