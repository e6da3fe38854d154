# frozen_string_literal: true

require 'simpkv/estate'
require_relative '../../../../spec/support/disturbed_store'
require_relative '../../../../spec/support/processes'
require_relative '../../../../spec/support/scratch'

RSpec.describe 'Exported resources of nodes' do
  include Processes

  attr_reader :root

  around do |example|
    Scratch.make('simpkv-exports') do |folder|
      @root = folder
      example.run
    end
  end

  before { opened.make }

  let(:estate) { opened }
  let(:exports) { estate.exports }
  let(:old) { { 'changed' => one('a', 'x' => 1), 'gone' => list('b'), 'same' => list('c') } }
  let(:new) { { 'changed' => one('a', 'x' => 2), 'same' => list('c'), 'added' => list('d') } }

  def opened(options: {}, disturbances: {}, folder: root)
    store = Simpkv::Store.open('file', 'root_path' => folder)
    estate = Simpkv::Estate.new({ 'estate' => options }) { DisturbedStore.new(store) }
    estate.tap { estate.store.disturb(disturbances) }
  end

  # Makes an estate in a new folder.
  #
  # @yieldparam folder [String]
  # @return the result of the block
  def folder
    Scratch.make('simpkv-exports') do |folder|
      opened(folder: folder).make
      yield folder
    end
  end

  def one(title, parameters)
    [{ 'title' => title, 'parameters' => parameters }]
  end

  def list(*titles)
    titles.map { |title| { 'title' => title } }
  end

  it 'are refused if no collector could read them' do
    [list(''), [{ 'title' => 'a', 'tags' => [1] }], [{ 'title' => 'a', 'parameters' => [] }]].each do |malformed|
      expect { exports.save('web1', { 'good' => list('a'), 'bad' => malformed }, 'production') }
        .to raise_error(Simpkv::InvalidError, /of the type 'bad' is malformed/)
    end
    expect(estate.inventory.get('web1')).to be_nil
  end

  # The save failed at the document, after it had entered the type into the record of the node.
  describe 'of a type that no key can have' do
    let(:long) { 'f' * 256 }
    let(:stuck) { { 'exports' => { long => nil }, 'saving' => { 'a' => '2026-11-23T01:02:03Z' } } }

    it 'are refused before anything is stored, with a short message' do
      expect { exports.save('web1', { 'good' => list('a'), long => list('b') }, 'production') }
        .to raise_error(Simpkv::TooLargeError, /\A'f{100}\.\.\.' cannot be the name of a key .{,200}\z/)
      expect([estate.inventory.get('web1'), exports.types]).to eq([nil, []])
    end

    # Such a record stopped the index of queries for all nodes, and the node could not be removed.
    it 'count as none where a record names them' do
      estate.inventory.put('web1', stuck)
      expect(estate.snapshots.of(%w[web1])['web1']).to have_attributes(exports: {}, digest: a_kind_of(String))
      expect([exports.of('web1'), estate.deactivate('web1')]).to match([{}, include('deactivated')])
      estate.inventory.put('web1', stuck)
      expect(estate.remove('web1')).to include('inventory' => true)
      expect(estate.inventory.names).to eq([])
    end

    it 'leave a record at the next save' do
      2.times do |number|
        estate.inventory.put('web1', stuck)
        number.zero? ? exports.save('web1', old, 'x') : exports.save_in_order('web1', old, 'x') { false }
        expect([exports.of('web1'), estate.inventory.get('web1')['exports'].keys]).to eq([old, old.keys])
      end
    end
  end

  # @return [Hash] what collectors find of a node, by type
  def collected(certname, from = opened)
    from.exports.types.to_h { |type| [type, from.exports.all(type)[certname]] }.compact
  end

  # @return [Integer] the number of calls of the store that the block makes
  def calls
    before = estate.store.calls
    yield
    estate.store.calls - before
  end

  it 'are found by type, with the names of their nodes' do
    exports.save('web1', { 'host' => list('a', 'b'), 'nginx::vhost' => list('c') }, 'production')
    exports.save('web2', { 'host' => list('d') }, 'production')

    expect(exports.all('host')).to eq('web1' => list('a', 'b'), 'web2' => list('d'))
    expect(exports.all('nginx::vhost')).to eq('web1' => list('c'))
    expect(exports.all('file')).to eq({})
    expect(exports.of('web1')).to eq('host' => list('a', 'b'), 'nginx::vhost' => list('c'))
    expect(exports.types).to eq %w[host nginx::vhost]
  end

  it 'replace those of the last run: a type, the last of a type, or all may vanish' do
    exports.save('web1', old, 'production')
    exports.save('web1', new, 'production')
    expect(collected('web1')).to eq new
    exports.save('web1', {}, 'production')
    expect(collected('web1')).to eq({})
    expect(exports.of('web1')).to eq({})
  end

  it 'take two reads and no write if nothing changed, and no call if the facts were saved in the same thread' do
    exports.save('web1', old, 'production')

    expect(calls { exports.save('web1', old, 'production') }).to eq 2
    estate.inventory.keep('web1', estate.inventory.readable('web1'))
    expect(calls { exports.save('web1', old, 'production') }).to eq 0
  end

  it 'are read afresh if the record was kept too long ago, by a run that failed' do
    exports.save('web1', old, 'production')
    estate.inventory.keep('web1', estate.inventory.readable('web1'))
    opened.exports.save('web1', new, 'production')
    stub_const('Simpkv::Estate::Inventory::KEPT_FOR', 0)
    exports.save('web1', old, 'production')

    expect(collected('web1')).to eq old
  end

  it 'keep the other members of the record' do
    estate.facts.save('web1', { 'os' => { 'name' => 'Debian' } })
    exports.save('web1', old, 'testing')

    expect(estate.inventory.get('web1'))
      .to include('environment' => 'testing', 'facts' => { 'os.name' => 'Debian' }, 'exports' => be_a(Hash))
    expect(estate.inventory.get('web1')).not_to include('saving')
  end

  it 'change the environment of the record when the node changes its own' do
    exports.save('web1', old, 'testing')
    exports.save('web1', old, 'production')

    expect(estate.inventory.get('web1')['environment']).to eq 'production'
  end

  # The digest in the record is that of the same exports, so that each run left the damage as it was.
  ['{"value":[{"ti', '', '{"value":[],"metadata":{}}', nil].each do |damaged|
    it "are stored again by the next run of the node if their document has become #{damaged.inspect}" do
      estate.facts.save('web1', { 'os' => 'x' })
      exports.save('web1', old, 'production')
      file = File.join(root, 'globals/estate/exported/gone/web1')
      damaged ? File.write(file, damaged) : File.delete(file)
      exports.save('web1', old, 'production')
      expect(collected('web1')).to eq(old)
      File.write(File.join(root, 'globals/estate/facts/web1'), '{')
      damaged ? File.write(file, damaged) : File.delete(file)
      estate.facts.save('web1', { 'os' => 'x' })
      exports.save('web1', old, 'production')
      expect([collected('web1'), estate.facts.find('web1')['values']]).to eq([old, { 'os' => 'x' }])
    end
  end

  it 'are not stored again over a document that the store cannot read' do
    exports.save('web1', old, 'production')
    file = File.join(root, 'globals/estate/exported/gone/web1')
    File.delete(file)
    File.mkfifo(file)
    expect { exports.save('web1', old, 'production') }.to raise_error(Simpkv::Error, /not a regular file/)
  end

  it 'are deleted with all types, and stored again by the next save' do
    exports.save('web1', old, 'production')
    exports.save('web2', old, 'production')

    expect(exports.delete('web1')).to eq 3
    expect([collected('web1'), collected('web2')]).to eq [{}, old]
    exports.save('web1', old, 'production')
    expect(collected('web1')).to eq old
  end

  it 'of a node whose record cannot be read are replaced, with types of which only documents are left' do
    exports.save('web1', old, 'production')
    ['{', '{"value":[1],"metadata":{}}', '{"value":{"exports":[]},"metadata":{}}'].each do |document|
      File.write(File.join(root, 'globals/estate/inventory/web1'), document)
      opened.exports.save('web1', new, 'production')
      expect(collected('web1')).to eq new
    end
  end

  {
    'is no JSON' => '{"value":', 'has no value' => '{"metadata":{}}', 'is no list' => '{"value":{"title":"x"}}',
    'has a resource that is no Hash' => '{"value":["x"]}', 'has a resource without title' => '{"value":[{}]}',
    'has an empty title' => '{"value":[{"title":""}]}', 'has a title that is no text' => '{"value":[{"title":["x"]}]}',
    'has parameters that are no Hash' => '{"value":[{"title":"x","parameters":["secret"]}]}',
    'has tags that are no texts' => '{"value":[{"title":"x","tags":[["secret"]]}]}',
    'is no text' => "{\"value\":[\"secret\xFF\"]}".b
  }.each do |what, document|
    it "leave out, and name, a document that #{what}" do
      exports.save('web1', { 'host' => list('a') }, 'production')
      exports.save('web2', { 'host' => list('b') }, 'production')
      File.binwrite(File.join(root, 'globals/estate/exported/host/web1'), document)
      errors = []

      expect(exports.all('host') { |*error| errors << error }).to eq('web2' => list('b'))
      expect(errors).to contain_exactly(['globals/estate/exported/host/web1', String])
      expect(errors.inspect).not_to include('secret')
    end
  end

  ['Web1', 'web 1', 'web/1', '..', '', "a\0b", 'a' * 300].each do |name|
    it "refuse the node name #{name[0, 10].inspect}, which cannot be a key" do
      expect { exports.save(name, old, 'production') }
        .to raise_error(Simpkv::Error, %r{cannot be the name of a key in 'globals/estate/inventory': })
      expect(Dir.children(root)).not_to include('estate')
    end
  end

  it 'refuse a value that no document can hold, before anything is stored' do
    exports.save('web1', old, 'production')
    expect { exports.save('web1', new.merge('bad' => [{ 'title' => 'x', 'parameters' => { 'y' => 0.0 / 0 } }]), 'x') }
      .to raise_error(Simpkv::UnencodableError)
    expect(collected('web1')).to eq old
  end

  describe 'when a save dies' do
    # @yieldparam number [Integer] of a call of the store; negative for the time after the call
    # @yieldreturn [Boolean] whether the save was disturbed
    def each_call(&block)
      (1..).each { |number| [number, -number].all?(&block) || break }
    end

    # @return [Boolean] whether the save died
    def dies?(folder, call, resources, more = {})
      dying = lambda do
        more[call]&.call
        raise Simpkv::UnavailableError, 'died'
      end
      estate = opened(folder: folder, disturbances: more.merge(call => dying))
      estate.exports.save('web1', resources, 'production')
      false
    rescue Simpkv::UnavailableError
      true
    end

    def expect_each_type_old_or_new(folder)
      found = collected('web1', opened(folder: folder))
      (old.keys | new.keys).each { |type| expect(found[type]).to eq(old[type]).or eq(new[type]) }
    end

    it 'leaves each type old or new, and the next save completes it or takes it back' do
      deaths = 0
      each_call do |call|
        folder do |folder|
          opened(folder: folder).exports.save('web1', old, 'production')
          died = dies?(folder, call, new)
          deaths += 1 if died
          expect_each_type_old_or_new(folder)
          [new, old, new].each do |next_one|
            opened(folder: folder).exports.save('web1', next_one, 'production')
            expect(collected('web1', opened(folder: folder))).to eq next_one
          end
          died
        end
      end
      expect(deaths).to be >= 10
    end

    it 'leaves nothing wrong that a later save does not see, whatever another save does meanwhile', once: true do
      other = old.merge('added' => list('x'))
      broken = []
      cases = 0
      (1..5).flat_map { |number| [number, -number] }.product([new, other]).each do |moment, later|
        each_call do |death|
          folder do |folder|
            opened(folder: folder).exports.save('web1', old, 'production')
            meanwhile = -> { opened(folder: folder).exports.save('web1', other, 'production') }
            died = dies?(folder, death, new, moment => meanwhile)
            opened(folder: folder).exports.save('web1', later, 'production')
            cases += 1
            broken << [moment, death] unless collected('web1', opened(folder: folder)) == later
            died
          end
        end
      end
      expect([broken, cases]).to match [[], be > 160]
    end

    it 'is completed after a real SIGKILL', needs: :fork do
      (1..20).each do |call|
        opened.exports.save('web1', old, 'production')
        victim = child do
          opened(disturbances: { call => -> { Process.kill(:KILL, Process.pid) && sleep } })
            .exports.save('web1', new, 'production') || true
        end
        status = status_of(victim)
        expect_each_type_old_or_new(root)
        opened.exports.save('web1', new, 'production')
        expect(collected('web1')).to eq new
        break expect(call).to(be > 4) if status.success?
      end
    end
  end

  describe 'when a node is compiled several times at once' do
    # @return [Array<Hash>] different exports, which agree in some types
    def versions(count)
      (1..count).map { |n| { 'all' => list("t#{n}"), "only#{n % 3}" => list('x', "t#{n}"), 'same' => list('c') } }
    end

    it 'are those of one of the saves, and the record knows them' do
      versions = versions(8)
      10.times do |round|
        threads = versions.map { |version| Thread.new { opened.exports.save('web1', version, 'production') } }
        threads.each(&:join)
        found = collected('web1')

        expect(versions).to include(found), "round #{round}: #{found}"
        record = estate.inventory.get('web1')
        expect(record).not_to include('saving')
        expect(record['exports'].keys).to match_array found.keys
        expect(calls { exports.save('web1', found, 'production') }).to eq 2
      end
    end

    it 'are those of one of the processes', needs: :fork do
      versions = versions(6)
      5.times do
        children = versions.map do |version|
          child { opened.exports.save('web1', version, 'production') || true }
        end
        expect_success_of(*children)
        expect(versions).to include(collected('web1'))
        expect(estate.inventory.get('web1')).not_to include('saving')
      end
    end
  end

  describe 'when their node is removed during a run' do
    let(:other) { old.merge('added' => list('x')) }

    # Removes the node in a new folder, once for each call of the store before or after which a run ends, until the
    # removal makes no such call.
    #
    # @yieldparam folder [String]
    # @yieldparam remove [Proc] removes the node; it takes more disturbances
    # @yieldparam call [Integer]
    def each_meeting(*runs)
      runs.product([1, -1]).each do |run, side|
        (side..(side * 1000)).step(side).each do |call|
          folder do |folder|
            opened(folder: folder).exports.save('web1', old, 'production')
            meeting = { call => -> { opened(folder: folder).exports.save('web1', run, 'production') } }
            yield folder, ->(more = {}) { remove(folder, meeting, more) }, call
          end || break
        end
      end
    end

    # @return [Boolean] whether the removal made all these calls, or died
    def remove(folder, *disturbances)
      all = disturbances.reduce { |one, more| one.merge(more) { |_, *both| -> { both.each(&:call) } } }
      estate = opened(folder: folder, disturbances: all)
      estate.remove('web1')
      all.keys.all? { |call| call.abs <= estate.store.calls }
    rescue Simpkv::UnavailableError
      true
    end

    # Saves, removes the node before or after a call of the save, and ends the save at a later call.
    #
    # @return [Boolean] whether the save died
    def dies_beside_removal(folder, run, call, death)
      remove = lambda do
        opened(folder: folder).remove('web1')
      rescue Simpkv::ConflictError
        nil # The run is saving.
      end
      disturbances = { call => remove, death => -> { raise Simpkv::UnavailableError, 'died' } }
      opened(folder: folder, disturbances: disturbances).exports.save('web1', run, 'production')
      false
    rescue Simpkv::UnavailableError
      true
    end

    # They used to stay for ever if the run ended between the removal of its documents and that of its record.
    it 'are all removed, or all there with a record', once: true do
      each_meeting(old, new, other) do |folder, remove, call|
        met = remove.call
        now = opened(folder: folder)
        expect([call, collected('web1', now)]).to eq([call, now.exports.of('web1')])
        met
      end
    end

    # A run that died after the removal used to leave a document that no record named.
    it 'have a record if the run dies, whatever it has written before and after the removal', once: true do
      allow(Simpkv::CompareAndSwap).to receive(:sleep)
      cases = 0
      [old, new, other].product([1, -1], (1..12).to_a, [1, 2, 3]).each do |run, side, call, life|
        folder do |folder|
          opened(folder: folder).exports.save('web1', old, 'production')
          cases += 1 if dies_beside_removal(folder, run, call * side, call + life)
          now = opened(folder: folder)
          expect([run, call, life, collected('web1', now)]).to eq([run, call, life, now.exports.of('web1')])
        end
      end
      expect(cases).to be > 20
    end

    it 'make the removal fail while the run may be alive, for five minutes' do
      allow(Simpkv::CompareAndSwap).to receive(:sleep)
      %w[saving facts_saving].each do |member|
        [[Time.now, false], [Time.now - 301, true]].each do |time, succeeds|
          exports.save('web1', old, 'production')
          estate.inventory.update('web1') { |record| record.merge(member => { 'token' => time.utc.iso8601 }) }
          if succeeds
            expect(estate.remove('web1')).to include('inventory' => true)
          else
            expect { estate.remove('web1') }
              .to raise_error(Simpkv::ConflictError, "'web1' could not be removed: a run of it is saving, or has " \
                                                     'died while it saved: try again in 5 minutes')
          end
          expect([estate.inventory.get('web1').nil?, collected('web1')]).to eq([succeeds, {}])
        end
      end
    end

    # They used to be lost: the record had the digest of a document that the removal had deleted.
    it 'are those of the next run if the removal dies', once: true do
      cases = 0
      # Until no removal makes so many calls.
      (1..40).each do |death|
        died = false
        each_meeting(old, other) do |folder, remove, call|
          met = remove.call(death => -> { (died = true) && raise(Simpkv::UnavailableError, 'died') })
          opened(folder: folder).exports.save('web1', old, 'production')
          cases += 1
          expect([death, call, collected('web1', opened(folder: folder))]).to eq([death, call, old])
          met && call.abs < death
        end
        break unless died
      end
      expect(cases).to be > 200
    end

    it 'are found by the next run, if the record is lost but its documents are not' do
      exports.save('web1', old, 'production')
      [-> {}, -> { estate.facts.save('web1', { 'os' => 'x' }) }].each do |facts|
        opened.inventory.delete('web1')
        facts.call
        opened.exports.save('web1', new, 'production')
        expect(collected('web1')).to eq(new)
      end
    end
  end

  it 'are deleted without a call for each type of the other nodes' do
    types = (1..20).to_h { |number| ["type#{number}", list('a')] }
    exports.save('web2', types, 'production')
    exports.save('web1', { 'type1' => list('a'), 'type2' => list('b') }, 'production')

    expect(calls { exports.delete('web1') }).to be <= 8
    expect(calls { exports.of('web2') }).to eq(2)
    expect(collected('web2')).to eq(types)
  end

  it 'are deleted if the list of types comes from a replica that is late' do
    exports.save('web1', old, 'production')
    allow(exports).to receive(:types).and_return([])
    exports.delete('web1')

    expect(collected('web1', opened)).to eq({})
  end

  it 'of a save on a compiler whose clock was ahead are settled as well' do
    exports.save('web1', old, 'production')
    stored = estate.inventory.read('web1')
    dead = stored.value.merge('exports' => { 'gone' => nil }, 'saving' => { 'token' => '2999-01-01T00:00:00Z' })
    estate.inventory.replace_stored('web1', stored, dead)
    exports.save('web1', new, 'production')

    expect(estate.inventory.get('web1')).not_to include('saving')
  end

  it 'of a save that died are settled when it counts as dead' do
    exports.save('web1', old, 'production')
    stored = estate.inventory.read('web1')
    dead = stored.value.merge('exports' => { 'gone' => nil }, 'saving' => { 'token' => '2026-01-01T00:00:00Z' })
    estate.inventory.replace_stored('web1', stored, dead)
    exports.save('web1', new, 'production')

    expect(collected('web1')).to eq new
    expect(estate.inventory.get('web1')).not_to include('saving')
  end

  it 'of expired nodes go, also if a run of another expired node may be alive' do
    allow(Simpkv::CompareAndSwap).to receive(:sleep)
    estate = opened(options: { 'node_ttl' => '1d' })
    long_ago = (Time.now.utc - 100_000).iso8601
    %w[web1 web2].each do |name|
      estate.exports.save(name, old, 'production')
      estate.inventory.update(name) { |record| record.merge('seen' => long_ago) }
    end
    estate.inventory.update('web1') { |record| record.merge('saving' => { 'token' => Time.now.utc.iso8601 }) }

    expect(estate.expire).to eq ['web2']
    expect(estate.inventory.get('web1')).to include('saving')
  end

  it 'of expired nodes are not found' do
    now = Time.now.utc
    estate = opened(options: { 'node_ttl' => '1d' })
    estate.exports.save('web1', old, 'production')
    estate.exports.save('web2', old, 'production')
    record = estate.inventory.read('web1')
    estate.inventory.replace_stored('web1', record, record.value.merge('seen' => (now - 100_000).iso8601))

    expect(opened(options: { 'node_ttl' => '1d' }).exports.all('same').keys).to eq ['web2']
  end
end
