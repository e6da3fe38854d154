# frozen_string_literal: true

require 'simpkv/estate'
require 'simpkv/server/spool_delivery'
require_relative '../../../simpkv-estate/spec/support/spooled_writes'

RSpec.describe Simpkv::Server::SpoolDelivery do
  include SpooledWrites

  around do |example|
    Dir.mktmpdir('simpkv-delivery') do |folder|
      @folder = folder
      example.run
    end
  end

  let(:estate) { SpooledWrites.compiler(@folder, { 'spool' => File.join(@folder, 'spool') }) }
  let(:site) do
    estate = self.estate
    Object.new.tap { |site| site.define_singleton_method(:estate) { |_owner| estate } }
  end
  let(:lines) { [] }

  # The log had the reason every 5 seconds, each time with another number of milliseconds.
  it 'logs a reason once, though the time until the next attempt differs' do
    estate.spool.save(facts('web1'))
    delivery = described_class.new(site, nil, ->(line) { lines << line })
    reasons = Array.new(3) do
      delivery.deliver
      estate.spool.deliver.ended_by.message
    end
    expect(reasons).to include(/tried again in \d+ ms/)
    expect(lines).to match([/\Athe spool cannot be delivered: .*: connection refused: check that the server runs/])
  end
end
