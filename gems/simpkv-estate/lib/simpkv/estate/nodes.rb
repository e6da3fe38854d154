# frozen_string_literal: true

module Simpkv
  class Estate
    # The declared record of each node, which an operator writes. The first three members are those that an external
    # node classifier gives, the others describe the machine. None is required:
    #
    #     { 'environment' => 'production', 'classes' => { 'ntp' => { 'servers' => ['a'] } },
    #       'parameters' => { 'role' => 'web' }, 'scope' => 'rack12', 'attributes' => {}, 'ports' => [],
    #       'port_groups' => [] }
    #
    # `classes` may be a list of names as well. A record that discovery has made has `auto_discovered` as well, and
    # `sensitive` names the values that no command shows: a list of JSON pointers (RFC 6901) into the record, such as
    # `/parameters/token`.
    #
    # A record that Puppet saves in its cache of nodes has the same form, and a key of its own: the answer of another
    # classifier never replaces what an operator has declared.
    class Nodes < Documents
      # By member: a lambda that checks a value, and a description of valid values.
      MEMBERS = {
        'environment' => [->(value) { Coercion.convert(:environment, value) }, Coercion.needed(:environment)],
        'classes' => [->(value) { classes?(value) }, 'a list of names, or a Hash of names and Hashes of parameters'],
        'parameters' => [->(value) { named?(value) }, 'a Hash of names and values'],
        'scope' => [->(value) { value.is_a?(String) && value.length <= 255 }, 'a String of up to 255 characters'],
        'attributes' => [->(value) { named?(value) }, 'a Hash of names and values'],
        'ports' => [->(value) { hashes?(value) }, 'a list of Hashes'],
        'port_groups' => [->(value) { hashes?(value) }, 'a list of Hashes'],
        'auto_discovered' => [->(value) { [true, false].include?(value) }, 'true or false'],
        'sensitive' => [->(value) { value.is_a?(Array) && value.all? { |path| JsonPointer.valid?(path) } },
                        'a list of JSON pointers, such as /parameters/token']
      }.freeze
      private_constant :MEMBERS

      # The name of a class. Puppet takes capital letters in the answer of a classifier.
      CLASS = /\A(::)?[a-z]\w*(::[a-z]\w*)*\z/i.freeze

      class << self
        # @param record [Hash] see above
        # @yieldparam value [Object] each one that `sensitive` names
        # @yieldreturn [Object] its replacement
        # @return [Hash] a copy of the record
        def replace_sensitive(record, &block)
          paths = record['sensitive'].is_a?(Array) ? record['sensitive'].select { |path| JsonPointer.valid?(path) } : []
          paths.inject(record) { |copy, path| JsonPointer.replace(copy, path, &block) }
        end

        private

        def classes?(value)
          return value.all? { |name| name.is_a?(String) && !name.empty? } if value.is_a?(Array)

          named?(value) && value.values.all? { |parameters| parameters.nil? || named?(parameters) }
        end

        def hashes?(value)
          value.is_a?(Array) && value.all?(Hash)
        end

        def named?(value)
          value.is_a?(Hash) && value.keys.all? { |name| name.is_a?(String) && !name.empty? }
        end
      end

      def initialize(estate)
        super(estate, 'nodes')
        @cached = Documents.new(estate, 'node_cache')
      end

      # @param certname [String]
      # @return [Hash, nil] the declared record; nil if there is none
      # @raise [MalformedError] it is not such a record; names the key
      # @raise [ConfigError] the folder of the records is missing or hidden
      def get(certname)
        readable_record(self, certname) { super }
      end

      # @param certname [String]
      # @param document [String, nil] the declared record as it is stored; nil for none
      # @return [Hash, nil] the record; nil for nil
      # @raise [MalformedError] it is not such a record; names the key
      # @raise [ConfigError] there is no document, and the folder of the records is missing or hidden
      def parse(certname, document)
        return demand_folder unless document

        readable_record(self, certname) { decoded(path(certname), document) }
      end

      # @param strict [Boolean] see {Documents#all}, as for the block
      # @yieldparam key [String] of a record that cannot be read
      # @yieldparam why [String]
      # @return [Hash{String => Hash}] the declared records, by the names of nodes
      # @raise [MalformedError] see {Documents#all}
      def all(strict: false, &block)
        super(valid: ->(record) { problem(record).nil? }, strict: strict, &block)
      end

      # @param certname [String]
      # @param record [Hash] see above
      # @return [Boolean] whether it was written; an equal one stays
      # @raise [InvalidError] a member is unknown or has the wrong type; nothing is stored
      def declare(certname, record)
        demand_folder
        put(certname, check_declared(certname, record))
      end

      # Changes a declared record: see {Documents#update}.
      #
      # @raise [InvalidError] a member is unknown or has the wrong type; nothing is stored
      def update(certname, known: nil)
        super { |old| (new = yield(old)) && check_declared(certname, new) }
      end

      # @return [Boolean] whether nodes without a declared record are discovered
      def discover?
        @estate.options['unknown_nodes'] == 'discover'
      end

      # @param certname [String] of a node without a declared record
      # @return [Hash] the record that stands in for it
      # @raise [NotFoundError] the option `unknown_nodes` refuses such a node
      def blank(certname)
        case @estate.options['unknown_nodes']
        when 'discover'
          { 'auto_discovered' => true, 'scope' => @estate.options['inspection_rules']['inspection_scope'] }.compact
        when 'accept' then {}
        else
          raise NotFoundError, "it is not declared, and the option 'unknown_nodes' of 'estate' is 'refuse': declare " \
                               "it with 'simpkv node declare #{certname}'"
        end
      end

      # @param certname [String]
      # @param record [Object] a declared record
      # @return [Hash] the same
      # @raise [InvalidError] a member is unknown or has the wrong type
      def check_declared(certname, record)
        wrong = problem(record) || unknown(record) || reserved(record)
        raise InvalidError, "the record of node '#{certname}' cannot be stored: #{wrong}" if wrong

        record
      end

      # @param record [Hash] the outcome of an inspection
      # @return [Hash] the same
      # @raise [InvalidError] it is not such a record
      def check_effective(record)
        wrong = problem(record)
        # The error quotes no name: it may have a value of a sensitive rule.
        wrong ||= "'classes' must have names of classes, such as role::web" unless classes_named?(record['classes'])
        raise InvalidError, "the rules give it an invalid record: #{wrong}" if wrong

        # No rule can write such a parameter.
        wrong = reserved(record)
        raise InvalidError, "its declared record is invalid: #{wrong}" if wrong

        record
      end

      # Keeps the answer of another classifier.
      #
      # @param certname [String]
      # @param record [Hash] see above
      # @return [Boolean] whether it was written
      def cache(certname, record)
        @cached.put(certname, record)
      end

      # @param certname [String]
      # @return [Hash, nil] the last answer of another classifier
      # @raise [MalformedError] it is not such a record; names the key
      def cached(certname)
        readable_record(@cached, certname) { @cached.get(certname) }
      end

      # Deletes the answer of another classifier.
      #
      # @param certname [String]
      # @return [Boolean] whether there was one
      def delete_cached(certname)
        @cached.delete(certname)
      end

      private

      def readable_record(documents, certname)
        record = yield
        wrong = record && problem(record)
        raise MalformedError.unreadable(documents.path(certname), wrong) if wrong

        record
      end

      def classes_named?(classes)
        (classes.is_a?(Hash) ? classes.keys : Array(classes)).all? { |name| name.is_a?(String) && name.match?(CLASS) }
      end

      def problem(record)
        return 'it must be a Hash' unless record.is_a?(Hash)

        name, (_, needed) = MEMBERS.find { |member, (valid, _)| !record[member].nil? && !valid.call(record[member]) }
        "'#{name}' must be #{needed}" if name
      end

      # @return [String, nil] why a parameter cannot have its name; nil if all can
      def reserved(record)
        (record['parameters'] || {}).each_key { |name| Native.parameter_check(name) }
        nil
      rescue InvalidError => e
        "'parameters': #{e.message}"
      end

      def unknown(record)
        name = (record.keys - MEMBERS.keys).first
        "there is no member '#{name}', only #{MEMBERS.keys.join(', ')}" if name
      end
    end
  end
end
