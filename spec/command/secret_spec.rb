# frozen_string_literal: true

require_relative 'command_helper'

RSpec.describe 'simpkv secret' do
  include_context 'with keys in files'

  it 'makes a secret at the first call, and prints it from then on' do
    made, code = simpkv('secret', 'app1/db')
    expect([made, code]).to match([/\A\w{24}\z/, 0])
    expect(simpkv('secret', 'app1/db')).to eq([made, 0])
    expect(simpkv('secret', 'get', 'app1/db', '-o', 'json').first).to include(made)
  end

  it 'prints a form, which is made once' do
    made, = simpkv('secret', '--format', 'sha512-crypt', '--cost', '1000', 'app1/db')
    expect(simpkv('secret', 'app1/db').first.crypt(made)).to eq(made)
    expect(simpkv('secret', 'app1/db', '--format', 'sha512-crypt', '--cost', '1000').first).to eq(made)
  end

  it 'makes it as the options say' do
    expect(simpkv('secret', 'app1/pin', '--alphabet', 'digits', '--length', '30').first).to match(/\A\d{30}\z/)
    expect(simpkv('secret', 'app1/words', '--words', '9', '--separator', ' ').first.split.length).to eq(9)
    expect(simpkv('secret', 'app1/mixed', '--at-least', 'digits=3', '--at-least', 'upper=2').first)
      .to match(/(?:\d.*){3}/).and match(/(?:[A-Z].*){2}/)
  end

  it 'says which option is wrong, and stores nothing' do
    said, code = simpkv('secret', 'app1/db', '--length', '5')
    expect([said, code]).to match([/'app1\/db': .*minimum_bits/, 65])
    expect(simpkv('exists', 'app1/db').last).to eq(1)
  end

  it 'takes a misspelt command for no key' do
    expect(simpkv('secret', 'rotat', 'app1/db')).to match([/did you mean 'rotate'/, 64])
    expect(simpkv('secret').first).to include('rotate', 'list')
  end

  it 'replaces a secret by another one of its kind, and keeps the former one on request' do
    made, = simpkv('secret', 'app1/pin', '--alphabet', 'digits', '--length', '30', '--format', 'ssha')
    former, = simpkv('secret', 'app1/pin')
    expect(simpkv('secret', 'rotate', 'app1/pin', '--history', '1')).to eq(["'app1/pin' has another secret\n", 0])
    another, = simpkv('secret', 'app1/pin')
    expect(another).to match(/\A\d{30}\z/)
    expect(another).not_to eq(former)
    expect(simpkv('get', 'app1/pin', '--version', '-1').first).to eq(former)
    expect(simpkv('secret', 'app1/pin', '--format', 'ssha').first).not_to eq(made)
  end

  it 'does not replace what something else has stored' do
    simpkv('put', 'app1/db', 'by hand')
    expect(simpkv('secret', 'rotate', 'app1/db')).to match([/simpkv put stores one/, 65])
    expect(simpkv('get', 'app1/db').first).to eq('by hand')
  end

  it 'lists kinds, ages and formats, and no secret' do
    made, = simpkv('secret', 'app1/db', '--format', 'ssha')
    plain, = simpkv('secret', 'app1/db')
    simpkv('secret', 'app2/token', '--kind', 'bytes', '--format', 'hex')
    simpkv('put', 'app2/owner', 'me')
    said, code = simpkv('secret', 'list')
    expect(code).to eq(0)
    expect(said).to match(%r{^kind +made +forms +key\npassword +\d{4}-\S+Z +ssha +app1/db\nbytes +\S+Z +- +app2/token\n\z})
    expect(said).not_to include(made, plain)
  end
end
