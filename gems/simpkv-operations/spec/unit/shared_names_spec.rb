# frozen_string_literal: true

require 'simpkv/cli/transfer/shared_names'

RSpec.describe Simpkv::Cli::SharedNames do
  it 'finds keys that would be folders, and folders that would be keys' do
    expect(described_class.find(%w[a/b/c d], %w[a/b/c d a/b], %w[d e]))
      .to eq('d' => 'the target has a folder there', 'a/b' => "'a/b/c' needs a folder there")
  end

  # The import of a backup of 10,000 nodes ended with 'stack level too deep': each key was an argument of one call.
  it 'takes as many keys as a large store has' do
    keys = Array.new(300_000) { |number| "globals/k#{number}" }
    expect(described_class.find(keys, keys, [])).to eq({})
  end
end
