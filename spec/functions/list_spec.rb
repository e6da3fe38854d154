# frozen_string_literal: true

require_relative 'functions_helper'

RSpec.describe 'simpkv::list', type: :puppet_function do
  include_context 'with stored keys'

  before do
    store('d' => nil, 'd/b' => '{"value":1}', 'd/a' => '{"value":2,"metadata":{"m":1}}', 'd/z' => nil, 'd/y' => nil)
  end

  it 'returns keys and folders, sorted' do
    is_expected.to run.with_params('d', options).and_return(
      'keys' => { 'a' => { 'value' => 2, 'metadata' => { 'm' => 1 } }, 'b' => { 'value' => 1 } }, 'folders' => %w[y z]
    )
  end

  it { is_expected.to run.with_params('/', options).and_return('keys' => {}, 'folders' => ['d']) }
  it { is_expected.to run.with_params('e', options).and_raise_error(RuntimeError, /with keydir='e'/) }
  it { is_expected.to run.with_params('e', options.merge('softfail' => true)).and_return(nil) }
end
