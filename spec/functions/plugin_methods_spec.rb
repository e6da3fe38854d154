# frozen_string_literal: true

require_relative '../puppet_helper'

# The outcomes of many keys, from the plugins of the types file and ldap.
RSpec.describe 'The methods of a plugin over a store' do
  let(:store) { instance_double(Simpkv::Store) }
  let(:file) { File.join(PuppetWorld::PROJECT, 'lib', 'puppet_x', 'simpkv', 'plugin_methods.rb') }
  let(:plugin) do
    methods = TOPLEVEL_BINDING.eval(File.read(file), file)
    Class.new do
      include methods

      def initialize(store)
        super('acme/x')
        @simpkv_store = store
      end

      def explain(error)
        "#{error.message}: a whole command"
      end
    end.new(store)
  end
  let(:late) { Simpkv::TimeoutError.new('late') }
  let(:gone) { Simpkv::UnavailableError.new('gone') }

  { 'get_many' => '{"value":1}', 'put_many' => true }.each do |operation, success|
    def outcomes(operation, outcomes)
      allow(store).to receive(operation).and_return(outcomes)
      plugin.public_send(operation, {})
    end

    it "give each key of #{operation} its outcome, in plain words (each had a whole command)" do
      denied = Simpkv::DeniedError.new('denied')
      expect(outcomes(operation, { 'a' => success, 'b' => gone, 'c' => denied })).to eq(
        result: { 'a' => success, 'b' => { err_msg: 'gone' }, 'c' => { err_msg: 'denied' } }, err_msg: nil
      )
      expect(outcomes(operation, { 'c' => denied })[:result]).to eq('c' => { err_msg: 'denied' })
      expect(outcomes(operation, {})).to eq(result: {}, err_msg: nil)
    end

    it "fail if no key of #{operation} was reached" do
      expect(outcomes(operation, { 'a' => late, 'b' => gone })).to eq(result: nil, err_msg: 'late: a whole command')
    end
  end
end
