# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'

# What it answers is in spec/query/command_spec.rb, which has its gems.
RSpec.describe 'simpkv query' do
  include_context 'with keys in files'

  it 'says how to install the gem of the service if a gem of it is missing' do
    # A folder in which a gem is missing.
    hidden = File.join(folder, 'sqlite3.rb').tap { |file| File.write(file, "raise LoadError, 'none'") }
    outcome = simpkv('query', 'nodes { }', environment: { 'RUBYLIB' => File.dirname(hidden) })
    remedy = "simpkv: simpkv query needs the gem simpkv-server: install it with 'gem install simpkv-server'\n"
    expect([outcome.code, outcome.err]).to eq([69, remedy])
  end
end
