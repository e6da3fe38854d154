# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'

# What it answers is in spec/query/command_spec.rb, which has its gems.
RSpec.describe 'simpkv query' do
  include_context 'with keys in files'

  # A folder in which a gem is missing.
  let(:without_sqlite) do
    File.write(File.join(folder, 'sqlite3.rb'), 'raise LoadError, "no SQLite\nsearched here"')
    { 'RUBYLIB' => folder }
  end
  let(:remedy) do
    "no SQLite; searched here. Install the gem simpkv-server with the gems that it needs: #{Simpkv::Gems.command} " \
      "install simpkv-server -v #{Simpkv::VERSION} ('puppetserver gem install' for puppetserver)"
  end

  # It said that simpkv-server, the gem that says so, was missing.
  it 'names the file that cannot be loaded, and how to install the gems that queries need' do
    outcome = simpkv('query', 'nodes { }', environment: without_sqlite)
    expect([outcome.code, outcome.err]).to eq([78, "simpkv: simpkv query cannot be used: #{remedy}\n"])
  end

  # The index was left out without a word.
  it 'lets doctor say that it does not examine the index' do
    simpkv!('init')
    out = simpkv!('doctor', environment: without_sqlite)
    expect(out).to include("index of queries: not examined: the index cannot be used: #{remedy}")
  end
end
