# frozen_string_literal: true

require 'simpkv/estate/puppetdb_data'

module Simpkv
  module Query
    class Rows
      # The rows of a node's facts and packages, and of paths that no earlier node has had. The trusted facts are the
      # fact `trusted` as well, as in PuppetDB.
      class FactRows
        COLUMNS = { 'factsets' => %w[environment timestamp producer_timestamp producer hash trusted].freeze,
                    'facts' => %w[name value].freeze,
                    'package_inventory' => %w[package_name version provider].freeze,
                    'fact_paths' => %w[path type name].freeze }.freeze

        # A path that is known: the types of its values, and the paths below it by the next name.
        Known = Struct.new(:types, :below)
        private_constant :Known

        # @param values [PublicValues]
        def initialize(values)
          @values = values
          @known = Known.new([], {})
        end

        # @param documents [Documents]
        # @param run [LastRun]
        # @return [Hash{String => Array<Array>}] rows by table
        # @raise [MalformedError]
        def of(documents, run)
          return COLUMNS.transform_values { [] } unless documents.facts

          facts, packages = Estate::PuppetDBData.without_packages(public_facts(documents))
          { 'factsets' => [factset(documents, run, facts)],
            'facts' => facts.map { |name, value| [name, Native.generate(value)] },
            'package_inventory' => packages.uniq,
            'fact_paths' => [].tap { |rows| enter(facts, @known, [], rows) } }
        end

        private

        def public_facts(documents)
          what = "the facts of '#{documents.certname}'"
          record = Form.hash(documents.facts, what)
          facts = @values.of(Form.hash(record['values'], what))
          trusted = record['trusted']
          trusted ? facts.merge('trusted' => @values.of(Form.hash(trusted, what))) : facts
        end

        def factset(documents, run, facts)
          time = run.facts_time(documents.facts)
          producer = documents.facts[Estate::Produced::PRODUCER]
          trusted = facts['trusted']
          [run.environment, time, time, producer, Rows.hash_of(facts.sort_by(&:first)),
           trusted && Native.generate(trusted)]
        end

        # Enters the paths below a value.
        def enter(value, known, path, rows)
          case value
          when Hash then value.each { |name, member| enter_member(name, member, known, path, rows) }
          when Array then value.each_with_index { |member, index| enter_member(index, member, known, path, rows) }
          else enter_leaf(value, known, path, rows)
          end
        end

        def enter_member(name, member, known, path, rows)
          path.push(name)
          enter(member, known.below[name] ||= Known.new([], {}), path, rows)
          path.pop
        end

        def enter_leaf(value, known, path, rows)
          type = type(value)
          return if known.types.include?(type)

          known.types << type
          rows << [Native.generate(path), type, path.first]
        end

        def type(value)
          case value
          when String then 'string'
          when Integer then 'integer'
          when Float then 'float'
          when true, false then 'boolean'
          when nil then 'null'
          end
        end
      end
      private_constant :FactRows
    end
  end
end
