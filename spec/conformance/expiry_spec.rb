# frozen_string_literal: true

require_relative 'conformance_helper'
require_relative '../support/clock'

Conformance.describe 'Expiry and history' do
  include Clock

  before { clock_at('2026-11-23T15:00:00Z') }

  day = 86_400

  # Lets so much time pass.
  def pass(seconds)
    now = Simpkv::Versions.now + seconds
    clock_at(now.strftime('%Y-%m-%dT%H:%M:%SZ'))
  end

  def versions(key, numbers = [0, -1, -2, -3])
    numbers.map { |number| get(key, { 'version' => number, 'expired' => 'return', 'default' => nil })['value'] }
  end

  def sensitive(value)
    Puppet::Pops::Types::PSensitiveType::Sensitive.new(value)
  end

  it 'stores what simpkv 1.0.0 reads, and without options nothing new' do
    put('old', 1, { 'm' => 2 })
    expect(stored_bytes('old')).to eq('{"value":1,"metadata":{"m":2}}')
    put('old', 2, {}, { 'history' => 2, 'expires_after' => '1d' })
    expect(stored_bytes('old')).to eq('{"value":2,"metadata":{},"stored_at":"2026-11-23T15:00:00Z",' \
                                      '"expires":"2026-11-24T15:00:00Z","history":[{"value":1,"metadata":{"m":2}}]}')
    put('old', 2)
    expect(stored_bytes('old')).to eq('{"value":2,"metadata":{}}')
    get_or_create('new', 1)
    compare_and_put('new', 1, 2)
    put_many({ 'new2' => { 'value' => 2 } })
    expect(%w[new new2].map { |key| stored_bytes(key) }.uniq).to eq(['{"value":2,"metadata":{}}'])
  end

  it 'takes an expired key for a missing one, 60 s after its time' do
    put('folder/brief', 'x', {}, { 'expires_after' => 10 })
    put('folder/long', 'y')
    pass(69)
    expect(get('folder/brief')).to eq('value' => 'x')
    pass(1)
    expect { get('folder/brief') }.to raise_error(RuntimeError, %r{Key not found: 'folder/brief' has expired})
    expect(get('folder/brief', { 'default' => 'z' })).to eq('value' => 'z')
    expect([exists('folder/brief'), exists('folder/long'), exists('folder'), exists('none')])
      .to eq([false, true, true, false])
    expect(list('folder')['keys'].keys).to eq(['long'])
    expect(tree('/')['keys'].keys).to eq(['folder/long'])
    expect(tree('/', { 'values' => false })['keys'].keys).to eq(%w[folder/brief folder/long])
    expect(get_many(%w[folder/brief folder/long])).to include('absent' => ['folder/brief'], 'errors' => {})
  end

  it 'returns an expired key on request, with a warning on request' do
    put('folder/brief', 'x', {}, { 'expires_after' => 1 })
    pass(day)
    stored = { 'value' => 'x' }
    %w[return warn].each do |policy|
      options = { 'expired' => policy }
      expect([get('folder/brief', options), exists('folder/brief', options)]).to eq([stored, true])
      expect(list('folder', options)['keys']).to eq('brief' => stored)
      expect(tree('/', options)['keys']).to eq('folder/brief' => stored)
      expect(get_many(['folder/brief'], options)['keys']).to eq('folder/brief' => stored)
    end
    name = entry.values_at('type', 'id').join('/')
    warning = "simpkv #{name}: key 'folder/brief' has expired, and is read all the same"
    expect(world.warnings.count(warning)).to eq(5)
  end

  it 'reads earlier values of any type, and says how many there are' do
    values = [1, 'é', "\xFF\x00".b, sensitive('s'), { 'a' => [nil, 1.0] }]
    values.each_with_index { |value, index| put('k', value, { 'n' => index }, { 'history' => 3 }) }
    put('k', { 'a' => [nil, 1.0] }, { 'n' => 4 }, { 'history' => 3 })
    expect(get('k', { 'version' => -1 })).to match('value' => an_object_having_attributes(unwrap: 's'),
                                                   'metadata' => { 'n' => 3 })
    expect(versions('k', [0, -2, -3, -4])).to eq([values[4], values[2], values[1], nil])
    expect { get('k', { 'version' => -4 }) }
      .to raise_error(RuntimeError, /Key not found: 'k' has no version -4: its history has 3/)
    expect(get('k', { 'version' => '-3' })['value']).to eq('é')
    expect { get('k', { 'version' => 1 }) }.to raise_error(ArgumentError, /'version' .* from -100 to 0/)
  end

  it 'keeps the history in put_many and compare_and_put' do
    options = { 'history' => 5 }
    put_many({ 'a' => { 'value' => 1 }, 'b' => { 'value' => 1 } }, options)
    put_many({ 'a' => { 'value' => 2 }, 'b' => { 'value' => 1 } }, options)
    expect([compare_and_put('b', 1, 2, {}, options), compare_and_put('b', 1, 3, {}, options)]).to eq([true, false])
    expect([versions('a'), versions('b')]).to eq([[2, 1, nil, nil]] * 2)
  end

  it 'replaces an expired value with get_or_create, keeps it as version -1, and renews no live one' do
    options = { 'expires_after' => '1d' }
    expect(get_or_create('p', { 'n' => 1 }, options) do |_|
      'first'
    end).to eq('value' => 'first', 'metadata' => { 'n' => 1 })
    pass(day)
    before = stored_bytes('p')
    expect(get_or_create('p', {}, options) { |_| 'second' }['value']).to eq('first')
    expect(stored_bytes('p')).to eq(before)
    pass(60)
    expect(get_or_create('p', {}, options) { |_| 'second' }).to eq('value' => 'second')
    expect(get_or_create('p', {}, options) { |_| 'third' }).to eq('value' => 'second')
    expect(versions('p')).to eq(['second', 'first', nil, nil])
    pass(2 * day)
    expect(get_or_create('p', 'third', {}, options.merge('history' => 2))).to eq('value' => 'third')
    expect(versions('p')).to eq(['third', 'second', 'first', nil])
  end

  it 'replaces an expired value without options in the call, and makes one that does not expire' do
    put('p', 'old', {}, { 'expires_after' => 1 })
    pass(day)
    expect(get_or_create('p', 'new', {}, { 'expired' => 'return' })).to eq('value' => 'new')
    expect([get('p')['value'], versions('p')[1]]).to eq(%w[new old])
    expect(stored_bytes('p')).not_to include('"expires"')
    pass(10_000 * day)
    expect(get('p')['value']).to eq('new')
  end

  it 'returns the value that another catalog stores in place of an expired one meanwhile' do
    options = { 'expires_after' => 1 }
    put('p', 'old', {}, options)
    pass(day)
    returned = get_or_create('p', {}, options) do |_|
      get_or_create('p', 'theirs', {}, options)
      'mine'
    end
    expect([returned['value'], versions('p')[0, 2]]).to eq(['theirs', %w[theirs old]])
  end

  it 'takes an expired key for a missing one in compare_and_put' do
    put('c', 'old', {}, { 'expires_after' => 1 })
    pass(day)
    expect(compare_and_put('c', 'old', 'new')).to be(false)
    expect(compare_and_put('c', nil, 'new')).to be(true)
    expect(compare_and_put('c', nil, 'newer')).to be(false)
    expect(versions('c')).to eq(['new', 'old', nil, nil])
  end

  it 'renews an expired key with a put of the same value, and adds nothing to its history' do
    [{ 'expires_after' => '1d' }, { 'expires_after' => '1d', 'history' => 3 }, {}].each do |options|
      put('same', 'x', {}, { 'expires_after' => 1 })
      pass(day)
      put('same', 'x', {}, options)
      expect([get('same')['value'], versions('same')[1]]).to eq(['x', nil])
    end
    put_many({ 'many' => { 'value' => 'x' } }, { 'expires_after' => '1h' })
    pass(day)
    put_many({ 'many' => { 'value' => 'x' } }, { 'expires_after' => '1h' })
    expect([get('many')['value'], versions('many')[1]]).to eq(['x', nil])
  end

  it 'reports a time that is none, for this key alone' do
    store_raw('bad/k', '{"value":"hush","expires":"soon"}')
    put('bad/good', 1)
    why = /'expires' is not a time such as 2026/
    expect { get('bad/k') }.to raise_error(RuntimeError, /\A(?!.*(hush|soon)).*#{why}/)
    expect { list('bad') }.to raise_error(RuntimeError, why)
    expect(list('bad', { 'skip_undecodable' => true })['keys'].keys).to eq(['good'])
    expect(get_many(%w[bad/k bad/good], { 'errors' => 'return' })['errors']).to match('bad/k' => why)
    expect { get_or_create('bad/k', 'x') }.to raise_error(RuntimeError, why)
    expect(exists('bad/k')).to be(true)
    put('bad/k', 'x', {}, { 'history' => 1 })
    expect(versions('bad/k', [0, -1])).to eq(%w[x hush])
  end

  it 'lets compilers whose clocks differ by 5 minutes agree' do
    options = { 'expires_after' => '1h' }
    get_or_create('p', 'first', {}, options)
    pass(3600 + 60)
    expect(get_or_create('p', 'second', {}, options)['value']).to eq('second')
    [-300, 300].each do |ahead|
      pass(ahead)
      expect(get_or_create('p', 'third', {}, options)['value']).to eq('second')
      pass(-ahead)
    end
    pass(-3600)
    expect(get_or_create('p', 'third', {}, options)['value']).to eq('second')
    expect(versions('p')).to eq(['second', 'first', nil, nil])
  end

  context 'with a history of the backend' do
    let(:site) { { 'backends' => { 'default' => entry.merge('history' => 2) } } }

    it 'keeps it, unless the call says otherwise' do
      %w[a b c d].each { |value| put('k', value) }
      expect(versions('k')).to eq(['d', 'c', 'b', nil])
      put('k', 'e', {}, { 'history' => 0 })
      expect(versions('k')).to eq(['e', nil, nil, nil])
    end
  end
end
