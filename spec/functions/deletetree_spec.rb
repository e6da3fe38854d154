# frozen_string_literal: true

require_relative 'functions_helper'

RSpec.describe 'simpkv::deletetree', type: :puppet_function do
  include_context 'with stored keys'

  before { store('d' => nil, 'd/k' => '{"value":1}', 'dd' => '{"value":2}') }

  it 'deletes the folder and everything below it' do
    is_expected.to run.with_params('d', options).and_return(true)
    expect(stored.keys.grep(/rp_env./)).to eq(['environments/rp_env/dd'])
  end

  it { is_expected.to run.with_params('nothing', options).and_return(true) }
  it { is_expected.to run.with_params('dd', options).and_raise_error(RuntimeError, /with keydir='dd'/) }
  it { is_expected.to run.with_params('..', options).and_raise_error(ArgumentError, %r{'/\./' or '/\.\./'}) }
end
