# frozen_string_literal: true

require_relative 'conformance_helper'

Conformance.describe 'Creating and replacing on condition' do
  describe 'get_or_create' do
    it 'creates a missing key and returns it' do
      expect(get_or_create('made/one', { 'by' => 'me' }) { |key| "for #{key}" })
        .to eq('value' => 'for made/one', 'metadata' => { 'by' => 'me' })
      expect(get('made/one')).to eq('value' => 'for made/one', 'metadata' => { 'by' => 'me' })
    end

    it 'returns a stored key without running the block' do
      put('made/two', 'first', { 'm' => 1 })
      ran = false
      expect(get_or_create('made/two', { 'm' => 2 }) do |_|
        ran = true
      end).to eq('value' => 'first', 'metadata' => { 'm' => 1 })
      expect(ran).to be(false)
    end

    it 'accepts a value instead of a block' do
      expect(get_or_create('made/three', 'mine')).to eq('value' => 'mine')
      expect(get_or_create('made/three', 'yours', { 'm' => 1 })).to eq('value' => 'mine')
    end

    it 'returns the value that another writer stored while the block ran' do
      found = get_or_create('made/four') do |_|
        put('made/four', 'theirs')
        'mine'
      end
      expect(found).to eq('value' => 'theirs')
      expect(get('made/four')).to eq('value' => 'theirs')
    end

    it 'returns false and other values unchanged' do
      [false, 0, '', [], {}, 1.5].each_with_index do |value, index|
        expect(get_or_create("made/odd#{index}") { |_| value }).to eq('value' => value)
        expect(get_or_create("made/odd#{index}") { |_| 'another' }).to eq('value' => value)
      end
    end

    it 'keeps a Sensitive a Sensitive' do
      expect(get_or_create('made/secret') { |_| sensitive('s') }['value'].unwrap).to eq('s')
      expect(get_or_create('made/secret') { |_| 'x' }['value'].unwrap).to eq('s')
    end

    it "stores nothing if the block fails, and raises the block's error" do
      expect { get_or_create('made/none') { |_| raise ArgumentError, 'of the block' } }.to raise_error('of the block')
      expect(exists('made/none')).to be(false)
    end

    it 'refuses a block that returns undef' do
      expect do
        get_or_create('made/none') do |_|
          nil
        end
      end.to raise_error(ArgumentError, %r{key='made/none': the block returns})
    end

    it 'refuses the name of a folder' do
      put('made/folder/x', 1)
      next if trait?(:shares_names)

      expect do
        get_or_create('made/folder') do |_|
          1
        end
      end.to raise_error(RuntimeError, %r{get_or_create with key='made/folder'})
    end
  end

  describe 'compare_and_put' do
    it 'creates a missing key if the expected value is undef' do
      expect(compare_and_put('cas/new', nil, 1)).to be(true)
      expect(compare_and_put('cas/new', nil, 2)).to be(false)
      expect(get('cas/new')).to eq('value' => 1)
    end

    it 'replaces the expected value with any metadata' do
      put('cas/old', { 'b' => [1, nil], 'a' => 2.5 }, { 'm' => 1 })
      expect(compare_and_put('cas/old', { 'b' => [1, nil], 'a' => 2.5 }, 'new', { 'm' => 2 })).to be(true)
      expect(get('cas/old')).to eq('value' => 'new', 'metadata' => { 'm' => 2 })
    end

    it 'keeps a value that is not the expected one' do
      put('cas/other', 'a  b')
      expect(compare_and_put('cas/other', 'a b', 'c')).to be(false)
      expect(get('cas/other')).to eq('value' => 'a  b')
    end

    it 'distinguishes 1, 1.0 and "1"' do
      put('cas/one', 1)
      expect(compare_and_put('cas/one', 1.0, 2)).to be(false)
      expect(compare_and_put('cas/one', '1', 2)).to be(false)
      expect(compare_and_put('cas/one', 1, 2)).to be(true)
    end

    it 'keeps a stored undef if the expected value is undef' do
      store_raw('cas/null', '{"value":null,"metadata":{}}')
      expect(compare_and_put('cas/null', nil, 1)).to be(false)
    end

    it 'creates no missing key if a value is expected' do
      expect(compare_and_put('cas/none', 'x', 'y')).to be(false)
      expect(exists('cas/none')).to be(false)
    end

    it 'returns true if the new value equals the stored one' do
      put('cas/same', 'x')
      expect(compare_and_put('cas/same', 'x', 'x')).to be(true)
    end

    it 'returns true if only the metadata change' do
      put('cas/meta', 'x', { 'm' => 1 })
      expect(compare_and_put('cas/meta', 'x', 'x', { 'm' => 2 })).to be(true)
      expect(get('cas/meta')['metadata']).to eq('m' => 2)
    end

    it 'ignores the order of the keys of a Hash, as == does in Puppet' do
      put('cas/order', { 'a' => 1, 'b' => [{ 'x' => 1, 'y' => 2 }] })
      expect(compare_and_put('cas/order', { 'b' => [{ 'y' => 2, 'x' => 1 }], 'a' => 1 }, 'new')).to be(true)
    end

    it 'compares the content of a Sensitive at any depth, and ignores the wrapper' do
      put('cas/secret', { 'a' => [sensitive('s')] })
      expect(compare_and_put('cas/secret', { 'a' => [sensitive('t')] }, 'b')).to be(false)
      expect(compare_and_put('cas/secret', sensitive({ 'a' => ['s'] }), sensitive('b'))).to be(true)
      expect(compare_and_put('cas/secret', 'b', sensitive('c'))).to be(true)
      expect(get('cas/secret')['value'].unwrap).to eq('c')
    end

    it 'accepts any value that get returns' do
      [Puppet::Pops::Types::PBinaryType::Binary.from_binary_string("\xff\x00".b), [nil, { '' => {} }], -0.5, 'é',
       sensitive(Puppet::Pops::Types::PBinaryType::Binary.from_binary_string("\xfe".b))].each do |value|
        [{}, { 'sensitive' => true }].each do |how|
          put('cas/any', value)
          expect(compare_and_put('cas/any', value, 0)).to be(true)
          put('cas/any', value)
          expect(compare_and_put('cas/any', get('cas/any', how)['value'], 1)).to be(true)
        end
      end
    end

    it 'distinguishes a Timestamp from its text, unless it was stored as text' do
      time = Puppet::Pops::Time::Timestamp.parse('2026-11-22T10:00:00.000 UTC')
      put('cas/time', time, {}, { 'rich_data' => true })
      expect(compare_and_put('cas/time', time.to_s, 'x')).to be(false)
      expect(compare_and_put('cas/time', time, time)).to be(true)
      expect(compare_and_put('cas/time', time, 'x')).to be(true)
    end

    it 'refuses an expected value that cannot be stored, even if the key is missing' do
      put('cas/there', 'hush')
      %w[cas/there cas/none].each do |key|
        expect { compare_and_put(key, ['hush', Float::NAN], 1) }
          .to raise_error(RuntimeError, /cannot encode expected\[1\]: NaN/) { |error|
            expect(error.message).not_to include('hush')
          }
      end
    end
  end

  def sensitive(value)
    Puppet::Pops::Types::PSensitiveType::Sensitive.new(value)
  end
end
