# frozen_string_literal: true

require 'fileutils'
require 'simpkv/inspection'
require_relative '../../../../spec/support/disturbed_store'
require_relative '../../../../spec/support/scratch'

# An estate in files, for each example another.
RSpec.shared_context 'with an estate in files' do
  let(:root) { Scratch.make('simpkv-estate') }
  # Those of the estate that an example sets.
  let(:options) { {} }
  let(:site) { { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'estate', 'root_path' => root } } } }
  let(:estate) { open_estate(options) }

  before { open_estate.make }
  after { FileUtils.remove_entry(root) }

  # @param disturbances [Hash{Integer => Proc}] of the store, which has been opened: see {DisturbedStore}
  # @return [Simpkv::Estate] another one on the same store
  def open_estate(options = {}, disturbances = {})
    estate = Simpkv::Estate.new(site.merge('estate' => options)) do |settings|
      DisturbedStore.new(Simpkv::Store.open('file', settings.slice('root_path')))
    end
    estate.tap { estate.store.disturb(disturbances) }
  end
end
