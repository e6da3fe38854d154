# frozen_string_literal: true

require_relative 'conformance_helper'

Conformance.describe 'Long names' do
  # Returns the maximum length of a name in bytes: the limit of a directory, or else of a file system.
  def room_for(kind)
    return 255 unless trait?(:short_names)

    trait?(:ignores_case) ? { key: 230, folder: 237 }[kind] : 114
  end

  # A name that is too long for all backends is an invalid key. A name that is too long for one backend is a failure of
  # that backend.
  def expect_refusal(name, room, &call)
    error = name.length > 255 ? ArgumentError : RuntimeError
    expect(&call).to raise_error(error) { |raised|
      expect(raised.message).to include(name[0, 20], room.to_s)
      expect(raised.message).not_to include('hush')
    }
  end

  it 'are accepted up to the maximum length, of keys and of folders' do
    key = "#{'f' * room_for(:folder)}/#{'k' * room_for(:key)}"
    expect(put(key, 'v')).to be(true)
    expect([get(key), exists(key)]).to eq([{ 'value' => 'v' }, true])
    expect(exists('f' * room_for(:folder))).to be(true)
    expect(list('f' * room_for(:folder))['keys'].keys).to eq(['k' * room_for(:key)])
    expect(delete(key)).to be(true)
  end

  it 'are refused above the maximum length, with the segment and the maximum, and nothing is written' do
    long_key = 'k' * (room_for(:key) + 1)
    long_folder = 'f' * (room_for(:folder) + 1)
    put('there', 1)
    expect_refusal(long_key, room_for(:key)) { put("a/#{long_key}", 'hush-hush') }
    expect_refusal(long_folder, room_for(:folder)) { put("#{long_folder}/k", 'hush-hush') }
    expect(list('/')).to eq('keys' => { 'there' => { 'value' => 1 } }, 'folders' => [])
  end

  it 'are refused by a directory if the whole DN is too long, with its maximum length' do
    key = "#{'a/' * 2000}k"
    if trait?(:short_names)
      expect { put(key, 'hush-hush') }.to raise_error(RuntimeError, /8192/) { |error|
        expect(error.message).not_to include('hush')
      }
    else
      expect(put(key, 'v')).to be(true)
      expect([get(key), deletetree('a')]).to eq([{ 'value' => 'v' }, true])
    end
    expect(exists('a')).to be(false)
  end
end
