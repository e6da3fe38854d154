# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/eventually'
require_relative '../support/ldap_store'

Directories::ALL.each do |server, layout, tags|
  RSpec.describe "Many keys in a directory at once, #{server} #{layout}", **tags do
    include_context 'with a directory', server, layout: layout, limits: true

    let(:documents) { (1..1100).to_h { |n| ["environments/production/hosts/h#{n}", document(n)] } }

    def document(value)
      Simpkv::Codec.encode(value)
    end

    # Returns the result of the block, or the error that it raises.
    def outcome
      yield
    rescue Simpkv::Error => e
      e
    end

    def listed(folder)
      store.list(folder)[:keys].transform_keys { |name| "#{folder}/#{name}" }
    end

    it 'are created, kept if unchanged, replaced, and read' do
      expect(store.put_many(documents, condition: :absent)).to eq(documents.transform_values { true })
      expect(listed('environments/production/hosts')).to eq(documents)
      expect(store.put_many(documents)).to eq(documents.transform_values { false })
      changed = documents.transform_values.with_index { |old, n| n % 3 == 1 ? document("now #{n}") : old }
      expect(store.put_many(changed)).to eq(documents.to_h { |key, old| [key, changed[key] != old] })
      expect(listed('environments/production/hosts')).to eq(changed)
      found = store.get_many(changed.keys)
      expect(found).to eq(changed)
      expect(found.keys).to eq(changed.keys)
      expect(found.values.map(&:encoding).uniq).to eq([Encoding::UTF_8])
    end

    it 'have the same results and messages as single writes' do
      store.put_many({ 'globals/a' => document(1), 'globals/f/k' => document(1) })
      batch = {
        'globals/a' => document(2), 'globals/f' => document(1), 'globals/new/deep/down/k' => document(1),
        'globals' => '1', 'globals/empty' => '', 'globals/bytes' => "\xff", 'globals/../x' => '1',
        'globals/large' => 'x' * 20_000_000, "globals/#{'n' * 300}" => '1',
        'globals/greek/κλειδί' => document('é'), 'globals/last' => document(1)
      }
      others = open_store('id' => id.tr('i', 'j'))
      others.put_many({ 'globals/a' => document(1), 'globals/f/k' => document(1) })
      found = store.put_many(batch, condition: :absent)
      alone = batch.to_h { |key, value| [key, outcome { others.put(key, value, condition: :absent) }] }
      expect(found.transform_values { |came| [came.class, came.to_s] })
        .to eq(alone.transform_values { |came| [came.class, came.to_s] })
      expect(found.values.grep(Simpkv::Error).map(&:status).uniq)
        .to include(:exists, :invalid, :too_large, :is_folder)
      expect(store.get_many(batch.keys).transform_values(&:to_s))
        .to eq(batch.keys.to_h { |key| [key, outcome { others.get(key) }.to_s] })
    end

    it 'replace only the documents that they expect, beside new keys' do
      store.put_many(documents)
      changed = documents.keys.values_at(7, 500, 1099)
      store.put_many(changed.to_h { |key| [key, document('of another client')] })
      batch = documents.transform_values.with_index { |_, n| document("now #{n}") }.merge('globals/new' => document(1))
      found = store.put_many(batch, condition: :expect, expect: documents.merge('globals/new' => nil))
      conflicts = found.select { |_, result| result.is_a?(Simpkv::Error) }
      expect(conflicts.keys).to eq(changed)
      conflicts.each do |key, conflict|
        alone = outcome { store.put(key, batch[key], condition: :expect, expect: documents[key]) }
        expect([conflict.class, conflict.message]).to eq([Simpkv::ConflictError, alone.message])
      end
      expect(found.values.uniq - conflicts.values).to eq([true])
      expect(store.get_many(batch.keys))
        .to eq(batch.merge(changed.to_h { |key| [key, document('of another client')] }))
    end

    # 389-DS may replace one document twice: docs/adr/0013.
    it 'replace once what several threads expect', if: server == Slapd do
      few = documents.first(200).to_h
      store.put_many(few)
      news = Array.new(4) { |n| few.transform_values { document("by #{n}") } }
      written = news.map do |batch|
        Thread.new { open_store.put_many(batch, condition: :expect, expect: few) }
      end.map(&:value)
      expect(written.flat_map(&:values).grep_v(Simpkv::ConflictError)).to eq([true] * few.length)
      winners = few.keys.to_h { |key| [key, news[written.index { |results| results[key] == true }][key]] }
      expect(store.get_many(few.keys)).to eq(winners)
    end

    it 'are counted as one operation each' do
      apart = open_apart
      operations = lambda do
        Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }.sum do |counted|
          counted['operations'].values_at('get', 'put').sum
        end
      end
      before = operations.call
      apart.put_many(documents.first(50).to_h, condition: :absent)
      apart.get_many(documents.keys.first(40))
      expect(operations.call - before).to be_between(90, 91)
    end

    it 'are written once each by several concurrent threads' do
      written = Array.new(4) { open_store }.map do |one|
        Thread.new { one.put_many(documents, condition: :absent) }
      end.map(&:value)
      expect(written.flat_map(&:values).grep_v(Simpkv::ExistsError)).to eq([true] * documents.length)
      expect(listed('environments/production/hosts')).to eq(documents)
    end
  end
