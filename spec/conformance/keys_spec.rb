# frozen_string_literal: true

require_relative 'conformance_helper'

FUNCTIONS_OF_KEYS = { 'put' => ['v'], 'get' => [], 'list' => [], 'exists' => [], 'delete' => [],
                      'deletetree' => [] }.freeze

Conformance.describe 'Keys', directories: Conformance::ON_JRUBY do
  {
    'a' => 'a', 'a/b' => 'a/b', 'x.y_z:1-2/q' => 'x.y_z:1-2/q', 'this/.../ok' => 'this/.../ok', '.hidden' => '.hidden',
    'a//b' => 'a/b', '/lead' => 'lead', 'trail/' => 'trail', "#{'s' * 114}/k" => "#{'s' * 114}/k"
  }.each do |written, meant|
    it "are accepted: #{written[0, 20].inspect}" do
      put(written, 'v')
      expect(get(meant)['value']).to eq('v')
    end
  end

  # The limit of a directory is lower: 114 bytes in the hex layout, 230 and 237 in the plain one.
  it 'may have a segment of 255 bytes, or are refused with the segment and the maximum length' do
    key = "#{'s' * 255}/k"
    if trait?(:short_names)
      expect { put(key, 'v') }.to raise_error(RuntimeError, /'sss.*\b(114|237)\b/)
    else
      put(key, 'v')
      expect(get(key)['value']).to eq('v')
    end
  end

  [
    ['a b', "key 'a b' contains disallowed whitespace"],
    ["a\n", "key 'a\n' contains disallowed whitespace"],
    ["\ta", "key '\ta' contains disallowed whitespace"],
    ['A b', "key 'A b' contains disallowed whitespace"],
    ['a*b', "key 'a*b' contains unsupported characters.  Allowed set=[a-z0-9._:-/]"],
    ['Ab', "key 'Ab' contains unsupported characters.  Allowed set=[a-z0-9._:-/]"],
    ['A/../c', "key 'A/../c' contains unsupported characters.  Allowed set=[a-z0-9._:-/]"],
    ['é', "key 'é' contains unsupported characters.  Allowed set=[a-z0-9._:-/]"],
    ['../*', "key '../*' contains unsupported characters.  Allowed set=[a-z0-9._:-/]"],
    ['..', "key '..' contains disallowed '/./' or '/../' sequence"],
    ['.', "key '.' contains disallowed '/./' or '/../' sequence"],
    ['../x', "key '../x' contains disallowed '/./' or '/../' sequence"],
    ['a/..', "key 'a/..' contains disallowed '/./' or '/../' sequence"],
    ['a/./b', "key 'a/./b' contains disallowed '/./' or '/../' sequence"],
    ['a/../b', "key 'a/../b' contains disallowed '/./' or '/../' sequence"],
    ['/..', "key '/..' contains disallowed '/./' or '/../' sequence"],
    ['../', "key '../' contains disallowed '/./' or '/../' sequence"]
  ].each do |key, message|
    it "are refused by every function, with or without softfail: #{key.inspect}" do
      FUNCTIONS_OF_KEYS.each do |function, more|
        more = [*more, {}] if function == 'put'
        expect do
          public_send(function, key, *more, { 'softfail' => true })
        end.to raise_error(ArgumentError, /#{Regexp.escape(message)}/)
      end
    end
  end

  it 'are refused if a segment has 256 bytes or the key more than 4,096' do
    ['s' * 256, Array.new(50, 'x' * 100).join('/')].each do |key|
      expect { put(key, 'v') }.to raise_error(ArgumentError)
      expect { get(key) }.to raise_error(ArgumentError)
    end
  end

  it 'are refused if they are too long with their prefix' do
    key = "#{Array.new(40, 'x' * 100).join('/')}/#{'y' * 50}"
    expect(key.length).to be_between(4080, 4096)
    expect { put(key, 'v') }.to raise_error(ArgumentError, /has more than 4096 bytes, its prefix included/)
  end

  # No directory takes such a name.
  it 'are checked with the prefix of an environment that has the longest name' do
    next if trait?(:short_names)

    in_environment('e' * 255) do |environment|
      fits = "#{Array.new(37, 'x' * 100).join('/')}/#{'y' * 90}"
      expect(environment.call('simpkv::put', fits, 'v')).to be(true)
      expect { environment.call('simpkv::put', "#{fits}y", 'v') }.to raise_error(ArgumentError, /more than 4096 bytes/)
    end
  end

  it 'are refused if they are empty' do
    expect { get('') }.to raise_error(ArgumentError)
  end
end

Conformance.describe 'simpkv::get', directories: Conformance::ON_JRUBY do
  it 'fails for a missing key' do
    expect do
      get('missing')
    end.to raise_error(RuntimeError, /simpkv Error for simpkv::get with key='missing'.*Key not found/)
  end

  it 'fails for a folder' do
    put('folder/key', 1)
    expect { get('folder') }.to raise_error(RuntimeError, /Key specifies a folder/)
  end

  it 'fails for an invalid document, without showing it' do
    store_raw('broken/json', '{"value":"hush-hush')
    store_raw('broken/text', 'hush-hush')
    store_raw('broken/array', '["hush-hush"]')
    store_raw('broken/other', '{"other":"hush-hush"}')
    store_raw('broken/encoding', '{"value":"hush-hush","encoding":"gzip"}')
    {
      'json' => 'JSON parse error', 'text' => 'JSON parse error', 'array' => "'value' missing",
      'other' => "'value' missing", 'encoding' => 'Unsupported encoding'
    }.each do |key, why|
      expect { get("broken/#{key}") }.to raise_error(RuntimeError, /Failed to deserialize: #{why}/) { |error|
        expect(error.message).not_to include('hush')
      }
    end
  end
end

Conformance.describe 'simpkv::exists', directories: Conformance::ON_JRUBY do
  it 'is true for a key and for a folder, and false for anything else' do
    put('e/folder/key', 1)
    %w[e e/folder e/folder/key].each { |path| expect(exists(path)).to be(true) }
    %w[f e/key e/folder/key2 e/folde].each { |path| expect(exists(path)).to be(false) }
  end
end

Conformance.describe 'simpkv::list', directories: Conformance::ON_JRUBY do
  it 'returns base names, sorted, of one level only' do
    put('l/b', 'vb', { 'm' => 1 })
    put('l/a', [1])
    put('l/z/deep/deeper', 1)
    put('l/c/x', 1)
    put('l/.dot', 'd')
    found = list('l')
    expect(found).to eq(
      'keys' => { '.dot' => { 'value' => 'd' }, 'a' => { 'value' => [1] },
                  'b' => { 'value' => 'vb', 'metadata' => { 'm' => 1 } } },
      'folders' => %w[c z]
    )
    expect(found['keys'].keys).to eq(%w[.dot a b])
  end

  it 'sorts many names by their bytes' do
    names = (1..40).map { |n| "k#{n}" }.shuffle
    names.each { |name| put("many/#{name}", name) }
    expect(list('many')['keys'].keys).to eq(names.sort)
  end

  it 'fails for a missing folder, and for a key' do
    expect do
      list('missing')
    end.to raise_error(RuntimeError,
                       /simpkv Error for simpkv::list with keydir='missing'.*Key folder '.*' not found/)
    put('l/key', 1)
    expect { list('l/key') }.to raise_error(RuntimeError, /Key folder '.*' not found/)
  end

  it 'returns an empty folder after its last key is deleted' do
    put('empty/key', 1)
    delete('empty/key')
    expect(list('empty')).to eq('keys' => {}, 'folders' => [])
  end

  it 'returns values beyond ASCII' do
    put('l/greek', 'Ωμέγα')
    expect(list('l')['keys']).to eq('greek' => { 'value' => 'Ωμέγα' })
  end

  it 'fails for an entry that cannot be decoded, and names it' do
    put('l/good', 1)
    store_raw('l/bad', 'hush-hush')
    expect { list('l') }.to raise_error(RuntimeError, %r{l/bad.*Failed to deserialize: JSON parse error}) { |error|
      expect(error.message).not_to include('hush')
    }
  end

  it 'omits such an entry, with a warning, if an option says so' do
    put('l/good', 1)
    store_raw('l/bad', 'hush-hush')
    expect(list('l', { 'skip_undecodable' => true })).to eq('keys' => { 'good' => { 'value' => 1 } }, 'folders' => [])
    expect(world.warnings.grep(%r{l/bad}).size).to eq(1)
    expect(world.warnings.join).not_to include('hush')
  end
end

Conformance.describe 'simpkv::delete', directories: Conformance::ON_JRUBY do
  it 'deletes a key and keeps its neighbours and its folder' do
    put('d/one', 1)
    put('d/two', 2)
    expect(delete('d/one')).to be(true)
    expect(list('d')).to eq('keys' => { 'two' => { 'value' => 2 } }, 'folders' => [])
    expect(delete('d/two')).to be(true)
    expect(exists('d')).to be(true)
  end

  it 'succeeds for a missing key' do
    expect(delete('nowhere/at/all')).to be(true)
    put('d/one', 1)
    2.times { expect(delete('d/one')).to be(true) }
  end

  it 'fails for a folder, which stays (backends differed silently)' do
    put('d/sub/key', 1)
    expect { delete('d/sub') }.to raise_error(RuntimeError, %r{simpkv Error for simpkv::delete with key='d/sub'})
    expect(get('d/sub/key')['value']).to eq(1)
  end
end

Conformance.describe 'simpkv::deletetree', directories: Conformance::ON_JRUBY do
  it 'deletes a folder with everything below it, and nothing else' do
    put('t/one/a', 1)
    put('t/one/b/c', 1)
    put('t/ones', 1)
    expect(deletetree('t/one')).to be(true)
    expect(list('t')).to eq('keys' => { 'ones' => { 'value' => 1 } }, 'folders' => [])
    expect(exists('t/one')).to be(false)
  end

  it 'succeeds for a missing folder' do
    expect(deletetree('nowhere/at/all')).to be(true)
  end

  it 'fails for a key, which stays (backends differed silently)' do
    put('t/key', 1)
    expect do
      deletetree('t/key')
    end.to raise_error(RuntimeError, %r{simpkv Error for simpkv::deletetree with keydir='t/key'})
    expect(get('t/key')['value']).to eq(1)
  end
end

Conformance.describe 'A key and a folder of the same name', directories: Conformance::ON_JRUBY do
  # In simpkv 1.0.0, files and directories differed silently.
  it 'exclude each other with an error; in a directory both exist, delete removes the key, deletetree the folder' do
    trait?(:shares_names) ? share_a_name : exclude_each_other
  end

  def share_a_name
    put('c/a', 1)
    put('c/a/b', 2)
    expect(list('c')).to eq('keys' => { 'a' => { 'value' => 1 } }, 'folders' => ['a'])
    deletetree('c/a')
    expect(list('c')).to eq('keys' => { 'a' => { 'value' => 1 } }, 'folders' => [])
    put('c/a/b', 2)
    delete('c/a')
    expect(list('c')).to eq('keys' => {}, 'folders' => ['a'])
    expect(get('c/a/b')['value']).to eq(2)
  end

  def exclude_each_other
    put('c/a', 1)
    expect { put('c/a/b', 2) }.to raise_error(RuntimeError, %r{simpkv Error for simpkv::put with key='c/a/b'})
    put('c/d/e', 1)
    expect { put('c/d', 2) }.to raise_error(RuntimeError, %r{simpkv Error for simpkv::put with key='c/d'})
    expect(list('c')).to eq('keys' => { 'a' => { 'value' => 1 } }, 'folders' => ['d'])
  end
end
