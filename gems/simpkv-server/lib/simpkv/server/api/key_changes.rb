# frozen_string_literal: true

require 'simpkv/server/api/key_body'

module Simpkv
  module Server
    module Api
      # Changes of a stored document that take no value from the client.
      module KeyChanges
        METADATA = 'metadata'
        # The members of a document before its metadata.
        BEFORE = %w[value encoding original_encoding].freeze
        private_constant :METADATA, :BEFORE

        class << self
          # @param body [Hash{String => Object}] of a PUT
          # @return [Boolean] whether it changes metadata only
          def metadata?(body)
            body.keys == [METADATA]
          end

          # Makes an earlier value the current one.
          #
          # @param key [StoredKey]
          # @param conditions [Conditions]
          # @param body [Hash{String => Object}] of the PUT
          # @return [Array(Boolean, String)] as {StoredKey#replace}
          # @raise [Problem]
          def restore(key, conditions, body)
            change(key, conditions, &KeyBody.restoring(body))
          end

          # Changes the metadata of a key.
          #
          # @param key [StoredKey]
          # @param conditions [Conditions]
          # @param body [Hash{String => Object}] of the PUT
          # @return [Array(Boolean, String)] as {StoredKey#replace}
          # @raise [Problem]
          def metadata(key, conditions, body)
            change(key, conditions) { |old| with_metadata(old, body[METADATA]) }
          end

          # Deletes an earlier version of a key. The current one goes with the key.
          #
          # @param number [Integer]
          # @return [Array(Boolean, String)] as {#metadata}
          # @raise [Problem]
          def delete_version(key, conditions, number)
            raise Problem.new(400, 'version: only an earlier one can be deleted, from -1 to -100') if number.zero?

            change(key, conditions) { |old| without_version(old, number) }
          end

          private

          def change(key, conditions)
            key.replace(conditions) do |old|
              raise Problem.new(404, "there is no key '#{key.name}'") if old.nil?

              yield old
            end
          end

          # @param document [String]
          # @param metadata [Object]
          # @return [String] the document with other metadata
          # @raise [Problem] these are no metadata
          # @raise [MalformedError]
          def with_metadata(document, metadata)
            raise Problem.new(400, 'metadata: it must be an object') unless metadata.is_a?(Hash)

            members = Codec.members(document)
            if RichData.decode(Versions.version(document, 0)).key?(:encoding) && typed?(metadata)
              raise Problem.new(400, "metadata: no member of it can have the name #{RichData::TYPE}")
            end

            Native.generate(members.slice(*BEFORE).merge(METADATA => metadata, **members.except(*BEFORE, METADATA)))
          end

          # @param document [String]
          # @param number [Integer] of an earlier version
          # @return [String] the document without this version
          # @raise [Problem] there is no such version
          # @raise [MalformedError]
          def without_version(document, number)
            members = Codec.members(document)
            history = Versions.history_of(members)
            raise KeyBody.no_version(number) unless number.between?(-history.length, -1)

            history.delete_at(-number - 1)
            Native.generate(history.empty? ? members.except('history') : members.merge('history' => history))
          end

          # Plain data with this member would be data of Puppet in a document that has some.
          def typed?(data)
            case data
            when Hash then data.key?(RichData::TYPE) || data.each_value.any? { |member| typed?(member) }
            when Array then data.any? { |member| typed?(member) }
            else false
            end
          end
        end
      end
    end
  end
end
