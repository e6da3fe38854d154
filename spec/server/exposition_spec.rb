# frozen_string_literal: true

require 'spec_helper'
require 'prometheus/client'
require 'prometheus/client/formats/text'
require 'simpkv/status/exposition'

RSpec.describe Simpkv::Status::Exposition do
  let(:samples) do
    [[0, { server: 'ldaps://a', backend: 'b' }], [1.5, { server: %(a "quoted"\n\\name), backend: 'é' }],
     [1_790_000_000, { server: '', backend: '{}=,' }], [-1, { server: 'a#b', backend: ' ' }]]
  end

  # @return [String] what the gem makes of the same metrics
  def of_the_gem
    registry = Prometheus::Client::Registry.new
    plain = registry.gauge(:simpkv_plain, docstring: 'Without labels.')
    plain.set(3)
    labelled = registry.counter(:simpkv_total, docstring: 'With labels.', labels: %i[server backend])
    samples.each { |value, labels| labelled.increment(by: value.abs, labels: labels) }
    Prometheus::Client::Formats::Text.marshal(registry)
  end

  it 'writes what prometheus-client would write' do
    page = described_class.new
    page.gauge(:simpkv_plain, 'Without labels.', 3)
    page.gauge(:simpkv_missing, 'Without a value.', nil)
    samples.each { |value, labels| page.counter(:simpkv_total, 'With labels.', value.abs, labels) }
    expect(page.text).to eq(of_the_gem)
  end
end
