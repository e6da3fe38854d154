# frozen_string_literal: true

require_relative 'functions_helper'

RSpec.describe 'simpkv::get', type: :puppet_function do
  include_context 'with stored keys'

  before do
    store('plain' => '{"value":[1,"é"],"metadata":{}}', 'noted' => '{ "value": 1.50, "metadata": {"m": null} }',
          'bytes' => '{"value":"AP8=","encoding":"base64","original_encoding":"ASCII-8BIT","metadata":{}}')
  end

  it { is_expected.to run.with_params('plain', options).and_return('value' => [1, 'é']) }
  it { is_expected.to run.with_params('noted', options).and_return('value' => 1.5, 'metadata' => { 'm' => nil }) }
  it { is_expected.to run.with_params('bytes', options).and_return('value' => "\x00\xFF".b) }
  it { is_expected.to run.with_params('missing', options).and_raise_error(RuntimeError, /Key not found/) }
  it { is_expected.to run.with_params('missing', options.merge('softfail' => true)).and_return(nil) }
  it {
    is_expected.to run.with_params('../rp_env/plain', options).and_raise_error(ArgumentError, %r{'/\./' or '/\.\./'})
  }
end
