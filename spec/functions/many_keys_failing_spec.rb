# frozen_string_literal: true

require_relative '../puppet_helper'

RSpec.describe 'simpkv::get_many and put_many on a directory that fails' do
  let!(:world) { PuppetWorld.new }
  let(:store) { instance_double(Simpkv::Store, exist?: true) }
  let(:options) { { 'backends' => { 'default' => { 'type' => 'ldap', 'id' => 'x', 'ldap_uri' => 'ldapi://%2Fx' } } } }
  let(:unavailable) { Simpkv::UnavailableError.new('gone') }

  before { allow(Simpkv::Store).to receive(:open).and_return(store) }

  after { world.close }

  { 'get_many' => [%w[a b c], '{"value":1}'],
    'put_many' => [%w[a b c].to_h { |key| [key, { 'value' => 1 }] }, true] }.each do |name, (keys, success)|
    define_method(:answer) do |operation, outcomes|
      allow(store).to receive(operation).and_return(outcomes.transform_keys { |key| "environments/production/#{key}" })
    end

    it "gives each key of #{name} its error in plain words (each had a whole command)" do
      answer(name, 'a' => success, 'b' => unavailable, 'c' => Simpkv::DeniedError.new('denied'))
      errors = world.call("simpkv::#{name}", keys, options.merge('errors' => 'return'))['errors']
      expect(errors).to eq('b' => 'simpkv ldap/x Error: gone', 'c' => 'simpkv ldap/x Error: denied')
    end

    it "fails if the directory fails for every key of #{name}, with the command that reproduces it outside of Puppet" do
      answer(name, 'a' => Simpkv::TimeoutError.new('late'), 'b' => unavailable, 'c' => unavailable)
      expect { world.call("simpkv::#{name}", keys, options.merge('errors' => 'return')) }
        .to raise_error(RuntimeError, %r{simpkv ldap/x Error: late. To ask outside of Puppet: ldapsearch })
    end
  end
end