end

RSpec.describe 'Many keys in an unreachable directory' do
  include Eventually

  include_context 'with slapd'

  it 'return an error for each key' do
    store = open_store('ldap_uri' => 'ldap://127.0.0.1:1', 'retries' => 0)
    found = store.put_many({ 'globals/a' => '1', 'globals/b' => '2' })
    expect(found.values).to all(be_a(Simpkv::UnavailableError))
    expect(found['globals/b'].message).to include("'globals/b' was not reached", 'ldap://127.0.0.1:1')
    expect(store.get_many(%w[globals/a globals/b]).values).to all(be_a(Simpkv::UnavailableError))
  end

  it 'return a timeout for each key when the server does not respond' do
    apart = open_apart('operation_timeout_seconds' => 0.5)
    eventually { apart.put('globals/a', '1') || true }
    found = nil
    directory.freeze_process { found = apart.put_many((1..300).to_h { |n| ["globals/k#{n}", '1'] }) }
    expect(found.values).to all(be_a(Simpkv::TimeoutError))
  end

  context 'when a thread is interrupted', needs: :cext do
    it 'stops the batch, and the store remains usable' do
      apart = open_apart
      apart.put('globals/a', '1')
      directory.freeze_process do
        thread = Thread.new { apart.put_many((1..300).to_h { |n| ["globals/i#{n}", '1'] }, condition: :absent) }
        thread.report_on_exception = false
        eventually { Simpkv.stats['pools'].any? { |pool| pool['in_use'].positive? } }
        thread.raise(IOError, 'enough')
        expect { thread.value }.to raise_error(IOError, 'enough')
      end
      expect(apart.put_many({ 'globals/after' => '1' })).to eq('globals/after' => true)
    end

    it 'continues after harmless signals: each key is written and reported' do
      apart = open_apart
      apart.put('globals/a', '1')
      batch = (1..3000).to_h { |n| ["globals/s#{n}", %({"value":#{n}})] }
      count = 0
      previous = trap(:USR1) { count += 1 }
      sender = Process.spawn('sh', '-c', 'while kill -USR1 "$0" 2> /dev/null; do sleep 0.002; done', Process.pid.to_s)
      sleep 0.01 until count.positive?
      freeze = -> { Thread.new { 3.times { sleep(0.05) || directory.freeze_process { sleep 0.4 } } } }
      frozen = freeze.call
      expect(apart.put_many(batch, condition: :absent)).to eq(batch.transform_values { true })
      frozen.join
      frozen = freeze.call
      changed = batch.transform_values { |old| old.sub(':', ':1') }
      expect(apart.put_many(changed, condition: :expect, expect: batch)).to eq(batch.transform_values { true })
      frozen.join
      expect(apart.get_many(batch.keys)).to eq(changed)
      expect(count).to be > 20
    ensure
      Process.kill(:KILL, sender)
      Process.wait(sender)
      trap(:USR1, previous)
    end
  end
end

RSpec.describe 'simpkv::get_many and put_many, of a directory', :once do
  include_context 'with slapd'

  let!(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } }) }
  let(:backend) { slapd.options('type' => 'ldap', 'id' => id, 'retries' => 0) }
  let(:calls) { [['get_many', %w[a b]], ['put_many', { 'a' => { 'value' => 1 }, 'b' => { 'value' => 2 } }]] }

  after { world.close }

  it 'fail once, not for each key, when the server is down, and warn with softfail' do
    world.call('simpkv::put', 'a', 1)
    slapd.stop_serving
    calls.each do |function, keys|
      expect { world.call("simpkv::#{function}", keys) }.to raise_error(RuntimeError) { |error|
        expect(error.message).to start_with("simpkv Error for simpkv::#{function} with keys='a', 'b': ")
        expect(error.message.scan('ldapsearch').length).to eq(1)
      }
      expect(world.call("simpkv::#{function}", keys, { 'softfail' => true })).to be_nil
      expect(world.warnings.last).to match(/\Asimpkv Error for simpkv::#{function} with keys='a', 'b': .*ldapsearch/)
    end
  ensure
    slapd.launch
  end
end
