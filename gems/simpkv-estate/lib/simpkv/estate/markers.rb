# frozen_string_literal: true

module Simpkv
  class Estate
    # Marker documents tell an empty folder of the estate from one that is missing or hidden (docs/adr/0052). `simpkv
    # init` makes one in the folder of each subject of {MARKED} and {MARKED_LATER}. A run adds one to the folder of each
    # exported type, and then adds the type to the marker of the exports, before it stores the first document:
    #
    #     { 'types' => ['host', 'nginx::vhost'] }
    #
    # So a type that this marker names has a folder with a marker. The marker of the inventory has the record of
    # {Agreement}, with those subjects of {MARKED_LATER} whose folders have a marker.
    class Markers < Documents
      EXPORTED = 'exported'
      private_constant :EXPORTED

      # @param documents [Hash{String => String}] the markers that were found, by the paths of their folders
      # @return [Array<String>] the paths of the folders that must have one as well. It may miss some if a marker cannot
      #   be decoded
      def self.lost(documents)
        named = lambda do |subject, member|
          value = Codec.decode(documents["#{FOLDER}/#{subject}"].to_s)[:value]
          value.is_a?(Hash) ? Array(value[member]) : []
        rescue MalformedError
          []
        end
        types = named.call(EXPORTED, 'types').map { |type| "#{EXPORTED}/#{type}" }
        folders = [*MARKED, *named.call(Agreement::SUBJECT, Agreement::FOLDERS), *types]
        folders.map { |folder| "#{FOLDER}/#{folder}" } - documents.keys
      end

      def initialize(estate)
        super(estate, '')
      end

      # @param folder [Array<String>] the names of a folder below the estate's
      # @return [String] the path of its marker
      def path(*folder)
        [FOLDER, *folder, MARKER].join('/')
      end

      # @param subject [String]
      # @return [void]
      # @raise [MissingError] its folder has no marker
      # @raise [Error] the marker cannot be read
      def demand(subject)
        stored = read(subject) || raise(MissingError.marker(subject))
        @estate.compare(stored.document) if subject == Agreement::SUBJECT
      end

      # @return [String, nil] the value of the option {Agreement::OPTION} that all processes must have
      # @raise [Error]
      def recorded
        marker = read(Agreement::SUBJECT)
        marker && @estate.agreement.recorded(marker.document)
      end

      # Replaces the record of the options that all processes must have, if there is a marker.
      #
      # @param record [Hash] see {Agreement}
      # @return [void]
      # @raise [Error]
      def record(record)
        update(Agreement::SUBJECT) { |value| value&.reject { |name, _| name == Agreement::OPTION }&.merge(record) }
      end

      # @return [void]
      # @raise [MissingError] a folder has no marker
      # @raise [Error] a marker cannot be read
      def demand_all
        MARKED.each { |subject| demand(subject) }
        @estate.agreement.folders.each { |subject| demand(subject) }
        types.each { |type| read(EXPORTED, type) || raise(MissingError.marker(EXPORTED, type)) }
      end

      # @return [Array<String>] the subjects of {MARKED_LATER} whose folders get a marker by the next `simpkv init`: an
      #   earlier version has made the estate. Until then, nothing tells whether they are there
      # @raise [MissingError, Error] as {#demand}
      def unmade
        demand(Agreement::SUBJECT)
        MARKED_LATER - @estate.agreement.folders
      end

      # @return [Array<String>] the exported types that have a folder
      # @raise [MissingError, Error] as {#demand}
      def types
        document = @estate.store.get(path(EXPORTED), required: false) || raise(MissingError.marker(EXPORTED))
        types_in(decoded(path(EXPORTED), document))
      end

      # Adds types before a run stores the first document of them.
      #
      # @param types [Array<String>]
      # @return [void]
      # @raise [MissingError] the folder of the exports, or of a type that has one, has no marker
      # @raise [Error]
      def add_types(types)
        return if types.empty?

        found = readable_markers([[EXPORTED], *types.map { |type| [EXPORTED, type] }])
        known = types_in(found.fetch([EXPORTED]) { raise MissingError.marker(EXPORTED) })
        lost = (types & known).find { |type| !found.key?([EXPORTED, type]) }
        raise MissingError.marker(EXPORTED, lost) if lost

        enter(types - known)
      end

      # Makes the markers of a new estate, or of one of an earlier version.
      #
      # @param incomplete [Boolean] whether to make those that an estate with markers has lost as well: what their
      #   folders held is lost then
      # @return [Array<String>] the folders that got one
      # @raise [MissingError] a folder has lost its marker, or its documents
      # @raise [Error]
      def make(incomplete: false)
        present, absent = MARKED.partition { |subject| read(subject) }
        types = known_types(present)
        refuse_lost(lost(present, absent, types) + lost_later) unless incomplete
        values = { EXPORTED => { 'types' => types }, Agreement::SUBJECT => empty? ? @estate.agreement.record : {} }
        made = types.select { |type| put_if_absent(EXPORTED, type, {}) }.map { |type| "#{EXPORTED}/#{type}" }
        made += (absent + MARKED_LATER).select { |subject| put_if_absent(subject, values.fetch(subject, {})) }
        record_later
        made
      end

      private

      def place(names)
        path(*names)
      end

      # @return [Boolean] whether the estate has no documents, so that none is plain
      def empty?
        @estate.store.list(FOLDER, required: false) { nil }[:folders].empty?
      end

      # The folders have no markers yet.
      def demand_folder; end

      def types_in(value)
        types = value['types'] if value.is_a?(Hash)
        return types if types.is_a?(Array) && types.all?(String)

        raise DeniedError.unreadable(path(EXPORTED), OTHER_FORM)
      end

      # The markers of the folders come first: see {Exports}.
      def enter(types)
        return if types.empty?

        put_many(types.to_h { |type| [[EXPORTED, type], Codec.encode({})] })
        update(EXPORTED) do |value|
          known = types_in(value || raise(MissingError.marker(EXPORTED)))
          (types - known).any? ? { 'types' => (known | types).sort } : nil
        end
      end

      # @return [Hash{Array<String> => Object}] as {#read_many}
      # @raise [Error] one cannot be read
      def readable_markers(folders)
        read_many(folders).each_value { |value| raise value if value.is_a?(Error) }
      end

      # @param present [Array<String>] the subjects with a marker
      # @return [Array<String>] the exported types that the estate has
      def known_types(present)
        return types if present.include?(EXPORTED)

        present.empty? ? folders_of_exports | types_of_inventory : folders_of_exports
      end

      def folders_of_exports
        @estate.store.list([FOLDER, EXPORTED].join('/'), required: false) { nil }[:folders]
      end

      # @return [Array<String>] the types of which an estate of an earlier version must have documents
      def types_of_inventory
        listed = @estate.store.list([FOLDER, 'inventory'].join('/'), required: false) do |name, document|
          record = value_or_nil("#{FOLDER}/inventory/#{name}", document)
          exports = record['exports'] if record.is_a?(Hash)
          exports.is_a?(Hash) ? exports.compact.keys : []
        end
        listed[:keys].values.flatten.uniq
      end

      # @return [Array<String>] the subjects of {MARKED_LATER} whose folders have lost their marker
      def lost_later
        recorded = read(Agreement::SUBJECT)&.value.to_h.fetch(Agreement::FOLDERS, [])
        recorded.reject { |subject| read(subject) }
      end

      # The markers come first: a folder that is recorded must have one.
      def record_later
        update(Agreement::SUBJECT) do |value|
          value.merge(Agreement::FOLDERS => value.fetch(Agreement::FOLDERS, []) | MARKED_LATER)
        end
        demand(Agreement::SUBJECT)
      end

      # @return [Array<String>] folders that were there, below the estate's
      def lost(present, absent, types)
        there = present.empty? ? folders_of_exports : types.select { |type| read(EXPORTED, type) }
        (present.empty? ? [] : absent) + (types - there).map { |type| "#{EXPORTED}/#{type}" }
      end

      def refuse_lost(folders)
        return if folders.empty?

        raise MissingError, "the estate is not complete: '#{FOLDER}/#{folders.min}' is missing, has lost its marker, " \
                            'or is hidden from this identity. Restore it from a backup, or correct the rights. ' \
                            '--incomplete gives up what it held: collectors that purge then remove what they miss'
      end
    end
    private_constant :Markers
  end
end
