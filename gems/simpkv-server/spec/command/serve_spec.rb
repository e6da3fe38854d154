# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'

RSpec.describe 'simpkv serve' do
  include_context 'with keys in files'

  it 'says how to install the gem of the service if that is missing' do
    # A folder in which a gem of the service is missing.
    hidden = File.join(folder, 'puma.rb').tap { |file| File.write(file, "raise LoadError, 'none'") }
    outcome = simpkv('serve', environment: { 'RUBYLIB' => File.dirname(hidden) })
    remedy = "simpkv: simpkv serve needs the gem simpkv-server: install it with 'gem install simpkv-server'\n"
    expect([outcome.code, outcome.err]).to eq([69, remedy])
  end
end
