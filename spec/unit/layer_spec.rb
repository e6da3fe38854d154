# frozen_string_literal: true

require_relative '../spec_helper'

RSpec.describe Simpkv::Layer do
  it 'passes on each method of a store, with arguments and block' do
    expect(described_class::INTERFACE).to match_array(Simpkv::Store.public_instance_methods(false) - %i[inspect])
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
