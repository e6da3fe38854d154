# frozen_string_literal: true

require_relative 'command_helper'

RSpec.describe 'simpkv secret WORD' do
  include_context 'with keys in files'

  it 'takes what is rather a command for no key' do
    %w[show Rotate rotat Delete rm ls put copy serve].each do |word|
      expect(simpkv('secret', word, 'app1/db').to_a)
        .to match(['', /no such command '#{word}'.*simpkv secret get #{word} is for a key of that name/, 64])
      expect(simpkv('secret', word).code).to eq(64)
    end
    expect(File.exist?(root)).to be(false)
  end

  it 'makes a secret of any other word, or with get' do
    expect(simpkv!('secret', 'get', 'show')).to eq(simpkv!('get', 'show'))
    expect(simpkv!('secret', 'token')).to eq(simpkv!('get', 'token'))
  end
end
