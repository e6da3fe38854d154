# frozen_string_literal: true

require 'spec_helper'
require 'simpkv/status/exposition'

# metrics_spec.rb lets promtool check the whole page of the service.
RSpec.describe Simpkv::Status::Exposition do
  let(:page) { described_class.new }

  it 'writes gauges and counters with their labels, which it escapes, and nothing for a value that is missing' do
    page.gauge(:simpkv_plain, 'Without labels.', 3)
    page.gauge(:simpkv_missing, 'Without a value.', nil)
    page.counter(:simpkv_total, 'With labels.', 1.5, server: %(a "quoted"\n\\name), backend: 'é')
    2.times { page.counter(:simpkv_total, 'With labels.', 1_790_000_000, server: '', backend: '{}=,') }
    expect(page.text).to eq(<<~'TEXT')
      # TYPE simpkv_plain gauge
      # HELP simpkv_plain Without labels.
      simpkv_plain 3.0
      # TYPE simpkv_total counter
      # HELP simpkv_total With labels.
      simpkv_total{server="a \"quoted\"\n\\name",backend="é"} 1.5
      simpkv_total{server="",backend="{}=,"} 3580000000.0
    TEXT
  end

  it 'writes a histogram, each bucket of which has the values of those below it' do
    [['/a', 0.25], ['/b', 7], ['/a', 0.5], ['/a', 2]].each do |route, seconds|
      page.observe(:simpkv_seconds, 'Time.', seconds, [0.25, 2], route: route)
    end
    expect(page.text).to eq(<<~TEXT)
      # TYPE simpkv_seconds histogram
      # HELP simpkv_seconds Time.
      simpkv_seconds_bucket{route="/a",le="0.25"} 1.0
      simpkv_seconds_bucket{route="/a",le="2"} 3.0
      simpkv_seconds_bucket{route="/a",le="+Inf"} 3.0
      simpkv_seconds_sum{route="/a"} 2.75
      simpkv_seconds_count{route="/a"} 3.0
      simpkv_seconds_bucket{route="/b",le="0.25"} 0.0
      simpkv_seconds_bucket{route="/b",le="2"} 0.0
      simpkv_seconds_bucket{route="/b",le="+Inf"} 1.0
      simpkv_seconds_sum{route="/b"} 7.0
      simpkv_seconds_count{route="/b"} 1.0
    TEXT
  end
end
