# frozen_string_literal: true

require_relative 'functions_helper'

RSpec.describe 'simpkv::put', type: :puppet_function do
  include_context 'with stored keys'

  it 'stores one JSON document' do
    is_expected.to run.with_params('a/b', { 'n' => 9.898 }, { 'm' => true }, options).and_return(true)
    expect(stored).to include('environments/rp_env/a' => nil,
                              'environments/rp_env/a/b' => '{"value":{"n":9.898},"metadata":{"m":true}}')
  end

  it 'stores global keys in a folder of their own' do
    is_expected.to run.with_params('k', 'v', {}, options.merge('global' => true)).and_return(true)
    expect(stored).to include('globals/k' => '{"value":"v","metadata":{}}')
  end

  it 'stores a Binary as base64' do
    binary = Puppet::Pops::Types::PBinaryType::Binary.new("\x00\xFF".b)
    is_expected.to run.with_params('k', binary, {}, options).and_return(true)
    expect(stored['environments/rp_env/k']).to eq(
      '{"value":"AP8=","encoding":"base64","original_encoding":"ASCII-8BIT","metadata":{}}'
    )
  end

  it { is_expected.to run.with_params('k', nil, {}, {}).and_raise_error(ArgumentError, /value/) }
  it { is_expected.to run.with_params('', 'v').and_raise_error(ArgumentError, /key/) }
  it { is_expected.to run.with_params('k', 'v', 'metadata').and_raise_error(ArgumentError, /metadata/) }
  it { is_expected.to run.with_params('k', 'v', {}, 'options').and_raise_error(ArgumentError, /options/) }
  it {
    is_expected.to run.with_params('K', 'v').and_raise_error(ArgumentError, /key 'K' contains unsupported characters/)
  }
end
