# frozen_string_literal: true

require 'simpkv/cli/doctor/examination'
require 'simpkv/cli/encryption/encryption_key_use'
require 'simpkv/estate'

module Simpkv
  module Cli
    # Checks whether the documents of the estate agree with each other. Reads a document again that looks wrong, because
    # nodes run meanwhile.
    class DocumentsExamination < Examination
      # The seconds by which clocks may differ.
      AHEAD = 600
      # The members of the documents of a node that have the time of what is stored.
      TIMES = %w[producer_timestamp report_timestamp catalog_timestamp exported_at deactivated].freeze
      private_constant :AHEAD, :TIMES

      # @param estate [Estate] in the backend
      # @param arguments [Array] see {Examination#initialize}
      def initialize(estate, *arguments, **more)
        super(*arguments, **more)
        @estate = estate
      end

      # @return [void]
      # @raise [Estate::MissingError] a folder is missing
      # @raise [Simpkv::Error] the backend cannot be used
      def perform
        return if look_at_plain.any? || look_at_folders.any?

        look_at_record
        look_at_documents if look_at_names.empty?
      end

      private

      def look_at_documents
        @paths = backend.store.tree(Estate::FOLDER, values: false, required: false)[:keys].keys
        @paths.reject! { |path| File.basename(path) == Estate::MARKER }
        @records = read_records
        wrong = look_at_facts + look_at_types + look_at_orphans + look_at_exports + look_at_times
        return if wrong.any?

        findings.ok('nodes', "#{Output.count(@records.length, 'node')}, #{Output.count(@paths.length, 'document')}")
      end

      # The other checks cannot read plain documents of an encrypted estate.
      def look_at_plain
        return [] unless settings['encrypt'] == 'all' && backend.encrypted? && @estate.pinned?

        each_named(plain.sort, 'encryption') do |path|
          findings.problem("key '#{Output.name(path)}'",
                           'it is not encrypted, though the estate is: a process with other options has stored it',
                           'look at what it holds, and correct the options of that process. Then run ' \
                           "#{simpkv('rekey', '--accept-plain')}, or delete it: #{removal(path)}")
        end
      end

      # The other checks cannot read what is in place of a document, of a marker, or of a folder.
      def look_at_folders
        tree = backend.store.tree(Estate::FOLDER, values: false, required: false)
        folders, keys = [tree[:folders], tree[:keys].keys].map { |paths| paths.map { |path| "#{Estate::FOLDER}/#{path}" } }
        wrong = Estate::Completeness.misplaced(folders, keys)
        each_named(wrong.sort, 'names') do |path, why|
          recursive = '-r' unless keys.include?(path)
          findings.problem("key '#{Output.name(path)}'", why,
                           "delete it: #{simpkv('rm', *recursive, *operands(path))}. Then restore what belongs there " \
                           'from a backup')
        end
      end

      # @return [Array<String>] the paths of plain documents
      def plain
        paths = []
        EncryptionKeyUse.each(backend.store, [Estate::FOLDER], {}) { |path, state, _| paths << path if state == :plain }
        paths
      end

      def look_at_record
        @estate.markers.demand_all
        look_at_later_folders
        mode = settings['encrypt']
        return if !backend.encrypted? || mode == 'none' || @estate.pinned?

        findings.warning('nodes', "the estate does not record 'encrypt: #{mode}': a process with other options may " \
                                  'store plain documents in it', "#{simpkv('rekey')}, when all processes have it")
      end

      def look_at_later_folders
        folders = @estate.markers.unmade
        return if folders.empty?

        findings.warning('nodes', 'an earlier version made the estate, and nobody would notice the loss of its ' \
                                  "folders #{folders.join(', ')}", simpkv('init', '--only', 'estate'))
      end

      # No other check, and no index, can read these.
      def look_at_names
        wrong = Estate::Misnamed.new(@estate).all
        each_named(wrong.sort, 'names') do |why|
          findings.problem('nodes', why, "another program has stored this document: #{Estate::Misnamed::REMEDY}")
        end
      end

      def read_records
        errors = {}
        records = @estate.inventory.all { |key, why| errors[key] = why }
        each_named(errors.sort, 'inventory') do |key, why|
          findings.problem("key '#{Output.name(key)}'", why, stored_anew(File.basename(key)))
        end
        records
      end

      # Unchanged facts are not stored again, so a run alone does not bring them back.
      def look_at_facts
        there = Set.new(below('facts'))
        missing = @records.select { |name, record| record['facts_digest'] && !there.include?(name) }.keys.sort
        missing.select! { |name| lost_facts?(name) }
        each_named(missing, 'facts') do |name|
          findings.problem("facts of '#{Output.name(name)}'", 'they are missing, though the inventory names them',
                           stored_anew(name))
        end
      end

      def lost_facts?(name)
        @estate.facts.find(name)
        false
      rescue Estate::MissingError
        true
      end

      # Earlier versions entered such a type before they noticed.
      def look_at_types
        wrong = @records.flat_map { |name, record| [name].product(@estate.exports.impossible(name, record)) }
        each_named(wrong.sort, 'exports') do |name, type|
          type = Output.name(Estate::KeyNames.shown(type))
          findings.problem("exports of '#{Output.name(name)}'",
                           "the inventory names the type #{type}, which no key can have", stored_anew(name))
        end
      end

      # A save deletes the exports of the types that the inventory names; exports of other types would stay for ever.
      def look_at_orphans
        stored = below('exported').map { |path| path.split('/', 2) }.select { |pair| pair.length == 2 }
        orphans = stored.reject { |type, name| exports?(@records[name], type) }
        orphans = orphans.sort.reject { |type, name| exports?(record(name), type) }
        each_named(orphans, 'exports') do |type, name|
          fix = removal("#{Estate::FOLDER}/exported/#{type}/#{name}")
          unless @records.key?(name)
            fix = "#{simpkv('node', 'deactivate', name, '--purge')}, unless the node runs again"
          end
          findings.problem("exports of '#{Output.name(name)}'",
                           "the inventory does not name the type #{Output.name(type)}", fix)
        end
      end

      def exports?(record, type)
        record.is_a?(Hash) && (record['exports'] || {}).key?(type)
      end

      # A save leaves alone the types whose digests in the inventory are those of the new exports.
      def look_at_exports
        digests = Hash.new { |types, type| types[type] = digests_of(type) }
        wrong = differing(digests).sort.reject { |type, name| agree?(type, name) }
        each_named(wrong, 'exports') do |type, name|
          state = digests[type].key?(name) ? 'are not those that' : 'are missing, though'
          findings.problem("exports of '#{Output.name(name)}'",
                           "those of type #{Output.name(type)} #{state} the inventory names", stored_anew(name))
        end
      end

      # @param digests [Hash{String => Hash}] of the documents, by the type and the name of the node
      # @return [Array<Array(String, String)>] type and name of the node
      def differing(digests)
        @records.flat_map do |name, record|
          types = (record['exports'] || {}).select { |type, digest| digest && digest != digests[type][name] }
          types.keys.product([name])
        end
      end

      # @return [Hash{String => String, nil}] by the names of nodes
      def digests_of(type)
        backend.store.list("#{Estate::FOLDER}/exported/#{type}", required: false) { |_, text| digest(text) }[:keys]
      end

      # @return [String, nil] as in the inventory; nil if the document cannot be read
      def digest(document)
        value = decoded(document)
        value && Estate::Inventory.digest(Codec.encode(value))
      end

      # Reads the record before and after the document: if both are the same, no save has ended in between.
      def agree?(type, name)
        record = record(name)
        wanted = (record['exports'] || {})[type] if record
        return true if wanted.nil?

        document = backend.store.get("#{Estate::FOLDER}/exported/#{type}/#{name}", latest: true, required: false)
        (document && digest(document) == wanted) || record(name) != record
      end

      # What the node sends until then counts as late, and changes nothing.
      def look_at_times
        statuses = @estate.statuses.all { |_key, _why| nil }
        names = [@records, statuses].flat_map { |documents| documents.select { |_, value| ahead?(value) }.keys }
        facts = backend.store.list("#{Estate::FOLDER}/facts", required: false) { |_, text| ahead?(decoded(text)) }
        each_named((names | facts[:keys].select { |_, ahead| ahead }.keys).sort, 'times') do |name|
          findings.problem("node '#{Output.name(name)}'",
                           'its documents have times in the future, so that what it sends counts as late',
                           'correct the clock of the server that has sent them. Then ' \
                           "#{simpkv('node', 'deactivate', name, '--purge')}, which removes its reports, too: the " \
                           "next run of #{Output.name(name)} stores the rest anew")
        end
      end

      def ahead?(value)
        limit = Estate::Produced.order((Time.now.utc + AHEAD).iso8601)
        value.is_a?(Hash) && value.values_at(*TIMES).grep(String).any? { |time| Estate::Produced.order(time) > limit }
      end

      # @return [Object, nil] nil if the document cannot be read
      def decoded(document)
        Codec.decode(document)[:value]
      rescue MalformedError
        nil
      end

      # @return [Hash, nil] the record of the inventory as it is now; nil if there is none that can be read
      def record(name)
        @estate.inventory.readable(name)&.value
      end

      # @return [Array<String>] the paths below a subject's folder
      def below(subject)
        @paths.select { |path| path.start_with?("#{subject}/") }.map { |path| path.delete_prefix("#{subject}/") }
      end

      # @param wrong [Array]
      # @param what [String] the subject of the finding that counts those that are not named
      # @return [Array] the same
      def each_named(wrong, what, &block)
        wrong.first(NAMED).each(&block)
        return wrong if wrong.length <= NAMED

        findings.problem(what, "#{wrong.length} such documents, of which #{NAMED} are named", 'repair each of them')
        wrong
      end
    end
  end
end
