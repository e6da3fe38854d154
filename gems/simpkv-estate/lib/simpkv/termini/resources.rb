# frozen_string_literal: true

require 'simpkv/termini/rich_values'

module Simpkv
  module Termini
    # Converts exported resources of a catalog to plain data, and back:
    #
    #     { 'title' => 'web1', 'parameters' => { 'ip' => '192.0.2.1' }, 'tags' => ['host', 'web1'],
    #       'file' => '/etc/puppet/code/environments/production/manifests/site.pp', 'line' => 3 }
    #
    # Parameters hold Puppet's rich data. File and line may be absent.
    module Resources
      class << self
        # @param catalog [Puppet::Resource::Catalog] as it was compiled, with virtual resources
        # @return [Hash{String => Array<Hash>}] what it exports, by the lower-case name of the type
        # @raise [UnencodableError] names resource and parameter
        def exported(catalog)
          resources = catalog.resources.select(&:exported)
          resources.group_by { |resource| resource.type.downcase }
                   .transform_values { |list| list.map { |resource| data(resource) } }
        end

        # Names the parameter that no document can hold, such as a number that is infinite.
        #
        # @param exported [Hash{String => Array<Hash>}]
        # @return [String, nil] a message without values
        def unencodable(exported)
          exported.each do |type, list|
            list.each do |resource|
              members = resource.reject { |name, _| name == 'parameters' }
              why = unencodable_in(members) || unencodable_in(resource['parameters'] || {})
              return refusal(type, resource['title'], *why) if why
            end
          end
          nil
        end

        # Its tags are those of its parameter `tag`, and those that Puppet gives each resource. The other tags of its
        # exporter are for filters only, so that collectors of virtual resources do not find it by them.
        #
        # @param type [Puppet::CompilableResourceType, Puppet::Resource::Type]
        # @param data [Hash]
        # @param scope [Puppet::Parser::Scope] the collector's
        # @param id [String] tells the resource from others with its title
        # @return [Puppet::Parser::Resource]
        # @raise [MalformedError, Puppet::Error] it cannot be restored
        def collected(type, data, scope, id)
          file, line = data.values_at('file', 'line')
          parameters = values(data).map do |name, value|
            Puppet::Parser::Resource::Param.new(name: name, value: value, source: scope.source, file: file, line: line)
          end
          Puppet::Parser::Resource.new(type, data['title'], scope: scope, source: scope.source, file: file, line: line,
                                                            collector_id: id, parameters: parameters)
        end

        # @param type [String]
        # @param data [Hash]
        # @return [Puppet::Resource] for callers outside a compiler
        # @raise [MalformedError] it cannot be restored
        def plain(type, data)
          resource = Puppet::Resource.new(type, data['title'], parameters: values(data))
          resource.tag(*data['tags'])
          resource.exported = true
          resource.file = data['file']
          resource.line = data['line']
          resource
        end

        private

        def values(data)
          RichValues.load_parameters(data['parameters'] || {})
        end

        def data(resource)
          parameters = declared(resource).to_h { |name, value| [name.to_s, dumped(resource, name, value)] }
          { 'title' => resource.title.to_s, 'parameters' => parameters, 'tags' => resource.tags.to_a.sort,
            'file' => resource.file, 'line' => resource.line }.compact
        end

        # When a catalog is complete, Puppet has unwrapped Sensitive parameters, and added those that the title implies.
        # A collector does not see the latter.
        def declared(resource)
          implied = Puppet::Resource.new(resource.resource_type || resource.type, resource.title).to_hash
          declared = resource.to_hash.reject { |name, value| implied.key?(name) && implied[name] == value }
          secrets = declared.slice(*resource.sensitive_parameters)
          declared.merge(secrets.transform_values { |value| sensitive(value) })
        end

        def sensitive(value)
          type = Puppet::Pops::Types::PSensitiveType::Sensitive
          value.is_a?(type) ? value : type.new(value)
        end

        def dumped(resource, name, value)
          Placeholder.refuse(value)
          RichValues.dump(value)
        rescue UnencodableError => e
          raise UnencodableError, refusal(resource.type, resource.title, name, e.message), cause: nil
        end

        def refusal(type, title, name, why)
          reference = Puppet::Resource.new(type, title).ref
          "the parameter '#{name}' of #{reference} cannot be stored: #{why}"
        end

        def unencodable_in(members)
          members.each do |name, value|
            Codec.encode([[[value]]])
          rescue UnencodableError => e
            return [name, e.message.rpartition(': ').last]
          end
          nil
        end
      end
    end
  end
end
