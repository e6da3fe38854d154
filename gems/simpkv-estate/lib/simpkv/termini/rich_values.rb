# frozen_string_literal: true

require 'simpkv/document/rich_data/converter'

module Simpkv
  module Termini
    # Converts the values of parameters to plain data, and back: rich data, with references to resources and Deferred.
    module RichValues
      # The types that data may name. A Deferred is data here: the agent calls its function.
      TYPES = [*RichData::TYPES, 'Deferred', 'Pcore::ClassType', 'Pcore::ResourceType'].freeze

      # The names of resource types. Puppet loads a file of the name of a type that it looks up.
      RESOURCE_TYPE = /\A(?:::)?[A-Za-z]\w*(?:::[A-Za-z]\w*)*\z/.freeze

      # The types of references.
      REFERENCES = %w[Pcore::ClassType Pcore::ResourceType].freeze
      private_constant :TYPES, :RESOURCE_TYPE, :REFERENCES

      class << self
        # @param value [Object] of a parameter in a catalog
        # @return [Object] plain data; the value itself if it is plain
        # @raise [UnencodableError] it has no form as data; quotes nothing
        def dump(value)
          return value if plain?(value)

          data = RichData::Converter.dump(copied(value) { |scalar| convertible(scalar) })
          check(data)
          data
        rescue StandardError
          raise UnencodableError, 'it is, or it contains, an object that has no form as data', cause: nil
        end

        # @param data [Object] the result of {dump}, or other data from the store
        # @return [Object] the value of a parameter
        # @raise [MalformedError] the data name other types; quotes nothing
        def load(data)
          return data unless RichData.any?(data)

          value = RichData::Converter.load(data, TYPES) { |object| check_object(object) }
          copied(value) { |scalar| restored(scalar) }
        rescue StandardError # Puppet's own messages quote the value.
          raise MalformedError, 'not rich data that can be read', cause: nil
        end

        # Refuses names of resource types that could be paths.
        #
        # @param names [Array<String>]
        # @return [void]
        # @raise [TypeError]
        def check_names(names)
          raise TypeError unless names.all? { |name| RESOURCE_TYPE.match?(name) }
        end

        # Restores the parameters of a resource.
        #
        # @param parameters [Hash{String => Object}] data from the store
        # @return [Hash{Symbol => Object}]
        # @raise [MalformedError] as {load}, or a relationship refers to a path; quotes nothing
        def load_parameters(parameters)
          check_relationships(parameters)
          parameters.to_h { |name, value| [name.to_sym, load(value)] }
        rescue TypeError
          raise MalformedError, 'not a relationship that can be read', cause: nil
        end

        # Refuses relationships whose references could be paths: Puppet looks up the type of each of them, also of those
        # that are Strings.
        #
        # @param parameters [Hash{String => Object}] data from the store
        # @return [void]
        # @raise [TypeError]
        def check_relationships(parameters)
          names = Puppet::Type.relationship_params.map { |parameter| parameter.name.to_s }
          parameters.each { |name, value| check_references(value) if names.include?(name.downcase) }
        end

        # Refuses data with other types than those that {dump} writes.
        #
        # @param data [Object]
        # @return [void]
        # @raise [TypeError]
        def check(data)
          RichData.check(data, TYPES) { |object| check_object(object) }
        end

        private

        def plain?(value)
          case value
          when String then Codec.text?(value)
          when Array then value.all? { |member| plain?(member) }
          when Hash then plain_names?(value.keys) && plain?(value.values)
          when Integer, Float, true, false, nil then true
          else false
          end
        end

        def plain_names?(names)
          names.all? { |name| name.is_a?(String) && name != RichData::TYPE && Codec.text?(name) }
        end

        def check_object(data)
          case data[RichData::TYPE]
          when 'Pcore::ResourceType' then check_reference(data['type_name'], data['title'])
          when 'Pcore::ClassType' then check_names([data['class_name']])
          when 'Deferred' then raise TypeError unless data['name'].is_a?(String)
          end
        end

        # {check} has looked into references that are rich data.
        def check_references(value)
          case value
          when Array then value.each { |member| check_references(member) }
          when String then check_reference(value[/\A[^\[]*/], value[/\[(.*?)\]?\z/m, 1])
          when Hash then raise TypeError unless REFERENCES.include?(value['__ptype'])
          else raise TypeError unless value.nil?
          end
        end

        # The title of a class is a name that Puppet looks up, too.
        def check_reference(type, title = nil)
          check_names([type])
          check_names([title]) if type.match?(/\A(?:::)?class\z/i)
        end

        # Copies a value, with what the block returns for each scalar in it.
        def copied(value, &scalar)
          case value
          when Hash then value.to_h { |name, member| [copied(name, &scalar), copied(member, &scalar)] }
          when Array then value.map { |member| copied(member, &scalar) }
          when Puppet::Pops::Types::PSensitiveType::Sensitive then value.class.new(copied(value.unwrap, &scalar))
          else yield value
          end
        end

        # @return [Object] for Puppet's converter, which does not know all that a catalog may hold
        def convertible(value)
          types = Puppet::Pops::Types
          case value
          when String then RichData::Converter.bytes_as_binary(value)
          when :undef then nil
          when Puppet::Resource then types::PResourceType.new(value.type.to_s, title(value))
          else value.is_a?(types::PAnyType) && !value.is_a?(types::PCatalogEntryType) ? value.to_s : value
          end
        end

        def title(resource)
          resource.title == :main ? 'main' : resource.title.to_s
        end

        # A catalog has references as resources.
        def restored(value)
          case value
          when Puppet::Pops::Types::PResourceType then Puppet::Resource.new(value.type_name, value.title.to_s)
          when Puppet::Pops::Types::PClassType then Puppet::Resource.new('Class', value.class_name)
          else value
          end
        end
      end
    end
  end
end
