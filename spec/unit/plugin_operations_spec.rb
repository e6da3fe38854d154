# frozen_string_literal: true

require_relative '../spec_helper'
require 'simpkv'

# What the plugins of the types file and ldap make of what came of many keys.
RSpec.describe Simpkv::PluginOperations do
  let(:store) { double }
  let(:plugin) do
    included = described_class
    Class.new do
      include included

      def initialize(store)
        super('acme/x')
        @store = store
      end

      def explain(error)
        "#{error.message}: a whole command"
      end
    end.new(store)
  end
  let(:late) { Simpkv::TimeoutError.new('late') }
  let(:gone) { Simpkv::UnavailableError.new('gone') }

  { 'get_many' => '{"value":1}', 'put_many' => true }.each do |operation, fine|
    def outcomes(operation, found)
      allow(store).to receive(operation).and_return(found)
      plugin.public_send(operation, {})
    end

    it "tells of each key of #{operation} what came of it, in plain words (each had a whole command)" do
      denied = Simpkv::DeniedError.new('denied')
      expect(outcomes(operation, { 'a' => fine, 'b' => gone, 'c' => denied })).to eq(
        result: { 'a' => fine, 'b' => { err_msg: 'gone' }, 'c' => { err_msg: 'denied' } }, err_msg: nil
      )
      expect(outcomes(operation, { 'c' => denied })[:result]).to eq('c' => { err_msg: 'denied' })
      expect(outcomes(operation, {})).to eq(result: {}, err_msg: nil)
    end

    it "fails if no key of #{operation} was reached" do
      expect(outcomes(operation, { 'a' => late, 'b' => gone })).to eq(result: nil, err_msg: 'late: a whole command')
    end
  end
end
