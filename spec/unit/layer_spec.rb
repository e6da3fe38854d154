# frozen_string_literal: true

require_relative '../spec_helper'

RSpec.describe Simpkv::Layer do
  it 'passes on each method of a store, with arguments and block' do
    own = %i[inspect within get_decoded] # get_decoded would pass by what a layer does to documents
    expect(described_class::INTERFACE).to match_array(Simpkv::Store.public_instance_methods(false) - own)
    below = Object.new
    described_class::INTERFACE.each do |name|
      below.define_singleton_method(name) { |*arguments, **options, &block| [name, arguments, options, block.call] }
    end
    layer = described_class.new(below)
    described_class::INTERFACE.each do |name|
      expect(layer.public_send(name, 1, a: 2) { 3 }).to eq([name, [1], { a: 2 }, 3])
    end
  end
end
