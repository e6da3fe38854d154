# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/cli/ssh_command'
require 'simpkv/ssh/authorized_keys'

module Simpkv
  module Cli
    module Commands
      module Ssh
        # Stores the keys of a file authorized_keys.
        class Import < SshCommand
          SUMMARY = 'store the SSH keys of a file authorized_keys'
          ARGUMENTS = 'FILE'
          DESCRIPTION = <<~TEXT
            Stores each SSH key of a file authorized_keys in a folder, for simpkv::authorized_keys: type, key, options
            and comment. - is standard input. Leaves the file as it is. The name of a key consists of its comment and
            of a digest of the line, so importing a file again changes nothing, and a line that is in the file twice is
            stored once. Keys that are in the folder already, under any name, stay as they are; so do those that the
            file lacks. Names each line that is no key on standard error, stores the others, and exits with 65.
          TEXT
          EXAMPLES = {
            'simpkv ssh import ~felix/.ssh/authorized_keys --folder ssh/felix' => 'The keys of a user',
            'ssh web1 cat .ssh/authorized_keys | simpkv ssh import - --folder ssh/felix' => 'From another host',
            'simpkv ssh import authorized_keys --folder ssh/felix --dry-run' => 'Print what would be stored'
          }.freeze

          def run(file)
            @folder = @folder.to_s.chomp('/')
            raise Failure.new('--folder FOLDER is needed, such as ssh/felix', Failure::USAGE) if @folder.empty?

            parsed = Simpkv::Ssh::AuthorizedKeys.parse(DataFile.bytes(file))
            stored, unchanged = store(parsed.keys.values.uniq)
            outcome = { stored: stored, unchanged: unchanged }
            output.print(data(outcome, parsed.broken)) { lines(outcome) }
            warn_of_types(file, parsed.keys)
            broken(file, parsed.broken)
          end

          private

          def define(parser)
            parser.on('--folder FOLDER', 'where to store the keys, such as ssh/felix') { |folder| @folder = folder }
            parser.on('-n', '--dry-run', 'print what would be stored, and store nothing') { @dry = true }
          end

          # @param keys [Array<PublicKey>]
          # @return [Array<Hash{String => PublicKey}>] by name: those that were stored, and those that were there
          def store(keys)
            return [{}, {}] if keys.empty?

            check_key("#{@folder}/#{keys.first.name}")
            there = existing_names
            unchanged, missing = keys.partition { |key| there.key?(key) }
            missing = missing.to_h { |key| [key.name, key] }
            write(missing) unless @dry || missing.empty?
            [missing, there.slice(*unchanged).invert]
          end

          # @return [Hash{PublicKey => String}] the keys of the folder, and their names
          def existing_names
            return {} if @dry && !backend.there?

            listed = about(@folder) do
              store = backend.store(create: !@dry)
              list_live(store, backend.path(@folder), required: false) { |_, document| key(document) }
            end
            listed[:keys].compact.invert
          end

          # @raise [Failure] one of them was not stored
          def write(keys)
            documents = keys.to_h { |name, key| [backend.path("#{@folder}/#{name}"), Codec.encode(key.to_value, {})] }
            # Expired keys are missing ones.
            results = noting_environment(@folder) do |store|
              VersionedStore.new(store).put_many(documents, condition: :absent)
            end
            path, error = results.find { |_, result| result.is_a?(Simpkv::Error) }
            return unless error

            raise Failure.new("#{backend.title}: '#{@folder}/#{File.basename(path)}': #{backend.explain(error)}",
                              Failure.code_for(error))
          end

          def data(outcome, broken)
            outcome.to_h { |word, keys| [word.to_s, keys.map { |name, key| { 'name' => name, **key.to_value } }] }
                   .merge('broken' => broken.map { |number, why| { 'line' => number, 'reason' => why } })
          end

          def lines(outcome)
            words = { stored: @dry ? 'would store' : 'stored', unchanged: 'unchanged' }
            outcome.flat_map do |word, keys|
              keys.map { |name, key| "#{words[word]}: #{@folder}/#{name} #{key.fingerprint}" }
            end
          end

          def warn_of_types(file, keys)
            keys.reject { |_, key| key.managed? }.each_key do |number|
              warn "simpkv: #{DataFile.title(file)}: line #{number}: simpkv::authorized_keys refuses keys of this " \
                   'type, because the module sshkeys_core cannot manage them'
            end
          end

          # @return [Integer, nil] the exit code
          def broken(file, lines)
            lines.each { |number, why| warn "simpkv: #{DataFile.title(file)}: line #{number} is not stored: #{why}" }
            Failure::DATA if lines.any?
          end
        end
      end
    end
  end
end
