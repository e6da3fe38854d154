# frozen_string_literal: true

require 'open3'
require_relative '../support/another_ruby'

# On FFI an interrupt takes effect at the end of the call.
RSpec.describe 'Interrupts of calls that wait for a lock', needs: :cext do
  it 'leave no open descriptor and no lock, also when a second interrupt follows (it unwound frames of the core)' do
    program = File.expand_path('../support/signal_storm.rb', __dir__)
    output, status = Open3.capture2e({ 'SIMPKV_NATIVE' => 'cext' }, *AnotherRuby.command(program, '2'))
    expect(status).to be_success, output
    raised, left_open, usable = output.split
    expect(Integer(raised)).to be >= 10
    expect([left_open, usable]).to eq(%w[0 true])
  end
end
