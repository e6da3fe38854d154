# frozen_string_literal: true

module Simpkv
  module Cli
    # The schema of simpkv, as files of the gem, and as a server has it.
    class DirectorySchema
      FOLDER = File.expand_path('../../../schema', __dir__)

      # Each form's file, by the server; %s is for the layout.
      FILES = {
        'openldap' => { 'ldif' => 'openldap/simpkv%s.ldif', 'schema' => 'openldap/simpkv%s.schema',
                        'base' => 'base.ldif', 'access' => 'openldap/access.conf', 'limits' => 'openldap/limits.conf',
                        'config' => 'openldap/config.ldif' },
        '389ds' => { 'ldif' => '389ds/%s.ldif', 'base' => 'base.ldif', 'access' => '389ds/access.ldif',
                     'limits' => '389ds/limits.ldif' }
      }.freeze

      # The forms in which base DN, bind DN or the layout's attributes stand; the others are the schema itself.
      FORMS_WITH_NAMES = %w[base access limits config].freeze

      # What stands for the layouts there.
      LAYOUTS = { 'openldap' => { 'plain' => '', 'hex' => '-hex' },
                  '389ds' => { 'plain' => 'plain', 'hex' => 'hex' } }.freeze

      # What each layout needs.
      NEEDED = {
        'plain' => { 'attributeTypes' => %w[simpkvKey simpkvJsonValue], 'objectClasses' => %w[simpkvEntry] },
        'hex' => { 'attributeTypes' => %w[simpkvHexId simpkvId simpkvJsonValue],
                   'objectClasses' => %w[simpkvEntry simpkvFolder] }
      }.freeze
      private_constant :FOLDER, :FILES, :LAYOUTS, :NEEDED

      # @param server [String] `openldap` or `389ds`
      # @param layout [String] `plain` or `hex`
      # @param form [String] one of {forms}
      # @return [String] the file of the gem
      def self.file(server, layout, form = 'ldif')
        name = FILES.fetch(server).fetch(form)
        File.join(FOLDER, name.include?('%s') ? format(name, LAYOUTS[server].fetch(layout)) : name)
      end

      # @return [Array<String>] the forms that there are for a server: `ldif`, and others
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
        @store = store
        @layout = layout
      end

      # Adds it to the server's.
      #
      # @return [void]
      # @raise [Simpkv::Error] the server does not take it
      def load
        dn, attributes = self.class.record(self.class.file(server, @layout))
        server == '389ds' ? @store.extend_entry(dn, attributes) : @store.add_entry(dn, attributes)
      end

      # @return [String] `389ds` or `openldap`, by what the server says of itself
      def server
        product.start_with?('389') ? '389ds' : 'openldap'
      end

      # @return [String] what the server says of itself
      def product
        root.values_at('vendorVersion', 'vendorName').flatten.compact.first || 'OpenLDAP'
      end

      # @return [Array<String>] the attributes and object classes that the server lacks
      # @raise [Simpkv::Error] it does not show its schema
      def missing
        entry = @store.read_entry(root.fetch('subschemaSubentry', ['cn=schema']).first, NEEDED['plain'].keys)
        NEEDED.fetch(@layout).flat_map do |kind, names|
          definitions = values(entry, kind)
          raise DeniedError, "the server does not show its #{kind}" if definitions.empty?

          names.reject { |name| definitions.any? { |text| text.match?(/NAME\s+(\(\s*)?(\S+\s+)*'#{name}'/i) } }
        end
      end

      # @param layout [String]
      # @return [Array<String>]
      def self.attributes_to_index(layout)
        NEEDED.fetch(layout)['attributeTypes'] - ['simpkvJsonValue']
      end

      # @return [Boolean] whether 389-DS has an index of the attribute
      # @raise [Simpkv::Error] that may not be looked at
      def indexed?(attribute)
        entry = @store.read_entry("cn=#{attribute},cn=index,cn=userRoot,cn=ldbm database,cn=plugins,cn=config", ['cn'])
        !entry.empty? || raise(DeniedError, 'the index may not be seen')
      rescue NotFoundError
        false
      end

      private

      def root
        @root ||= @store.read_entry('', %w[vendorName vendorVersion subschemaSubentry])
      end

      def values(entry, name)
        entry.find { |key, _| key.casecmp?(name) }&.last.to_a
      end
    end
  end
end
