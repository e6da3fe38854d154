# frozen_string_literal: true

require_relative '../../../../spec/support/command'
require_relative '../../../../spec/support/ds389'
require_relative '../../../../spec/support/slapd'

# The commands that move keys and check directories, with real servers.
RSpec.describe 'the command, with directories' do
  include_context 'with the command'

  # One server of each kind and layout, for all examples.
  servers = [[Slapd, 'plain'], [Slapd, 'hex'], [Ds389, 'plain'], [Ds389, 'hex']]

  before(:context) do
    @servers = servers.to_h do |type, layout|
      server = type.new(layout: layout, limits: true)
      server.start
      ["#{type.name.downcase}-#{layout}", server]
    end
  end

  after(:context) { @servers&.each_value(&:stop) }

  let(:backends) do
    files = %w[default back].to_h do |name|
      [name, { 'type' => 'file', 'id' => name, 'root_path' => File.join(folder, name) }]
    end
    files.merge(@servers.transform_values do |server|
      { 'type' => 'ldap' }.merge(server.options('id' => "on-#{server.object_id}"))
    end)
  end

  def put(*arguments, **more)
    simpkv!('put', *arguments, **more)
  end

  it 'moves a site from files through all of them and back, byte for byte' do
    20.times { |number| put("app#{number % 3}/deep/key#{number}", "value #{number} Ω", '-m', '{"a": [1, null]}') }
    put('-g', 'keytab', '--binary', '-', input: (0..255).to_a.pack('C*'))
    put('-e', 'dev', 'text', '-', input: "lines\nand  two spaces \n")
    path = ['default', *@servers.keys, 'back']
    path.each_cons(2) do |from, to|
      expect(JSON.parse(simpkv!('copy', from, to, '-o',
                                'json'))).to include('keys' => 22, 'stored' => 22, 'verified' => true)
    end
    difference = Open3.capture2('diff', '-r', File.join(folder, 'default'), File.join(folder, 'back')).first
    expect(difference).to eq('')
  end

  # The C tests have a server that hides these attributes.
  it 'says what a directory does not show to the identity' do
    simpkv!('put', '-b', 'slapd-plain', 'k', 'x')
    facts = { 'kind' => 'key', 'modified_at' => '2026-11-26T00:00:00Z' }
    allow_any_instance_of(Simpkv::Store).to receive(:stat).and_return(facts)
    expect(simpkv!('stat', '-b', 'slapd-plain', 'k'))
      .to match(/^created: +not shown to this identity$/)
      .and(match(/^changed: +2026-11-26T00:00:00Z, its author not shown to this identity$/))
    expect(JSON.parse(simpkv!('stat', '-b', 'slapd-plain', 'k', '-o', 'json'))['not_shown'])
      .to eq(%w[created_at created_by modified_by])
  ensure
    simpkv!('rm', '-b', 'slapd-plain', 'k') # the examples share the servers
  end

  servers.each do |type, layout|
    name = "#{type.name.downcase}-#{layout}"

    describe name do
      it 'replaces differing keys, and undoes that' do
        put('-b', name, '-e', 'undo', 'changed', 'theirs')
        put('-e', 'undo', 'changed', 'ours')
        put('-e', 'undo', 'added', 'ours')
        expect(simpkv('copy', '-e', 'undo', 'default', name).code).to eq(65)
        simpkv!('copy', '-e', 'undo', 'default', name, '--existing', 'replace')
        expect(simpkv!('-b', name, '-e', 'undo', 'get', 'changed')).to eq('ours')
        simpkv!('copy', 'default', name, '--rollback', Dir[File.join(folder, '*.journal')].first)
        expect(simpkv!('-b', name, '-e', 'undo', 'get', 'changed')).to eq('theirs')
        expect(simpkv('-b', name, '-e', 'undo', 'exists', 'added').code).to eq(1)
      end

      # The dry run said that it would store them, and exited with 0 or 65.
      it 'names the keys that it refuses in a dry run, too' do
        paths = %w[empty bytes fine] << ('l' * 240)
        ['', "\xFF".b, '{"value":1,"metadata":{}}', '{"value":1,"metadata":{}}'].zip(paths) do |document, path|
          file = File.join(folder, 'default', 'environments', 'refused', path)
          FileUtils.mkdir_p(File.dirname(file))
          File.binwrite(file, document)
        end
        said = %w[--dry-run --jobs=2].map { |option| simpkv('copy', '-e', 'refused', 'default', name, option) }
        expect(said.map(&:code)).to eq([65, 65])
        expect(said.map(&:out)).to all(match(/^to store: +1$/).and(match(/^failed: +3$/)))
        expect(said.map(&:err)).to all(
          match(%r{refused/empty': the document is empty, which a directory does not keep}).and(
            match(%r{refused/bytes': the document is not UTF-8, as a directory requires})
          ).and(match(%r{refused/l{240}': .*240}))
        )
        expect(simpkv!('-b', name, '-e', 'refused', 'ls')).to eq("fine\n")
      end

      # A dry run of a document beyond the limit of the server said that it would be stored.
      it 'lists large documents in a dry run, of which only a write knows whether the server accepts them' do
        put('-e', 'large', 'key', 'x' * (3 << 20))
        put('-e', 'large', 'small', 'x' * 1000)
        copy = ->(*options) { simpkv('copy', '-e', 'large', 'default', name, *options) }
        warning = "simpkv: 1 large document: a dry run does not try the server's limit on the size of messages\n  " \
                  "environments/large/key\n"
        expect(copy['-n']).to have_attributes(code: 0, err: end_with(warning))
        expect(copy[].code).to eq(type == Ds389 ? 65 : 0)
        expect(copy['-n'].err.end_with?(warning)).to be(type == Ds389)
      end

      it 'tells keys apart that differ in capital letters' do
        put('-b', name, '-e', 'caps', 'd1/k1', 'x')
        %w[get exists rm].each do |command|
          expect(simpkv('-b', name, '-e', 'caps', command, 'D1/K1').code).not_to eq(0)
        end
        expect(simpkv!('-b', name, '-e', 'caps', 'get', 'd1/k1')).to eq('x')
      end

      # Each folder took a search of its own.
      it 'is searched equally often by export for few folders and for many' do
        searches = [2, 12].map do |folders|
          folders.times { |number| put('-b', name, '-e', 'walk', "folder#{number}/key", 'x') }
          before = @servers[name].count_in_log(' SRCH ')
          expect(simpkv!('-b', name, '-e', 'walk', 'export').lines.length).to eq(folders + 2)
          @servers[name].count_in_log(' SRCH ') - before
        end
        expect(searches.uniq.length).to eq(1)
      end

      it 'is named by ping' do
        facts = JSON.parse(simpkv!('-b', name, 'ping', '-o', 'json', process: true))
        expect(facts.values_at('first_call_ms', 'median_ms', 'slowest_ms')).to all(be_a(Float))
        expect(simpkv!('-b', name, 'ping', process: true)).to match(/^first call: +\d+\.\d+ ms$/)
        expect(facts['servers'].first['product']).to start_with(type == Ds389 ? '389-Directory/2' : 'OpenLDAP')
      end

      it 'has its operations counted by stats' do
        operations = JSON.parse(simpkv!('-b', name, 'stats', '--count', '7', '-o', 'json', process: true))
                         .dig('pools', 0, 'servers', 0, 'operations')
        expect(operations).to include('exists' => 8)
      end

      # 389-DS takes a quarter of a minute of processor time to add and delete as many keys as its default limit has.
      [501, *(5001 if type == Ds389)].each do |size|
        it "has no problem according to doctor, with a folder of #{size} keys", long: size == 5001 do
          outcome = simpkv('-b', name, 'doctor', *(['--list-size', '501'] if type == Ds389 && size == 501))
          expect(outcome).to have_attributes(code: 0, err: '')
          expect(outcome.out).to match(/^ok +rights: .*\n^ok +limits: a folder of #{size} keys is listed$/)
        end
      end

      it 'keeps no key of doctor' do
        simpkv!('-b', name, 'doctor', '--list-size', '10')
        expect(simpkv!('-b', name, '-g', 'ls')).not_to include('doctor')
      end
    end
  end
end
