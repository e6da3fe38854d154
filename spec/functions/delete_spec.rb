# frozen_string_literal: true

require_relative 'functions_helper'

RSpec.describe 'simpkv::delete', type: :puppet_function do
  include_context 'with stored keys'

  before { store('d' => nil, 'd/k' => '{"value":1}') }

  it 'deletes the key and keeps the folder' do
    is_expected.to run.with_params('d/k', options).and_return(true)
    expect(stored.keys).to include('environments/rp_env/d')
    expect(stored.keys).not_to include('environments/rp_env/d/k')
  end

  it { is_expected.to run.with_params('nothing', options).and_return(true) }
  it { is_expected.to run.with_params('d', options).and_raise_error(RuntimeError, /Key specifies a folder/) }
  it { is_expected.to run.with_params('d', options.merge('softfail' => true)).and_return(false) }
end
