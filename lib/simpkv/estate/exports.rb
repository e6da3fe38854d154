# frozen_string_literal: true

require 'securerandom'

module Simpkv
  class Estate
    # The exported resources of each node, a document for each type: a list of Hashes with at least `title`.
    #
    # The record of the inventory names each type of which a document may be stored, with the digest of the document.
    # A save first enters its token and the types that it changes, without digests; then it writes and deletes
    # documents; then it enters the digests. If it dies, the digests are missing, and the next save of the node
    # completes it. If other saves of the node are on their way, the last of them enters the digests: a save that was
    # overtaken may write documents before it notices.
    class Exports
      ATTEMPTS = 100

      # The number of seconds after which a save that has not ended counts as dead.
      SAVING_FOR = 300
      private_constant :ATTEMPTS, :SAVING_FOR

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
        token = SecureRandom.hex(8)
        members = { 'environment' => environment, 'exports' => resources.transform_values { |l| Documents.digest(l) } }
        stored = @estate.inventory.take(certname)
        ATTEMPTS.times do |attempt|
          return current?(stored, members) ? nil : store(certname, token, stored, resources, members)
        rescue ConflictError, ExistsError
          sleep(rand * 0.01 * attempt)
          stored = @estate.inventory.readable(certname)
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
        @documents.all(type, valid: method(:resources?), &block).reject { |certname, _| expired.include?(certname) }
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

      # Deletes what a node exported, of any type. The next save of the node stores it again.
      #
      # @param certname [String]
      # @return [Integer] the number of documents
      def delete(certname)
        @estate.inventory.update(certname) do |record|
          record&.merge('exports' => record.fetch('exports', {}).transform_values { nil })
        end
        types.count { |type| @documents.delete(type, certname) }
      end

      private

      def resources?(value)
        value.is_a?(Array) && value.all? { |resource| resource.is_a?(Hash) && resource?(resource) }
      end

      def resource?(resource)
        title, parameters, tags = resource.values_at('title', 'parameters', 'tags')
        title.is_a?(String) && !title.empty? && (parameters.nil? || parameters.is_a?(Hash)) &&
          (tags.nil? || (tags.is_a?(Array) && tags.all?(String)))
      end

      def current?(stored, members)
        record = stored&.value
        record && !record['saving'] && members.all? { |name, value| record[name] == value } &&
          !@estate.inventory.stale?(record)
      end

      def store(certname, token, stored, resources, members)
        before = before(stored)
        wanted = members['exports']
        changed = (wanted.keys | before.keys).reject { |type| before[type] && before[type] == wanted[type] }
        if changed.any?
          stored = mark(certname, token, stored, before, changed) unless marked?(token, stored, changed)
          write(certname, resources, changed)
        end
        finish(certname, token, stored, members)
      end

      # A record that cannot be read may have had any type.
      def before(stored)
        return {} unless stored

        stored.value ? stored.value.fetch('exports', {}) : types.to_h { |type| [type, nil] }
      end

      # A save that repeats itself does not disturb the others a second time.
      def marked?(token, stored, changed)
        record = stored&.value
        record && saving(record).key?(token) && changed.all? { |type| record['exports'].fetch(type, '').nil? }
      end

      def mark(certname, token, stored, before, changed)
        record = stored&.value || {}
        saving = saving(record).merge(token => Time.now.utc.iso8601)
        marked = record.merge('exports' => before.merge(changed.to_h { |type| [type, nil] }), 'saving' => saving)
        @estate.inventory.replace_stored(certname, stored, marked)
      end

      def write(certname, resources, changed)
        kept, gone = changed.partition { |type| resources[type] }
        @documents.put_many(kept.to_h { |type| [[type, certname], resources[type]] })
        gone.each { |type| @documents.delete(type, certname) }
      end

      def finish(certname, token, stored, members)
        record = stored&.value || {}
        others = saving(record).reject { |other, _| other == token }
        # The token tells each of the others that the record has changed since its own mark.
        left = { 'exports' => record['exports'], 'saving' => others, 'overtaken_by' => token }
        record = record.reject { |name, _| left.key?(name) }.merge(members, others.any? ? left : {})
        record['seen'] = Time.now.utc.iso8601 if @estate.options['node_ttl']
        @estate.inventory.replace_stored(certname, stored, record)
      end

      # The saves that may still be on their way.
      def saving(record)
        oldest = (Time.now.utc - SAVING_FOR).iso8601
        (record['saving'] || {}).select { |_, time| time.to_s >= oldest }
      end
    end
  end
end
