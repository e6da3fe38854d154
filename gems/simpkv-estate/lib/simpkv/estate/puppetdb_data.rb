# frozen_string_literal: true

require 'simpkv/document/rich_data'

module Simpkv
  class Estate
    # Converts data in PuppetDB's form to the one in which the estate stores them. PuppetDB's parameters are plain data,
    # in which a reference is a String such as `File[/x]`. PuppetDB has no Sensitive: a parameter that holds one, as
    # Puppet's rich data have it, is left out.
    module PuppetDBData
      # The fact that has the trusted facts.
      TRUSTED = 'trusted'
      # The fact by which an agent tells what packages its node has: an object with the member `packages`, a list of
      # names, versions and providers. PuppetDB's terminus sends them beside the facts, and the estate keeps the fact.
      INVENTORY = '_puppet_inventory_1'
      PACKAGES = 'packages'
      private_constant :TRUSTED, :INVENTORY, :PACKAGES

      class << self
        # @param values [Hash{String => Object}] the values of all facts, by name
        # @return [Hash{String => Object}] without the trusted ones
        def facts(values)
          values.reject { |name, _| name == TRUSTED }
        end

        # @param values [Hash{String => Object}] as for {facts}
        # @return [Hash, nil] the trusted facts
        def trusted(values)
          trusted = values[TRUSTED]
          trusted if trusted.is_a?(Hash)
        end

        # @param facts [Hash{String => Object}]
        # @param packages [Array<Array(String, String, String)>, nil] names, versions and providers
        # @return [Hash{String => Object}] the facts with that of the packages
        def with_packages(facts, packages)
          packages.to_a.any? ? facts.merge(INVENTORY => { PACKAGES => packages }) : facts
        end

        # @param facts [Hash{String => Object}] of an agent
        # @return [Array(Hash, Array)] the facts without that of the packages, and these as for {with_packages}
        def without_packages(facts)
          inventory = facts[INVENTORY]
          packages = inventory[PACKAGES] if inventory.is_a?(Hash)
          return [facts, []] unless packages.is_a?(Array)

          [facts.reject { |name, _| name == INVENTORY }, packages.select { |package| package?(package) }]
        end

        # @param value [Object]
        # @return [Boolean] whether it is name, version and provider of a package
        def package?(value)
          value.is_a?(Array) && value.length == 3 && value.all?(String)
        end

        # @param resources [Array<Hash>] exported resources
        # @return [Hash{String => Array<Hash>}] as {Exports#save} takes them, by the lower-case name of their type
        # @raise [MalformedError] a resource lacks a member, or has one of another type
        def exports(resources)
          resources.sort_by { |resource| member(resource, 'title') }
                   .group_by { |resource| member(resource, 'type').downcase }
                   .transform_values { |list| list.map { |resource| resource(resource) } }
        end

        # @param resource [Hash]
        # @return [Hash] as {Exports} has it
        # @raise [MalformedError] as {exports}
        def resource(resource)
          parameters = member(resource, 'parameters', Hash).reject { |_, value| sensitive?(value) }
          { 'title' => member(resource, 'title'), 'parameters' => parameters.transform_values { |value| rich(value) },
            'tags' => Array(resource['tags']).sort, 'file' => resource['file'], 'line' => resource['line'] }.compact
        end

        # @param row [Object]
        # @param name [String] of a member
        # @param type [Class]
        # @return [Object] the member
        # @raise [MalformedError] it is missing, or of another type
        def member(row, name, type = String)
          value = row[name] if row.is_a?(Hash)
          return value if value.is_a?(type)

          raise MalformedError, "PuppetDB has something whose '#{name}' is not of type #{type}"
        end

        private

        def sensitive?(value)
          case value
          when Array then value.any? { |member| sensitive?(member) }
          when Hash then value[RichData::TYPE] == 'Sensitive' || value.each_value.any? { |member| sensitive?(member) }
          else false
          end
        end

        # Puppet's rich data mark an object by a member. PuppetDB has no objects, but perhaps a Hash with that member.
        def rich(value)
          case value
          when Array then value.map { |member| rich(member) }
          when Hash
            members = value.transform_values { |member| rich(member) }
            members.key?(RichData::TYPE) ? RichData.object('Hash', members.flatten(1)) : members
          else value
          end
        end
      end
    end
  end
end
