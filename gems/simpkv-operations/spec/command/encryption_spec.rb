# frozen_string_literal: true

require 'json'
require_relative '../../../../spec/command/command_helper'
require_relative '../../../../spec/support/standing_clock'
require_relative '../../../../spec/support/key_file'

# An encrypted backend, and the commands for keys.
RSpec.shared_examples 'a backend with keys' do
  include KeyFile

  let(:place) { backends['default'].slice('type', 'id').values.join('/') }
  let(:encryption) { { 'encryption_keys' => key_file } }
  let(:paths) { %w[globals/a environments/production/b environments/production/deep/c] }

  # Sets options of the backend.
  def configure(more = {})
    all = backends.merge('default' => backends['default'].merge(more))
    File.write(config, { 'backends' => all }.to_yaml)
  end

  # @return [Hash{String => String, Symbol}] the kid of each document
  def states
    paths.to_h { |path| [path, Simpkv::Native::Keyring.kid_of(store.get(path, latest: true)) || :plain] }
  end

  def document(value)
    Simpkv::Codec.encode(value)
  end

  before do
    paths.each { |path| store.put(path, document("pl4nted in #{path}")) }
    write_keys('old')
    configure(encryption)
  end

  def get(path)
    root, rest = path.split('/', 2)
    simpkv!('get', *(root == 'globals' ? ['-g', rest] : ['-e', *rest.split('/', 2)]))
  end

  def values
    paths.to_h { |path| [path, get(path)] }
  end

  let(:expected) { paths.to_h { |path| [path, "pl4nted in #{path}"] } }

  describe 'simpkv rekey' do
    it 'encrypts plain documents, renews old ones, and makes them plain again' do
      facts = JSON.parse(simpkv!('rekey', '--dry-run', '-o', 'json'))
      expect(facts).to eq('documents' => 3, 'plain' => 3, 'damaged' => 0, 'to change' => 3)
      expect(states.values.uniq).to eq([:plain])
      facts = JSON.parse(simpkv!('rekey', '-o', 'json'))
      expect(facts).to include('documents' => 3, 'under old' => 3, 'plain' => 0, 'changed' => 3, 'left' => 0)
      expect([states.values.uniq, values]).to eq([['old'], expected])
      expect(JSON.parse(simpkv!('stat', '-g', 'a', '-o', 'json')).keys & %w[encrypted encryption_key versions])
        .to eq(%w[encrypted encryption_key])
      expect(simpkv!('stat', '-g', 'a')).to match(/^encrypted: +with the key 'old'$/)
      write_keys('new', 'old')
      expect(simpkv!('rekey', '-g')).to match(/^under new: +1\n.*^changed: +1$/m)
      expect(states.values).to eq(%w[new old old])
      simpkv!('rekey')
      expect([states.values.uniq, values]).to eq([['new'], expected])
      configure(encryption.merge('encrypt' => 'none'))
      expect(JSON.parse(simpkv!('rekey', '-o', 'json'))).to include('changed' => 3, 'plain' => 3)
      expect(paths.map { |path| store.get(path) }).to eq(paths.map { |path| document("pl4nted in #{path}") })
      configure
      expect(values).to eq(expected)
    end

    it 'encrypts only documents with a Sensitive with encrypt: sensitive' do
      configure(encryption.merge('encrypt' => 'sensitive'))
      store.put('globals/a', Simpkv::Codec.encode({ '__ptype' => 'Sensitive', '__pvalue' => 'x' }, {}, 'pcore'))
      simpkv!('rekey')
      expect(states.values).to eq(['old', :plain, :plain])
    end

    it 'names documents that it cannot decrypt, and changes the others' do
      simpkv!('rekey')
      store.put('globals/a', store.get('environments/production/b'))
      write_keys('new', 'old')
      dry, outcome = [%w[--dry-run], []].map { |options| simpkv('rekey', *options) }
      # The dry run exited with 0.
      expect([dry, outcome]).to all(have_attributes(code: 65, err: %r{'globals/a': cannot decrypt .*copied or moved}))
      expect(states.values).to eq(%w[old new new])
      expect(outcome.err + outcome.out).not_to match(/pl4nted|eyJ/)
    end

    it 'does not encrypt an encrypted document again that an editor has formatted' do
      simpkv!('rekey')
      edited = JSON.pretty_generate(JSON.parse(store.get('globals/a')))
      store.delete('globals/a') # A put of equal JSON would write nothing.
      store.put('globals/a', edited)
      [%w[rekey], %w[export x.jsonl], %w[doctor --read-only]].each do |arguments|
        outcome = simpkv(*arguments)
        expect(outcome.code).not_to eq(0)
        expect(outcome.err + outcome.out).to match(%r{globals/a'.*its encrypted document was edited: it must be})
      end
      expect(store.get('globals/a')).to eq(edited)
    end

    it 'needs keys' do
      configure
      expect(simpkv('rekey')).to have_attributes(code: 78, err: /#{place} has no 'encryption_keys'/)
    end
  end

  describe 'simpkv keys' do
    it 'rotates keys, and refuses to retire one that documents need' do
      simpkv!('rekey')
      kid = simpkv!('keys', 'generate').chomp
      expect(kid).to match(/\A\d{4}-\d\d-\d\d-\h{4}\z/)
      expect(JSON.parse(simpkv!('keys', 'list', '--count', '-o', 'json')))
        .to eq([{ 'kid' => 'old', 'state' => 'encrypts', 'created' => nil, 'documents' => 3 },
                { 'kid' => kid, 'state' => 'decrypts', 'created' => kid[0, 10], 'documents' => 0 }])
      expect(simpkv('keys', 'retire', 'old')).to have_attributes(code: 64, err: /'old' encrypts: make another key/)
      simpkv!('keys', 'activate', kid)
      expect(simpkv('keys', 'retire', 'old'))
        .to have_attributes(code: 65, err: /3 documents of #{place} could not be read without the key 'old'/)
      simpkv!('rekey')
      simpkv!('keys', 'retire', 'old')
      expect([simpkv!('keys', 'list'), values]).to match([/\AKID .*\n#{kid} +encrypts/, expected])
      expect(simpkv('keys', 'activate', 'old')).to have_attributes(code: 66, err: /has no key 'old': it has #{kid}/)
    end

    it 'names keys that documents need and the file lacks' do
      simpkv!('rekey')
      write_keys('new')
      expect(simpkv!('keys', 'list', '--count')).to match(/^old +missing +3$/)
      expect(simpkv('get', 'b', '-e', 'production').err).to match(/with the key 'old', which is not in #{key_file}/)
    end
  end

  describe 'simpkv doctor' do
    # @return [Array<Array<String>>] state, subject and observation of what is not ok
    def findings
      all = JSON.parse(simpkv('doctor', '--read-only', '--user', 'root', '-o', 'json').out)
      expect(all.to_s).not_to match(/pl4nted|eyJ/)
      all.reject { |each| %w[ok unknown].include?(each['state']) || each['what'].match?(/anonymous|rights|indexes/) }
         .map { |each| each.values_at('state', 'what', 'why') }
    end

    it 'finds plain documents, those of old keys and missing ones, damaged ones, and unused keys' do
      expect(findings).to eq([['warning', 'encryption', '3 plain documents']])
      simpkv!('rekey')
      expect(findings).to eq([])
      write_keys('new', 'old', 'older')
      expect(findings).to contain_exactly(['warning', 'keys', "3 documents encrypted with the old key 'old'"],
                                          ['warning', 'keys', "no document needs the key 'older'"])
      simpkv!('rekey', '-g')
      store.put('environments/production/b', store.get('environments/production/b').sub('"jwe"', '"jwf"'))
      write_keys('new')
      expect(findings).to include(
        ['problem', 'keys', "1 document encrypted with 'old', a key that #{key_file} lacks"],
        ['problem', "key 'environments/production/b'", /damaged/],
        ['problem', "key 'environments/production/deep/c'", /the key 'old', which is not in/]
      )
    end

    it 'finds documents that the options do not decrypt, or should not be encrypted any more' do
      simpkv!('rekey')
      configure(encryption.merge('encrypt' => 'none'))
      expect(findings).to eq([['warning', 'encryption', "3 documents still encrypted, with 'encrypt' none"]])
      configure
      expect(findings).to eq([['problem', 'encryption', "3 documents encrypted, and no 'encryption_keys'"]])
    end

    it 'names the remedy for each key that cannot be read' do
      simpkv!('rekey')
      copied = store.get('globals/a')
      store.delete('environments/production/b')
      store.put('environments/production/b', copied[0..-2])
      store.put('environments/production/deep/c', copied)
      store.put('globals/a', document('plain'), keep_encrypted: false)
      configure(encryption.merge('encrypted_only' => true))
      remedies = JSON.parse(simpkv('doctor', '--read-only', '--user', 'root', '-o', 'json').out)
                     .select { |each| each['what'].start_with?('key ') }.map { |each| each['fix'] }
      expect(remedies).to match([/its key, from a backup/, /its key, from a backup/, /rekey, store it anew/])
    end

    it 'finds a file of keys that others can read' do
      File.chmod(0o644, key_file)
      expect(findings).to match([['problem', 'keys', /has the mode 0644: only its owner may write it/]])
    end
  end

  describe 'times and earlier values' do
    include StandingClock

    it 'are encrypted, and every command reads them' do
      simpkv!('put', 'b', 'pl4nted-2', '--history', '2', '--expires-after', '1h')
      simpkv!('restore', 'b', '-1')
      raw = store.get(paths[1], latest: true)
      expect(raw).to match(/\A(?!.*(pl4nted|expires|history|stored_at)).*"encoding":"jwe"/)
      expect([simpkv!('get', 'b'), simpkv!('get', 'b', '--version', '-1'), simpkv!('log', 'b').lines.length])
        .to eq([expected[paths[1]], 'pl4nted-2', 2])
      at(7200) do
        expect([simpkv('exists', 'b').code, simpkv!('ls'), simpkv!('find')]).to eq([1, "deep/\n", "deep/c\n"])
        simpkv!('rekey')
        expect(simpkv!('expire')).to eq("#{paths[1]}\n")
      end
      expect(simpkv('exists', 'b', '--expired').code).to eq(1)
    end
  end

  describe 'simpkv export, import and copy' do
    it 'decrypt and encrypt again' do
      simpkv!('rekey')
      simpkv!('export', 'plain.jsonl')
      expect(File.read(File.join(folder, 'plain.jsonl'))).to include('pl4nted in globals/a')
      simpkv!('rm', '-g', 'a')
      simpkv!('import', 'plain.jsonl')
      expect([states.values.uniq, values]).to eq([['old'], expected])
      simpkv!('copy', 'default', 'default2')
      expect(simpkv!('get', '-b', 'default2', '-g', 'a')).to eq('pl4nted in globals/a')
      expect(JSON.parse(simpkv!('copy', 'default', 'default2', '-o', 'json'))).to include('unchanged' => 3)
    end

    it 'carry encrypted documents with --raw, and refuse a mix-up' do
      simpkv!('rekey')
      raws = store.get_many(paths)
      simpkv!('export', '--raw', 'raw.jsonl')
      text = File.read(File.join(folder, 'raw.jsonl'))
      expect(JSON.parse(text.lines.first)).to include('version' => 2, 'raw' => true, 'from' => place)
      expect(text).not_to include('pl4nted')
      expect(simpkv('import', 'raw.jsonl'))
        .to have_attributes(code: 65, err: /as they were stored in the backend '#{place}'.*: import it with --raw/)
      expect(simpkv('import', '--raw', '-b', 'default2', 'raw.jsonl'))
        .to have_attributes(code: 65, err: /encrypted ones could not be read in 'file.\w+': export them without --raw/)
      simpkv!('rm', '-g', 'a')
      simpkv!('import', '--raw', 'raw.jsonl')
      expect([store.get_many(paths), values]).to eq([raws, expected])
      simpkv!('export', 'plain.jsonl')
      expect(simpkv('import', '--raw', 'plain.jsonl'))
        .to have_attributes(code: 65, err: /this export has plain documents .*: import it without --raw/)
      expect(simpkv('copy', '--raw', 'default', 'default2'))
        .to have_attributes(code: 64, err: /could not be read in file.\w+: without --raw, they are encrypted again/)
    end

    it 'refuse encrypted documents of a backend whose options do not decrypt them' do
      simpkv!('rekey')
      configure
      [%w[export x.jsonl], %w[copy default default2]].each do |arguments|
        outcome = simpkv(*arguments)
        expect(outcome).to have_attributes(code: 65, err: %r{'globals/a': it is encrypted: set 'encryption_keys'})
      end
      expect(simpkv('get', '-b', 'default2', '-g', 'a').code).to eq(66)
    end
  end
end

RSpec.describe 'simpkv, with an encrypted backend' do
  describe 'in files' do
    include_context 'with keys in files'

    it_behaves_like 'a backend with keys'

    describe 'simpkv rekey and keys' do
      include KeyFile

      let(:backends) { super().tap { |all| all['default']['encryption_keys'] = key_file } }

      def many(count)
        (1..count).each { |number| store.put("globals/many/k#{number}", %({"value":#{number}})) }
      end

      def kids
        store.list('globals/many')[:keys].values.map { |raw| Simpkv::Native::Keyring.kid_of(raw) }.tally
      end

      it 'continues after a kill, and after an interrupt' do
        many(1500)
        write_keys('old')
        { 'KILL' => -9, 'INT' => -2, 'TERM' => -15 }.each do |signal, code|
          changed = kids.fetch('old', 0)
          outcome = simpkv('rekey', '--jobs', '2', *('--resume' if changed.positive?)) do |pid|
            sleep 0.005 until kids.fetch('old', 0) > changed
            Process.kill(signal, pid)
          end
          expect(outcome.code).to eq(code)
          expect(outcome.err).to match(/changed \d+ documents\. Run the same command with --resume/) unless code == -9
        end
        facts = JSON.parse(simpkv!('rekey', '--resume', '-o', 'json'))
        expect([facts, kids]).to match([a_hash_including('left' => 0, 'under old' => 1500), { 'old' => 1500 }])
        journals = Dir[File.join(folder, 'simpkv-rekey-*.journal')]
        expect(journals.map { |file| File.read(file) }).to match([include('"ended"')])
      end

      it 'copies encrypted documents as they are between two places of one backend' do
        write_keys('old')
        many(3)
        backends['moved'] = backends['default'].merge('root_path' => File.join(folder, 'moved'))
        simpkv!('rekey')
        simpkv!('copy', '--raw', 'default', 'moved')
        raws = store.list('globals/many')[:keys]
        moved = Simpkv::Store.open('file', 'root_path' => File.join(folder, 'moved'))
        expect([raws.values.join.scan('"jwe"').length, moved.list('globals/many')[:keys]]).to eq([3, raws])
        expect(simpkv!('get', '-b', 'moved', '-g', 'many/k2')).to eq('2')
        journal = Dir[File.join(folder, 'simpkv-copy-*.journal')].first
        expect(simpkv('copy', 'default', 'moved', '--rollback', journal))
          .to have_attributes(code: 64, err: /the journal of another run: it has another target/)
        simpkv!('copy', '--raw', 'default', 'moved', '--rollback', journal)
        expect(moved.list('globals/many')[:keys]).to eq({})
      end

      it 'makes a file of keys that only its owner can read, and keeps owner and mode later' do
        FileUtils.rm_f(key_file)
        kid = simpkv!('keys', 'generate', key_file).chomp
        expect(format('%04o', File.stat(key_file).mode & 0o7777)).to eq('0600')
        expect(Simpkv::Native::Keyring.new(key_file).kids).to eq([kid])
        File.chmod(0o640, key_file)
        File.chown(nil, 1, key_file) if Process.euid.zero?
        before = File.stat(key_file)
        FileUtils.ln_s(key_file, link = File.join(key_folder, 'link'))
        outcome = simpkv('keys', 'generate', link)
        expect(outcome.err).to match(/decrypts. To encrypt with it, give the file to each compiler/)
        after = File.stat(key_file)
        expect([after.mode, after.uid, after.gid]).to eq([before.mode, before.uid, before.gid])
        expect(after.ino).not_to eq(before.ino)
        expect(Simpkv::Native::Keyring.new(key_file).kids).to eq([kid, outcome.out.chomp])
        expect([File.symlink?(link), Dir.children(key_folder)]).to match([true, contain_exactly('keys', 'link')])
      end

      it 'loses no key of concurrent commands' do
        write_keys('first')
        threads = Array.new(4) { Thread.new { simpkv('keys', 'generate', key_file, process: true).out.chomp } }
        made = threads.map(&:value)
        expect(Simpkv::Native::Keyring.new(key_file).kids).to match_array(['first', *made])
      end

      it 'keeps further members of the file' do
        replace_keys(JSON.generate('note' => 'x', 'keys' => [jwk('a').merge('x-team' => 'ops')]))
        simpkv!('keys', 'generate', key_file)
        expect(JSON.parse(File.read(key_file))).to match('note' => 'x', 'keys' => [a_hash_including('x-team' => 'ops'),
                                                                                   a_hash_including('use' => 'enc')])
      end

      it 'does not change a file that it cannot use' do
        write_keys('a', mode: 0o644)
        before = File.read(key_file)
        expect(simpkv('keys', 'generate', key_file)).to have_attributes(code: 77, err: /has the mode 0644/)
        replace_keys('no JSON')
        expect(simpkv('keys', 'generate', key_file)).to have_attributes(code: 65, err: /is not JSON/)
        expect(simpkv('keys', 'generate', '/none/keys')).to have_attributes(code: 73, err: %r{no folder '/none'})
        expect([before.empty?, File.read(key_file)]).to eq([false, 'no JSON'])
      end

      it 'retires no key if it cannot see all documents, unless it is forced to' do
        write_keys('new', 'old')
        backends['plugged'] = { 'type' => 'acme', 'id' => 'x', 'encryption_keys' => key_file }
        other = File.join(key_folder, 'other').tap { |file| FileUtils.cp(key_file, file) }
        expect(simpkv('keys', 'retire', 'old', other))
          .to have_attributes(code: 78, err: /no one knows .*: no backend of the configuration uses #{other}/)
        expect(simpkv('keys', 'retire', 'old'))
          .to have_attributes(code: 78, err: /the backend 'plugged' is that of a plugin/)
        simpkv!('keys', 'retire', 'old', '--force')
        expect(Simpkv::Native::Keyring.new(key_file).kids).to eq(['new'])
      end

      it 'retires no key while a store is not mounted (it counted no documents)' do
        write_keys('new', 'old')
        root = backends['default']['root_path']
        backends['second'] = backends['default'].merge('id' => 'second', 'root_path' => File.join(folder, 'second'))
        many(1)
        expect(simpkv('keys', 'retire', 'old'))
          .to have_attributes(code: 78, err: %r{file/second has no folder '#{backends['second']['root_path']}'})
        expect(simpkv('keys', 'list', '--count')).to have_attributes(code: 65, err: /not counted: file.second has no/)
        File.write(config, { 'backends' => backends.slice('default') }.to_yaml)
        FileUtils.mv(root, "#{root}.away")
        Dir.mkdir(root)
        expect(simpkv('keys', 'retire', 'old')).to have_attributes(code: 78, err: /has no encrypted documents, and may/)
        expect(Simpkv::Native::Keyring.new(key_file).kids).to eq(%w[new old])
      end

      it 'counts the documents of a backend that names the file by another path' do
        write_keys('old', 'new')
        FileUtils.ln_s(key_folder, link = File.join(folder, 'link'))
        backends['default2'].merge!('encryption_keys' => File.join(link, 'keys'))
        many(1)
        simpkv!('put', '-b', 'default2', 'x', 'y')
        write_keys('new', 'old')
        expect(simpkv('keys', 'retire', 'old'))
          .to have_attributes(code: 65, err: /1 document of .* could not be read without the key 'old'/)
      end

      it 'retires no key while a document is damaged, which could be repaired' do
        write_keys('new', 'old')
        many(2)
        simpkv!('rekey')
        File.write(File.join(root, 'globals/many/k2'), "#{store.get('globals/many/k2')}\n")
        expect(simpkv('keys', 'retire', 'old'))
          .to have_attributes(code: 78, err: %r{globals/many/k2: its encrypted document is damaged, and may need})
      end

      it 'says that a link to a file of keys leads nowhere' do
        %w[/none/keys link].each do |target|
          FileUtils.ln_sf(target, link = File.join(key_folder, 'link'))
          expect(simpkv('keys', 'generate', link)).to have_attributes(code: 73, err: /is a link that leads nowhere/)
          expect(simpkv('keys', 'list', link)).to have_attributes(code: be_between(65, 77), err: /#{link}/)
        end
      end

      it 'shows no control characters of a document in findings' do
        write_keys('new')
        many(1)
        simpkv!('rekey')
        header = { 'alg' => 'dir', 'backend' => 'x/y', 'enc' => 'A256GCM', 'kid' => "a\nok \e[31m", 'path' => 'x' }
        coded = [header.to_json].pack('m0').tr('+/', '-_').delete('=')
        store.put('globals/many/k1', store.get('globals/many/k1').sub(/(?<="value":")\w+/, coded))
        expect(simpkv('doctor', '--read-only').out).to match(/document encrypted with 'a\\x0Aok \\x1B\[31m', a key/)
      end
    end
  end

  describe 'in slapd' do
    include_context 'with keys in a directory', Slapd, 'plain'

    it_behaves_like 'a backend with keys'
  end
end
