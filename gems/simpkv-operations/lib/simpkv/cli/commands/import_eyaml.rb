# frozen_string_literal: true

require 'simpkv/cli/transfer/eyaml'
require 'simpkv/cli/transfer/hiera_difference'
require 'simpkv/cli/transfer/hiera_files'
require 'simpkv/cli/transfer/hiera_lookups'
require 'simpkv/cli/transfer/import_command'

module Simpkv
  module Cli
    module Commands
      # Stores the encrypted values of Hiera data.
      class ImportEyaml < ImportCommand
        SECTION = :moving
        SUMMARY = 'store the encrypted values of Hiera data (eyaml)'
        ARGUMENTS = 'FILE...'
        INTO = 'hiera'
        NOTHING = 'there is no value with ENC[...] (--all imports the others too)'
        DESCRIPTION = <<~TEXT
          Decrypts the values with ENC[PKCS7,...] in files of Hiera with the gem hiera-eyaml, and stores each one, with
          all that is around it, as a Sensitive. With --all, stores the other values too, as they are. The files stay.

          The key app1::db_password of a FILE becomes the key hiera/app1::db_password, where simpkv::lookup_key finds
          it. If FILE is a folder, each file in it has a folder of its own: nodes/db1.yaml becomes hiera/nodes/db1.
          --into names another folder than hiera. With --split, app1::db_password becomes app1/db_password in it, for
          manifests. --map names a key itself.

          Hiera merges Hashes and Arrays of several files. In simpkv, all members of an encrypted one are Sensitive. So
          the command refuses one that several files have, until --merged store or skip says what to do.

          --compare OLD,NEW stores nothing: it looks all keys of the files up in both hierarchies, with lookup_options
          and all merges, for the node of --node with the facts of --facts. It lists the keys whose results differ,
          without their values, and exits with 65 if there are any. A value that becomes a Sensitive is no difference.
          The Ruby of the command must have Puppet.

          The private key is that of --pkcs7-private-key, or of the files that the command eyaml reads:
          /etc/eyaml/config.yaml, ~/.eyaml/config.yaml, .eyaml/config.yaml and $EYAML_CONFIG. Versions of the gem before
          4.1, such as that of Debian 12, need the certificate (public key) of eyaml as well. If a value cannot be
          decrypted, or a name cannot be a key, names the file and its key, and stores nothing.

          #{PROCEDURE}
        TEXT
        EXAMPLES = {
          'simpkv import-eyaml data --dry-run' => 'A dry run: which keys become which, without their values',
          'simpkv import-eyaml common.eyaml --pkcs7-private-key /etc/puppetlabs/puppet/keys/private_key.pkcs7.pem' =>
            'A file, with the private key of puppetserver',
          'simpkv import-eyaml data --compare hiera.yaml,new.yaml --node db1.example.com --facts db1.yaml' =>
            'What Hiera would find with another hiera.yaml',
          'simpkv import-eyaml common.eyaml --into / --split --map app1::db_password=app1/password' =>
            'For manifests that call simpkv::get'
        }.freeze

        # What Hiera does not look up here: see lib/puppet/functions/simpkv/lookup_key.rb.
        OWN = /\Asimpkv(::|\z)/.freeze
        INTERPOLATED = /%\{[^}]*\}/.freeze
        MERGED = 'several files have this Hash or Array, and Hiera may merge them. In simpkv, all its members are ' \
                 'Sensitive: --merged store stores it (then look at --compare), --merged skip leaves it in the files'
        private_constant :OWN, :INTERPOLATED, :MERGED

        def run(*names)
          return roll_back(backend) if @rollback
          raise Failure.new("simpkv import-eyaml takes #{ARGUMENTS} (simpkv import-eyaml --help)", Failure::USAGE) if
            names.empty?

          named = HieraFiles.new(names)
          files = named.to_enum.to_a
          @compare ? compare(files) : import(files, named.title)
        end

        private

        def import(files, title)
          @merged = merged(files)
          code = store(title) { |keys| read(files, keys) }
          tell_next unless @dry || code
          code
        end

        def define(parser)
          @eyaml = {}
          @map = {}
          @used = []
          @levels = []
          @how_merged = 'refuse'
          parser.on('--pkcs7-private-key FILE', 'the private key of eyaml') { |file| private_key(file) }
          parser.on('--pkcs7-public-key FILE', 'its certificate, which hiera-eyaml before 4.1 needs') do |file|
            @eyaml['pkcs7_public_key'] = DataFile.path(file, '--pkcs7-public-key')
          end
          parser.on('--all', 'also values that are not encrypted') { @all = true }
          parser.on('--split', "a folder for each part before '::'") { @split = true }
          parser.on('--map HIERA_KEY=NAME', 'the name of a key, in the folder') { |pair| map(pair) }
          parser.on('--merged HOW', %w[refuse store skip], 'refuse, store or skip encrypted Hashes and Arrays that ' \
                                                           'several files have') { |how| @how_merged = how }
          define_comparison(parser)
          super
        end

        def define_comparison(parser)
          parser.on('--compare OLD,NEW', Array, 'two hiera.yaml: look all keys up in both; store nothing') do |files|
            raise OptionParser::InvalidArgument, '--compare' unless files.length == 2

            @compare = files.map { |file| DataFile.path(file, '--compare') }
          end
          parser.on('--facts FILE', 'with --compare: the facts of the node (--node)') do |file|
            @facts = DataFile.path(file, '--facts')
          end
          parser.on('--modulepath PATH', 'with --compare: of Puppet') { |path| @modulepath = path }
        end

        def private_key(file)
          @eyaml['pkcs7_private_key'] = DataFile.path(file, '--pkcs7-private-key')
        end

        def map(pair)
          hiera, name = pair.split('=', 2)
          raise OptionParser::InvalidArgument, '--map' if [hiera, name].any? { |word| word.to_s.empty? }

          @map[hiera] = name
        end

        # @param files [Array<Array>] of {HieraFiles#each}
        # @return [Array<String>] the keys of encrypted Hashes and Arrays that several files have. Hiera may merge them,
        #   and all their members become Sensitive
        def merged(files)
          pairs = files.flat_map { |_, _, data| data.to_a }
          pairs.group_by { |key, _| key.to_s }.select do |_, found|
            found.length > 1 && found.any? { |_, value| !value.is_a?(String) && Eyaml.encrypted?(value) }
          end.keys
        end

        # @param files [Array<Array>] of {HieraFiles#each}
        # @param keys [GivenKeys] to be filled
        def read(files, keys)
          eyaml = Eyaml.new(@eyaml)
          files.each do |file, level, data|
            data.each { |key, value| take(keys, eyaml, [file, level, key.to_s], value) }
          end
          (@map.keys - @used).each { |key| keys.problem("--map #{key}", 'no file has a value for this key to import') }
        end

        # @param files [Array<Array>] of {HieraFiles#each}
        # @return [Integer, nil] the exit code
        def compare(files)
          keys = files.flat_map { |_, _, data| data.keys.map(&:to_s) }.uniq.sort
          keys = keys.reject { |key| key == 'lookup_options' || key.match?(OWN) }
          different = HieraDifference.all(*@compare.map { |file| lookups.results(file, keys) })
          output.facts('keys' => keys.length, 'equal' => keys.length - different.length,
                       'different' => different.length)
          report(different)
        end

        def lookups
          @lookups ||= HieraLookups.new(named_environment || 'production', @flags.fetch(:node, 'localhost'), @facts,
                                        @modulepath)
        end

        def take(keys, eyaml, (file, level, key), value)
          return unless @all || Eyaml.encrypted?(value)

          origin = "#{file}: #{key}"
          why = left_out(key, value)
          return tell_skipped(origin, why) if why

          @levels |= [level]
          keys.problem(origin, MERGED) if @how_merged == 'refuse' && @merged.include?(key)
          keys.add([level, name(key)].compact.join('/'), origin) { document(keys, eyaml, origin, value) }
        end

        # @return [String, nil] nil if there is a problem
        def document(keys, eyaml, origin, value)
          plain = eyaml.decrypt(value)
          tell_interpolation(origin) if HieraFiles.text?(plain) { |text| text.match?(INTERPOLATED) }
          Eyaml.encrypted?(value) ? RichData.sensitive(plain) : Codec.encode(plain)
        rescue Eyaml::Unreadable => e
          keys.problem(origin, e.message)
        end

        # @return [String, nil] the reason why the value is not stored
        def left_out(key, value)
          return 'Hiera finds no key of simpkv itself in simpkv' if key.match?(OWN)

          return 'it is null' if value.nil?

          'several files have it (--merged skip)' if @how_merged == 'skip' && @merged.include?(key)
        end

        def name(key)
          @used << key
          @map.fetch(key) { @split ? key.gsub('::', '/') : key }
        end

        # Hiera interpolates data in files, and nothing that simpkv returns.
        def tell_interpolation(origin)
          warn "simpkv: #{Output.name(origin)}: it has %{...}, which Hiera replaces in files, and not in simpkv"
        end

        # What has to be done in Hiera afterwards.
        def tell_next
          folders = @levels.map { |level| [*into.split('/').reject(&:empty?), level].compact.join('/') }
          return warn "simpkv: next, read these keys in manifests with simpkv::get (#{listed(folders)})" if @split

          warn "simpkv: next, give hiera.yaml levels with 'lookup_key: simpkv::lookup_key' (docs/hiera.md) for " \
               "#{listed(folders)}. Then remove the stored keys from the files"
        end

        def listed(folders)
          names = folders.first(10).map { |folder| folder.empty? ? 'all folders' : "the folder '#{folder}'" }
          "#{names.join(', ')}#{' and others' if folders.length > names.length}"
        end
      end
    end
  end
end
