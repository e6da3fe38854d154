# frozen_string_literal: true

require 'spec_helper'
require 'simpkv'
require 'simpkv/status'

RSpec.describe Simpkv::Status::ExpiringKeys do
  let(:documents) do
    broken = Array.new(1010) { |number| ["production/k#{number}", '{"value":1,"expires":"never"}'] }.to_h
    { 'globals' => { 'good' => '{"value":1,"expires":"2020-01-01T00:00:00Z"}' }, 'environments' => broken }
  end
  let(:store) do
    instance_double(Simpkv::Store).tap do |store|
      allow(store).to receive(:tree) do |root, **, &read|
        documents.fetch(root).each(&read)
        { errors: {} }
      end
    end
  end

  # All of them were kept in memory.
  it 'keeps some names of very many keys that cannot be read, and the number of all' do
    reading = described_class.new('default', store)
    expect(reading.first(5).map(&:name)).to eq(%w[good])
    expect(reading.unreadable.length).to eq(1000)
    expect(reading).to have_attributes(unreadable_total: 1010, unreadable: all(have_attributes(backend: 'default')))
    expect { reading.count }.to raise_error(Simpkv::MalformedError, %r{'environments/production/k\d+' cannot be read: })
  end
end
