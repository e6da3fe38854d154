# frozen_string_literal: true

require 'simpkv/document/rich_data'

module Simpkv
  class Estate
    # Hides secrets in the facts, records and inspections of nodes that people look at. A member is a secret if rules
    # take it for one by its name, such as `db_password`, or if it has the form of a stored Sensitive. With the value
    # `never` of the option `mask_secrets`, rules may have copied a secret to a member of any name: then all values that
    # rules have set or read are hidden. Values that sensitive rules have set are hidden from everybody.
    class Secrets
      REDACTED = SecretNames::REDACTED

      # Members of a record that have no value of a rule.
      KEPT = %w[auto_discovered sensitive].freeze

      # Members of the engine's output that have values which rules have set or read.
      VALUES = %w[args before after].freeze
      private_constant :KEPT, :VALUES

      # @param record [Hash] of a node
      # @return [Hash] a copy without the values that sensitive rules have set
      def self.without_sensitive(record)
        Nodes.replace_sensitive(record) { REDACTED }.to_h { |name, value| [name, typed(record[name], value)] }
      end

      # What is hidden as a whole keeps its type, which clients expect.
      #
      # @param data [Object]
      # @param hidden [Object] the same without secrets, perhaps {REDACTED}
      # @return [Object] of the type of the data, if that is not a String
      def self.typed(data, hidden)
        return hidden unless hidden == REDACTED

        case data
        when Hash then { REDACTED => REDACTED }
        when Array then [REDACTED]
        when true, false then data # No secret has only two values.
        else hidden
        end
      end

      # @param data [Object] such as facts
      # @return [Object] a copy without what has the form of a stored Sensitive
      def self.without_sensitive_values(data)
        RichData.replace(data, 'Sensitive') { REDACTED }
      end

      # @param estate [Estate]
      # @param shown [Boolean] whether to show secrets, except those of sensitive rules
      def initialize(estate, shown)
        @shown = shown
        @names = estate.secret_names
        @copied = estate.options['inspection_rules']['mask_secrets'] == 'never'
      end

      # @param facts [Hash]
      # @return [Hash] a copy without secrets
      def facts(facts)
        @shown ? facts : self.class.typed(facts, hidden(facts))
      end

      # @param record [Hash] a declared record
      # @return [Hash] a copy without secrets
      def declared(record)
        return effective(record) if record['auto_discovered']

        record = self.class.without_sensitive(record)
        @shown ? record : hidden_members(record)
      end

      # @param record [Hash] a record that rules have made
      # @return [Hash] a copy without secrets
      def effective(record)
        record = self.class.without_sensitive(record)
        return record if @shown
        return hidden_members(record) unless @copied

        record.to_h { |name, value| [name, KEPT.include?(name) ? value : without_values(value)] }
      end

      # @param inspection [Hash] as {Inspections} has it
      # @return [Hash] a copy without secrets
      def inspection(inspection)
        inspection['record'] ? inspection.merge('record' => effective(inspection['record'])) : inspection
      end

      # A parameter can be a secret, such as a password, without being Sensitive.
      #
      # @param exports [Hash{String => Array<Hash>}] as {Exports#of} returns them
      # @return [Hash{String => Array<Hash>}] a copy without secrets in the parameters
      def exports(exports)
        return exports if @shown

        exports.transform_values { |list| list.map { |resource| exported(resource) } }
      end

      # Puppet has unwrapped the Sensitive parameters of a catalog: these are hidden from everybody.
      #
      # @param catalog [Hash] as {Catalogs} has it
      # @return [Hash] a copy without secrets
      def catalog(catalog)
        members = catalog.reject { |name, _| name == 'resources' }
        resources = catalog['resources'].to_a.map { |resource| without_sensitive_parameters(resource) }
        facts(members).merge(exports('resources' => resources))
      end

      # @param report [Hash] as {Reports} has it
      # @return [Hash] a copy without secrets
      def report(report)
        @shown ? report : Reports.without_secrets(report, @names, REDACTED)
      end

      # @param output [Array<Hash>] rules or effects of the engine's output
      # @return [Array<Hash>] a copy without secrets
      def explanation(output)
        return output if @shown

        @copied ? without_explained(output) : hidden(output)
      end

      private

      def exported(resource)
        resource.merge('parameters' => hidden(resource['parameters'] || {}))
      end

      def without_sensitive_parameters(resource)
        parameters = resource['parameters'] || {}
        secret = parameters.slice(*resource['sensitive_parameters'])
        resource.merge('parameters' => parameters.merge(secret.transform_values { REDACTED }))
      end

      def hidden_members(record)
        record.to_h { |name, value| [name, self.class.typed(value, hidden(name => value)[name])] }
      end

      def hidden(data)
        by_name(self.class.without_sensitive_values(data))
      end

      def by_name(data)
        each_member(data) { |name, value| @names.include?(name) ? REDACTED : by_name(value) }
      end

      def without_explained(data)
        each_member(data) { |name, value| VALUES.include?(name) ? without_values(value) : without_explained(value) }
      end

      # @return [Object] a copy with the names only
      def without_values(data)
        case data
        when Hash then data.transform_values { |value| without_values(value) }
        when Array then data.map { |value| without_values(value) }
        else REDACTED
        end
      end

      # @yieldparam name [String] of each member of the Hash, or of each Hash in the list
      # @yieldparam value [Object]
      # @yieldreturn [Object] its replacement
      def each_member(data, &block)
        case data
        when Hash then RichData.map_members(data, &block)
        when Array then data.map { |value| each_member(value, &block) }
        else data
        end
      end
    end
  end
end
