# frozen_string_literal: true

module Simpkv
  module Access
    # The entries that simpkv makes below the entry of its instance, as an allow-list: rules let writers add these, and
    # beside them a few that give no right (docs/adr/0050); {ForeignEntries} finds what the allow-list does not have.
    class OwnEntries
      # By layout, the object classes.
      CLASSES = { 'plain' => %w[simpkvEntry organizationalUnit top],
                  'hex' => %w[simpkvEntry simpkvFolder organizationalUnit top] }.freeze

      # By layout, the attributes that name an entry.
      NAMES = { 'plain' => %w[simpkvKey ou], 'hex' => %w[simpkvHexId ou] }.freeze

      # By layout, the attributes with a name, and all others that simpkv writes.
      NAMING = { 'plain' => %w[simpkvKey ou], 'hex' => %w[simpkvHexId simpkvId ou] }.freeze
      OTHERS = %w[objectClass simpkvJsonValue].freeze

      # Attributes that describe the schema.
      DEFINITIONS = %w[attributeTypes objectClasses].freeze
      private_constant :OTHERS, :DEFINITIONS

      # @param store [Store] of type ldap
      # @param layout [String]
      # @return [Array<String>] see {foreign}, with the schema of the server
      # @raise [Error] the server does not show its schema
      def self.foreign_attributes(store, layout)
        foreign(*definitions(store), layout)
      end

      # @param store [Store] of type ldap
      # @param layout [String]
      # @return [Array<String>] see {beyond}, with the schema of the server
      # @raise [Error] the server does not show its schema
      def self.attributes_beyond(store, layout)
        beyond(*definitions(store), layout)
      end

      # Finds the attributes that an entry of simpkv's object classes can have, and that simpkv does not write: those
      # that the classes permit, and the operational ones that a client may write, which any entry can have.
      #
      # @param types [Array<String>] the definitions of attributes
      # @param classes [Array<String>] the definitions of object classes
      # @param layout [String]
      # @return [Array<String>] sorted
      def self.foreign(types, classes, layout)
        own = (NAMING.fetch(layout) + OTHERS).map(&:downcase)
        found = operational(types) + canonical(permitted(classes, CLASSES.fetch(layout)), first_names(types))
        found.uniq(&:downcase).reject { |name| own.include?(name.downcase) }.sort_by(&:downcase)
      end

      # Finds the attributes of users and of the site's own that simpkv's object classes do not permit. Leaves out the
      # attributes of slapd's configuration, which have no effect outside of it, and supertypes of permitted attributes,
      # because slapd takes the name of a supertype for its subtypes, too.
      #
      # @param types [Array<String>] the definitions of attributes
      # @param classes [Array<String>] the definitions of object classes
      # @param layout [String]
      # @return [Array<String>] sorted
      def self.beyond(types, classes, layout)
        first = first_names(types)
        permitted = canonical(permitted(classes, CLASSES.fetch(layout)), first)
        permitted = with_supertypes(permitted, types, first).map(&:downcase)
        found = types.reject { |text| text.gsub(/'[^']*'/, '').match?(/\bUSAGE\s+(?!userApplications)|NO-USER-MOD/) }
        found.map { |text| names(text).first }.compact
             .reject { |name| name.match?(/\Aolc/i) || permitted.include?(name.downcase) }.sort_by(&:downcase)
      end

      class << self
        private

        # @return [Array(Array<String>, Array<String>)] the definitions of attributes and of object classes
        def definitions(store)
          directory = store.directory
          place = values(directory.read_entry('', %w[subschemaSubentry]), 'subschemaSubentry').first || 'cn=schema'
          entry = directory.read_entry(place, DEFINITIONS)
          found = DEFINITIONS.map { |name| values(entry, name) }
          raise DeniedError, "the server does not show its schema in '#{place}'" if found.any?(&:empty?)

          found
        end

        # @return [Array<String>] the attributes, and all those whose subtypes they are
        def with_supertypes(list, types, first)
          above = types.to_h { |text| [names(text).first, text.gsub(/'[^']*'/, '')[/\bSUP\s+([\w.;-]+)/, 1]] }
          above = above.transform_values { |name| name && canonical([name], first).first }
          list.flat_map { |name| [name].tap { |all| all << above[all.last] while above[all.last] } }.uniq
        end

        def values(entry, name)
          entry.find { |key, _| key.casecmp?(name) }&.last.to_a
        end

        # @return [Array<String>] the names of a definition
        def names(text)
          text[/\bNAME\s+(\([^)]*\)|'[^']*')/, 1].to_s.scan(/'([^']+)'/).flatten
        end

        # @return [Array<String>] the attributes that object classes permit
        def permitted(definitions, classes)
          classes = classes.map(&:downcase)
          definitions.select { |text| (names(text).map(&:downcase) & classes).any? }.flat_map { |text| members(text) }
        end

        # @return [Array<String>] the attributes of the definition of a class
        def members(text)
          lists = text.gsub(/'[^']*'/, '').scan(/\b(?:MUST|MAY)\s+(?:\(([^)]*)\)|([\w.;-]+))/).flatten.compact
          lists.flat_map { |list| list.split(/[\s$]+/) }.reject(&:empty?)
        end

        # @return [Array<String>] the operational attributes that a client may write
        def operational(types)
          usage = /\bUSAGE\s+(?:directoryOperation|dSAOperation|distributedOperation)\b/
          found = types.select do |text|
            unquoted = text.gsub(/'[^']*'/, '')
            unquoted.match?(usage) && !unquoted.include?('NO-USER-MODIFICATION')
          end
          found.map { |text| names(text).first }.compact
        end

        # @return [Hash{String => String}] the first name of each attribute, by each of its names in lower case
        def first_names(types)
          types.map { |text| names(text) }.each_with_object({}) do |names, all|
            names.each { |name| all[name.downcase] = names.first }
          end
        end

        # @return [Array<String>] the first name of each attribute: servers know an attribute by that one
        def canonical(list, first)
          list.map { |name| first.fetch(name.downcase, name) }
        end
      end
    end
  end
end
