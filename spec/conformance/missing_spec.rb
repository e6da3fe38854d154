# frozen_string_literal: true

require_relative 'conformance_helper'

Conformance.describe "The option 'default' of get" do
  sensitive = Puppet::Pops::Types::PSensitiveType::Sensitive

  ['text', 5, false, [1, nil], { 'a' => { 'b' => 1 } }, nil, :default].each do |value|
    it "is the value of a missing key: #{value.inspect}" do
      expect(get('missing/key', { 'default' => value })).to eq('value' => value)
    end
  end

  it 'has no effect on a stored key' do
    put('there', 'stored', { 'm' => 1 })
    expect(get('there', { 'default' => 'text' })).to eq('value' => 'stored', 'metadata' => { 'm' => 1 })
  end

  it "is wrapped with 'sensitive', except undef, and not wrapped again" do
    found = ['s', sensitive.new('s')].map { |value| get('none', { 'default' => value, 'sensitive' => true })['value'] }
    expect(found).to all(be_a(sensitive))
    expect(found.map(&:unwrap)).to eq(%w[s s])
    expect(get('none', { 'default' => nil, 'sensitive' => true })).to eq('value' => nil)
    expect(get('none', { 'default' => sensitive.new('s') })['value'].unwrap).to eq('s')
  end

  it 'does not hide any other failure' do
    put('folder/key', 1)
    store_raw('broken', 'no JSON')
    names = ['/', 'broken']
    names << 'folder' unless trait?(:shares_names)
    names.each do |key|
      expect { get(key, { 'default' => 1 }) }.to raise_error(RuntimeError, /\Asimpkv Error for simpkv::get with key=/)
      expect(get(key, { 'default' => 1, 'softfail' => true })).to be_nil
    end
    expect { get('../x', { 'default' => 1 }) }.to raise_error(ArgumentError)
    expect { get('x', { 'default' => 1, 'backend' => 'nosuch' }) }.to raise_error(ArgumentError)
  end

  it 'has an effect in the options of the call only' do
    world.hiera = site.merge('default' => { 'a' => 1 })
    expect { get('none') }.to raise_error(RuntimeError, /Key not found/)
    expect(get('none', { 'default' => { 'b' => 2 } })).to eq('value' => { 'b' => 2 })
    expect(world.warnings).to eq([])
  end
end

Conformance.describe "The option 'missing' of list and tree" do
  nothing = { 'keys' => {}, 'folders' => [] }
  let(:empty) { { 'missing' => 'empty' } }

  it 'makes a missing folder appear empty' do
    ['/', 'none', 'none/deep', 'put/none'].each do |folder|
      expect { list(folder) }.to raise_error(RuntimeError)
      expect { tree(folder, { 'missing' => 'fail' }) }.to raise_error(RuntimeError)
      expect([list(folder, empty), tree(folder, empty), tree(folder, empty.merge('values' => false))])
        .to eq([nothing] * 3)
    end
    expect(list('none', empty.merge('global' => true))).to eq(nothing)
    expect(world.warnings).to eq([])
  end

  it 'has no effect on an existing folder' do
    put('put/a', 1)
    put('put/b/c', 2)
    expect(list('put', empty)).to eq('keys' => { 'a' => { 'value' => 1 } }, 'folders' => ['b'])
    expect(tree('put', empty)).to eq('keys' => { 'a' => { 'value' => 1 }, 'b/c' => { 'value' => 2 } },
                                     'folders' => ['b'])
  end

  it 'may be set in Hiera' do
    world.hiera = site.merge(empty)
    expect(list('none')).to eq(nothing)
  end

  it 'does not hide any other failure' do
    store_raw('put/broken', 'no JSON')
    expect { list('put', empty) }.to raise_error(RuntimeError, %r{put/broken})
    expect { tree('put', empty) }.to raise_error(RuntimeError, %r{put/broken})
    expect(list('put', empty.merge('softfail' => true))).to be_nil
    expect { list('../x', empty) }.to raise_error(ArgumentError)
  end

  it 'refuses another value' do
    expect { list('none', { 'missing' => 'maybe' }) }
      .to raise_error(ArgumentError, /'missing' in simpkv configuration must be a String, fail or empty/)
  end
end
