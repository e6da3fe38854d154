# frozen_string_literal: true

module Simpkv
  module Cli
    # The secrets in JSON or YAML of Vault, or of a program that reads all of a secrets engine:
    #
    #     {"request_id":..., "data":{"data":{FIELD: VALUE}, "metadata":{"version":1, ...}}}    vault kv get -format=json
    #     {"secret/app1/db": {FIELD: VALUE}}, or one such output in place of the fields        by path
    #     {"secret": {"app1": {"db": {FIELD: VALUE}}}}                                         nested, as of medusa
    #     {"secret/": {"app1/": {"db": {FIELD: VALUE}}}}                                       nested, as of vkv
    class VaultExport
      # A secret. `missing` says why it has no fields in Vault, and `problem` why they cannot be read.
      Secret = Struct.new(:path, :fields, :metadata, :missing, :problem, keyword_init: true)

      MIXED = 'it has fields beside objects, which may be fields or folders: import it from the output of vault kv get'
      NO_SECRET = 'it is a value without a name: a secret has fields'
      private_constant :MIXED, :NO_SECRET

      # @param data [Hash]
      # @param at [String, nil] the path of the secret, if the data are the output of one `vault kv get`
      def initialize(data, at)
        @data = data
        @at = at
        @marked = marked?(data)
      end

      # @return [Boolean] whether the data are the output of one `vault kv get`, which has no path
      def single?
        output?(@data)
      end

      # @yieldparam secret [Secret]
      # @return [void]
      def each(&block)
        single? ? yield(secret(@at, @data)) : folder([], @data, &block)
      end

      private

      def folder(path, members, &block)
        members.each do |name, member|
          place = [*path, name.to_s.delete_suffix('/')]
          next yield Secret.new(path: place.join('/'), problem: NO_SECRET) unless member.is_a?(Hash)

          folder?(name.to_s, member) ? folder(place, member, &block) : yield(secret(place.join('/'), member))
        end
      end

      def folder?(name, member)
        return false if output?(member)
        return name.end_with?('/') if @marked

        member.any? && member.each_value.all?(Hash)
      end

      # @return [Boolean] whether any name ends with a slash, as vkv writes those of folders
      def marked?(data)
        data.any? { |name, member| name.to_s.end_with?('/') || (member.is_a?(Hash) && marked?(member)) }
      end

      def output?(data)
        data['data'].is_a?(Hash) && (data.key?('request_id') || data.key?('lease_id') || versioned?(data['data']))
      end

      # @return [Boolean] whether it is what version 2 of the engine has of a secret
      def versioned?(content)
        content.key?('data') && content['metadata'].is_a?(Hash) && content['metadata'].key?('version')
      end

      def secret(path, data)
        return fields(path, data, @marked) unless output?(data)

        content = data['data']
        return fields(path, content, true) unless versioned?(content)

        version(path, *content.values_at('data', 'metadata'))
      end

      # @param sure [Boolean] whether an object among the fields is a field, and not a folder
      def fields(path, fields, sure)
        return Secret.new(path: path, missing: 'it has no fields') if fields.empty?
        return Secret.new(path: path, problem: MIXED) if !sure && fields.each_value.any?(Hash)

        Secret.new(path: path, fields: fields, metadata: {})
      end

      def version(path, fields, metadata)
        return fields(path, fields, true).tap { |secret| secret.metadata = kept(metadata) } if fields.is_a?(Hash)

        state = metadata['destroyed'] == true ? 'destroyed' : 'deleted'
        Secret.new(path: path, missing: "its version #{metadata['version']} is #{state}")
      end

      # @return [Hash] the metadata of the document: those of users, the version, its time, and that of its deletion
      def kept(metadata)
        own = metadata['custom_metadata']
        times = metadata.slice('version', 'created_time', 'deletion_time').reject { |_, value| value.to_s.empty? }
        { 'vault' => times }.merge(own.is_a?(Hash) ? own : {})
      end
    end
  end
end
