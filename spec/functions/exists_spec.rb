# frozen_string_literal: true

require_relative 'functions_helper'

RSpec.describe 'simpkv::exists', type: :puppet_function do
  include_context 'with stored keys'

  before { store('d' => nil, 'd/k' => '{"value":1}') }

  it { is_expected.to run.with_params('d/k', options).and_return(true) }
  it { is_expected.to run.with_params('d', options).and_return(true) }
  it { is_expected.to run.with_params('d/l', options).and_return(false) }
  it { is_expected.to run.with_params('d/k', options.merge('global' => true)).and_return(false) }
end
