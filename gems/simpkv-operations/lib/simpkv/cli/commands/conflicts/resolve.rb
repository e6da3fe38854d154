# frozen_string_literal: true

require 'digest/sha2'
require 'simpkv/cli/directory/conflict_entries'
require 'simpkv/cli/many_keys'
require 'simpkv/cli/transfer/transfer_command'

module Simpkv
  module Cli
    module Commands
      module Conflicts
        # Keeps one version of each key, and deletes the others.
        class Resolve < TransferCommand
          include ManyKeys

          SECTION = :storage
          SUMMARY = 'keep one version of such keys, and delete the others'
          ARGUMENTS = '[PATH...]'
          DESCRIPTION = <<~TEXT
            Keeps one version of each key that simpkv conflicts list shows, and deletes the entry that lost: the
            version that is in use (--keep used), the one that lost (--keep lost), or the one that was written last
            (--keep newest), which is refused if both were written in the same second. PATH is as list prints it;
            --all takes all of them. Folders that lost are deleted if they are empty, after their keys. Revived folders
            stay. Replaces the version in use only if no client has changed it meanwhile. Writes the dropped document
            into a journal first, which only its owner can read: --rollback JOURNAL brings it back in place of the kept
            one. Documents stay as they are stored, also encrypted ones. Exits with 65 if a conflict stays.
          TEXT
          EXAMPLES = {
            'simpkv conflicts resolve --all --keep newest --dry-run' => 'What would be kept',
            'simpkv conflicts resolve environments/production/app1/db_password --keep used' => 'One key',
            'simpkv conflicts resolve --rollback simpkv-conflicts-resolve-20261126T010203.000Z.journal' =>
              'Bring back what was dropped'
          }.freeze

          KEEP = %w[used lost newest].freeze
          NOT_USED = 'no version is in use, because the key was deleted: --keep lost stores the one that lost, and ' \
                     'then simpkv rm deletes it'
          private_constant :KEEP, :NOT_USED

          def run(*paths)
            raise Failure.new("#{backend.title} is not in a directory", Failure::USAGE) unless backend.ldap?
            return roll_back(backend.raw) if @rollback

            check(paths)
            @store = backend.raw.store
            @entries = ConflictEntries.at_writer(backend.settings)
            chosen = about('') { chosen(paths) }
            @errors = {}
            carry_out(chosen)
            report(@errors)
          end

          private

          def define(parser)
            @jobs = 1
            parser.on('--keep VERSION', KEEP, 'used, lost or newest') { |version| @keep = version }
            parser.on('-a', '--all', 'all conflicts of the backend') { @all = true }
            parser.on('-n', '--dry-run', 'print what would be kept, and change nothing') { @dry = true }
            parser.on('--journal FILE', 'the file of the journal (in the working directory)') do |file|
              @journal = DataFile.path(file, '--journal')
            end
            parser.on('--rollback JOURNAL', 'bring back what a journal has') do |file|
              @rollback = DataFile.path(file, '--rollback')
            end
          end

          def check(paths)
            raise Failure.new('which version is kept? --keep used, lost or newest', Failure::USAGE) unless @keep
            return unless paths.empty? ^ @all

            raise Failure.new('which conflicts? Name paths, or --all (simpkv conflicts resolve --help)', Failure::USAGE)
          end

          # @return [Array<ConflictEntries::Entry>] the keys first, then the folders, the innermost first
          # @raise [Failure] a path has no conflict
          def chosen(paths)
            lost = @entries.all(documents: true).select { |entry| entry.lost? && entry.path }
            refuse_others(paths - lost.map(&:path))
            lost = lost.select { |entry| paths.include?(entry.path) } unless @all
            keys, folders = lost.partition { |entry| entry.kind == 'key' }
            keys + folders.reverse
          end

          def refuse_others(paths)
            return if paths.empty?

            raise Failure.new("#{backend.title}: there is no conflict of '#{Output.name(paths.first)}'",
                              Failure::NO_INPUT)
          end

          # Prints what was resolved, also if the directory fails then.
          def carry_out(chosen)
            several = chosen.group_by(&:path).select { |_, entries| entries.length > 1 }
            kept = {}
            chosen.each do |entry|
              noting_error(entry.path) do
                version = version_of(entry, several)
                resolve(entry, version) unless @dry
                kept[entry] = version
              end
            end
          ensure
            @record&.close(true)
            present(kept)
          end

          # @return [String] used or lost
          def version_of(entry, several)
            return 'used' if entry.kind == 'folder'

            used = in_use(entry)
            return 'used' if @keep == 'used'
            raise ConflictError, 'several versions have lost: keep the used one' if several.key?(entry.path)
            return 'lost' if @keep == 'lost' || used.nil?

            newer(entry.time, used.first)
          end

          def in_use(entry)
            used = @entries.in_use(entry.path)
            raise ConflictError, NOT_USED if used.nil? && @keep == 'used'

            used
          end

          # @param lost [String, nil] when the version was written; nil if that is hidden
          # @param used [String, nil]
          def newer(lost, used)
            if lost.nil? || used.nil?
              raise ConflictError, 'this identity may not see when both versions were written: --keep used or lost'
            end
            raise ConflictError, "both versions were written at #{lost}: --keep used or lost" if lost == used

            lost > used ? 'lost' : 'used'
          end

          def resolve(entry, version)
            if entry.kind == 'key'
              used = @store.get(entry.path, latest: true, required: false)
              raise ConflictError, NOT_USED if used.nil? && version == 'used'

              replace(entry, used, version) unless used == entry.document
            end
            @entries.delete(entry)
          end

          def replace(entry, used, version)
            lost = entry.document
            kept, dropped = version == 'lost' ? [lost, used] : [used, lost]
            record.record([Journal::Change.new(entry.path, dropped, Digest::SHA256.hexdigest(kept.to_s))])
            return if version == 'used'

            condition = used.nil? ? :absent : :expect
            @store.put(entry.path, lost, condition: condition, expect: used, keep_encrypted: false)
          end

          # @return [Journal]
          def record
            @record ||= open_journal('target' => backend.address, 'source' => 'conflicts')
          end

          # @param kept [Hash{ConflictEntries::Entry => String}] by entry, the version that was kept
          def present(kept)
            done = kept.map { |entry, version| { 'path' => entry.path, 'kind' => entry.kind, 'kept' => version } }
            file = @record&.file
            output.print('resolved' => done, 'dry_run' => @dry ? true : false, 'journal' => file) do
              [*done.map { |one| "#{one['path']}: #{outcome_of(one)}" }, *("journal: #{file}" if file)]
            end
          end

          def outcome_of(one)
            verb = one['kind'] == 'folder' ? 'delete' : 'keep'
            past = { 'delete' => 'deleted', 'keep' => 'kept' }.fetch(verb)
            "#{@dry ? "would #{verb}" : past}#{" the #{one['kept']} version" if verb == 'keep'}"
          end
        end
      end
    end
  end
end
