# frozen_string_literal: true

require 'open3'
require_relative '../support/another_ruby'
require_relative '../support/file_store'
require_relative '../support/processes'

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

RSpec.describe 'Descriptors that interrupts use', needs: :cext do
  include FileStoreHelp
  include Processes

  # @return [Array<String>] the identities of the eventfds that this process has open; the kernel never uses one twice
  def events
    Dir['/proc/self/fdinfo/*'].filter_map do |file|
      File.read(file)[/^eventfd-id: *(\d+)/, 1]
    rescue Errno::ENOENT # The descriptor of the listed folder.
      nil
    end
  end

  # A call that waits makes the descriptor.
  def wait_for_lock
    quick = open_store(root, 'lock_timeout_seconds' => 0.1)
    with_lock('globals/k') { expect { quick.get('globals/k') }.to raise_error(Simpkv::TimeoutError) }
    quick.close
  end

  # Both processes would take what is written to it, each the interrupts of the other one.
  it 'are not shared with a forked process' do
    store.put('globals/k', '{"value":1}')
    wait_for_lock
    parents = events
    expect(parents).not_to be_empty
    expect_success_of(child { wait_for_lock || (events & parents).empty? })
  end
end
