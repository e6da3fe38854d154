# frozen_string_literal: true

require 'securerandom'

module Simpkv
  class Estate
    # The exported resources of each node, a document for each type: a list of Hashes with at least `title`.
    #
    # The record of the inventory names each type of which a document may be stored. So a type enters it before its
    # document is stored, and leaves it after its document is deleted. A save that dies leaves each document old or new,
    # and the next save of the node completes it.
    class Exports
      ATTEMPTS = 20
      private_constant :ATTEMPTS

      def initialize(estate)
        @estate = estate
        @documents = Documents.new(estate, 'exported')
      end

      # Stores what a node exports now, in place of what it exported before. Writes nothing if it is the same.
      #
      # @param certname [String]
      # @param resources [Hash{String => Array<Hash>}] plain data by the lower-case name of the type
      # @param environment [String] in which the node was compiled
      # @return [void]
      # @raise [ConflictError] others kept saving exports of this node
      # @raise [Error]
      def save(certname, resources, environment)
        wanted = resources.transform_values { |list| Documents.digest(list) }
        stored = @estate.inventory.take(certname)
        ATTEMPTS.times do
          return if current?(stored, wanted, environment)

          return store(certname, stored, resources, { 'environment' => environment, 'exports' => wanted, **seen })
        rescue ConflictError, ExistsError
          stored = @estate.inventory.take(certname)
        end
        raise ConflictError, "the exports of '#{certname}' could not be saved: others have changed them #{ATTEMPTS} " \
                             'times meanwhile: try again'
      end

      # @param type [String] in lower case
      # @yieldparam key [String] of a document that cannot be read
      # @yieldparam why [String]
      # @return [Hash{String => Array<Hash>}] the resources that nodes export, by the nodes' names; without those of
      #   nodes that have expired
      def all(type, &block)
        expired = @estate.statuses.expired
        @documents.all(type, &block).reject { |certname, _| expired.include?(certname) }
      end

      # @param certname [String]
      # @return [Hash{String => Array<Hash>}] by type
      def of(certname)
        types = (@estate.inventory.get(certname) || {}).fetch('exports', {}).keys
        types.to_h { |type| [type, @documents.get(type, certname)] }.compact
      end

      # @return [Array<String>] all types of which a document is stored, or was
      def types
        @estate.store.list(@documents.path, required: false) { nil }[:folders].sort
      end

      # Deletes what a node exported, of any type.
      #
      # @param certname [String]
      # @return [Integer] the number of documents
      def delete(certname)
        types.count { |type| @documents.delete(type, certname) }
      end

      private

      def current?(stored, wanted, environment)
        record = stored&.value
        record && record['exports'] == wanted && record['environment'] == environment && !stale?(record)
      end

      # A record is renewed four times in the lifetime of a node.
      def stale?(record)
        lifetime = @estate.options['node_ttl']
        lifetime && record['seen'].to_s < (Time.now.utc - (lifetime / 4)).iso8601
      end

      def seen
        @estate.options['node_ttl'] ? { 'seen' => Time.now.utc.iso8601 } : {}
      end

      def store(certname, stored, resources, members)
        record = stored&.value || {}
        wanted = members['exports']
        before = record.fetch('exports', {})
        changed = (wanted.keys | before.keys).reject { |type| before[type] && before[type] == wanted[type] }
        stored = mark(certname, stored, before, changed) if changed.any?
        changed.each { |type| write(type, certname, resources[type]) }
        record = (stored&.value || {}).reject { |name, _| name == 'saving' }.merge(members)
        @estate.inventory.replace_stored(certname, stored, record)
      end

      # Two saves at once have different marks, so that one of them fails.
      def mark(certname, stored, before, changed)
        marks = before.merge(changed.to_h { |type| [type, nil] })
        record = (stored&.value || {}).merge('exports' => marks, 'saving' => SecureRandom.hex(8))
        @estate.inventory.replace_stored(certname, stored, record)
      end

      def write(type, certname, list)
        return @documents.delete(type, certname) unless list

        @documents.update(type, certname) { list }
      end
    end
  end
end
