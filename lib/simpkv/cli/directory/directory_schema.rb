# frozen_string_literal: true

module Simpkv
  module Cli
    # The schema of simpkv: the files of the gem, and the definitions of a server.
    class DirectorySchema
      FOLDER = File.expand_path('../../../../schema', __dir__)

      # By server, the file of each form; %s stands for the layout.
      FILES = {
        'openldap' => { 'ldif' => 'openldap/simpkv%s.ldif', 'schema' => 'openldap/simpkv%s.schema',
                        'base' => 'base.ldif', 'access' => 'openldap/access.conf', 'limits' => 'openldap/limits.conf',
                        'config' => 'openldap/config.ldif', 'watch' => 'openldap/watch.ldif' },
        '389ds' => { 'ldif' => '389ds/%s.ldif', 'base' => 'base.ldif', 'access' => '389ds/access.ldif',
                     'limits' => '389ds/limits.ldif' }
      }.freeze

      # The forms with a base DN, a bind DN, a database or attributes of the layout; the others are the schema itself.
      FORMS_WITH_NAMES = %w[base access limits config watch].freeze

      # By server, the text for each layout.
      LAYOUTS = { 'openldap' => { 'plain' => '', 'hex' => '-hex' },
                  '389ds' => { 'plain' => 'plain', 'hex' => 'hex' } }.freeze

      # The definitions that each layout needs.
      NEEDED = {
        'plain' => { 'attributeTypes' => %w[simpkvKey simpkvJsonValue], 'objectClasses' => %w[simpkvEntry] },
        'hex' => { 'attributeTypes' => %w[simpkvHexId simpkvId simpkvJsonValue],
                   'objectClasses' => %w[simpkvEntry simpkvFolder] }
      }.freeze
      # The name that dscreate gives to a database of 389-DS.
      USUAL_DATABASE = 'userRoot'
      private_constant :FOLDER, :FILES, :LAYOUTS, :NEEDED, :USUAL_DATABASE

      # @param server [String] `openldap` or `389ds`
      # @param layout [String] `plain` or `hex`
      # @param form [String] one of {forms}
      # @return [String] the file of the gem
      def self.file(server, layout, form = 'ldif')
        name = FILES.fetch(server).fetch(form)
        File.join(FOLDER, name.include?('%s') ? format(name, LAYOUTS[server].fetch(layout)) : name)
      end

      # @return [Array<String>] the forms for a server: `ldif`, and others
      def self.forms(server)
        FILES.fetch(server).keys
      end

      # @param file [String] with one entry, or one entry to which values are added
      # @return [Array(String, Hash{String => Array<String>})] its DN, and the attributes with their values
      def self.record(file)
        lines = File.read(file).gsub(/^#.*\n/, '').gsub("\n ", '').split("\n")
        pairs = lines.grep_v(/\A(-|changetype: .*|add: .*)?\z/).map { |line| line.split(': ', 2) }
        dn = pairs.shift.last
        [dn, pairs.group_by(&:first).transform_values { |same| same.map(&:last) }]
      end

      def initialize(store, layout)
        @directory = store.directory
        @layout = layout
      end

      # Loads the schema into the server.
      #
      # @return [void]
      # @raise [Simpkv::Error] the server refuses it
      def load
        dn, attributes = self.class.record(self.class.file(server, @layout))
        server == '389ds' ? @directory.extend_entry(dn, attributes) : @directory.add_entry(dn, attributes)
      end

      # @return [String] `389ds` or `openldap`, by {product}
      def server
        product.start_with?('389') ? '389ds' : 'openldap'
      end

      # @return [String] the product that the root DSE names
      def product
        root.values_at('vendorVersion', 'vendorName').flatten.compact.first || 'OpenLDAP'
      end

      # @return [Array<String>] the attributes and object classes that the server lacks
      # @raise [Simpkv::Error] it does not show its schema
      def missing
        entry = published
        NEEDED.fetch(@layout).flat_map do |kind, names|
          definitions = values(entry, kind)
          raise DeniedError, "the server does not show its #{kind}" if definitions.empty?

          names.reject { |name| defined_in?(definitions, name) }
        end
      end

      # The layouts share object identifiers with different meanings.
      #
      # @return [String, nil] the other layout, if the server has its schema
      # @raise [Simpkv::Error] it does not show its schema
      def other_layout
        definitions = values(published, 'attributeTypes')
        (NEEDED.keys - [@layout]).find { |name| defined_in?(definitions, self.class.attributes_to_index(name).first) }
      end

      # @return [Array<String>] the visible suffixes of the server's databases
      def suffixes
        values(root, 'namingContexts')
      end

      # @param layout [String]
      # @return [Array<String>]
      def self.attributes_to_index(layout)
        NEEDED.fetch(layout)['attributeTypes'] - ['simpkvJsonValue']
      end

      # @param database [String] of 389-DS
      # @return [String] the DN of the entry above the indexes of the database
      def self.indexes_dn(database)
        "cn=index,cn=#{database},cn=ldbm database,cn=plugins,cn=config"
      end

      # @param base_dn [String]
      # @return [Array<String>] the attributes that need an index on 389-DS and have none
      # @raise [DeniedError] the identity may not see indexes
      def unindexed(base_dn)
        indexes = self.class.indexes_dn(database(base_dn))
        missing = self.class.attributes_to_index(@layout).reject { |attribute| entry?("cn=#{attribute},#{indexes}") }
        raise DeniedError, 'the name of the database cannot be seen' if missing.any? && !index_folder?(indexes)

        missing
      end

      # @param base_dn [String]
      # @return [String] the name of the database of 389-DS that holds the entry; the default name if the identity
      #   cannot see it
      def database(base_dn)
        suffix = suffix_of(base_dn)
        return USUAL_DATABASE unless suffix

        entry = @directory.read_entry("cn=#{suffix.gsub(/[=,]/) { |letter| "\\#{letter}" }},cn=mapping tree,cn=config",
                                      ['nsslapd-backend'])
        values(entry, 'nsslapd-backend').first || USUAL_DATABASE
      rescue NotFoundError, DeniedError
        USUAL_DATABASE
      end

      # @param dn [String]
      # @return [String, nil] the suffix of the server's databases that the DN lies in
      def suffix_of(dn)
        suffixes.select { |suffix| ",#{normalized(dn)}".end_with?(",#{normalized(suffix)}") }.max_by(&:length)
      end

      private

      # @return [Boolean] whether 389-DS has that entry, visible or hidden
      def index_folder?(dn)
        entry?(dn)
      rescue DeniedError
        true
      end

      # The attributes of a visible entry can be hidden.
      def entry?(dn)
        @directory.read_entry(dn, ['objectClass']) && true
      rescue NotFoundError
        false
      end

      # Lower-cases the DN and removes spaces around commas and equals signs.
      def normalized(dn)
        dn.downcase.gsub(/\s*(?<!\\)([,=])\s*/, '\1')
      end

      def root
        @root ||= @directory.read_entry('', %w[vendorName vendorVersion subschemaSubentry namingContexts])
      end

      def published
        @directory.read_entry(root.fetch('subschemaSubentry', ['cn=schema']).first, NEEDED['plain'].keys)
      end

      def defined_in?(definitions, name)
        definitions.any? { |text| text.match?(/NAME\s+(\(\s*)?(\S+\s+)*'#{name}'/i) }
      end

      def values(entry, name)
        entry.find { |key, _| key.casecmp?(name) }&.last.to_a
      end
    end
  end
end
