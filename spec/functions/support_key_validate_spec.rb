# frozen_string_literal: true

require_relative '../support/rspec_puppet'

RSpec.describe 'simpkv::support::key::validate', type: :puppet_function do
  %w[a a/b this/.../ok a//b a/ / 0._:-].each { |key| it { is_expected.to run.with_params(key) } }

  it {
    is_expected.to run.with_params('a b').and_raise_error(ArgumentError, "key 'a b' contains disallowed whitespace")
  }

  it 'names the allowed characters' do
    is_expected.to run.with_params('Ab').and_raise_error(
      ArgumentError, "key 'Ab' contains unsupported characters.  Allowed set=[a-z0-9._:-/]: write it in lower case; " \
                     "only a backend with 'case_sensitive' takes capital letters"
    )
  end

  %w[.. . ../x a/.. a/./b].each do |key|
    it do
      is_expected.to run.with_params(key).and_raise_error(
        ArgumentError, "key '#{key}' contains disallowed '/./' or '/../' sequence"
      )
    end
  end
end
