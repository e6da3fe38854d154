# frozen_string_literal: true

require 'fileutils'
require 'simpkv/estate'
require_relative 'scratch'

# An estate in files, for each example another.
RSpec.shared_context 'with an estate in files' do
  let(:root) { Scratch.make('simpkv-estate') }
  # Those of the estate that an example sets.
  let(:options) { {} }
  let(:site) { { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'estate', 'root_path' => root } } } }
  let(:estate) { open_estate(options) }

  after { FileUtils.remove_entry(root) }

  # @return [Simpkv::Estate] another one on the same store
  def open_estate(options = {})
    Simpkv::Estate.new(site.merge('estate' => options)) { |settings| Simpkv::Store.open('file', settings.slice('root_path')) }
  end
end
