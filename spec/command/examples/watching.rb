# frozen_string_literal: true

require 'json'

# Runs `simpkv watch` while keys change.
module WatchingCommand
  # Runs `simpkv watch`, and calls the block when it is ready.
  #
  # @return [Array<String>] the lines that follow the first one
  def watched(*arguments)
    command = [{ 'SIMPKV_CONFIG' => config }, *Unbundled::COMMAND, 'watch', *arguments]
    IO.popen(command, chdir: folder) do |output|
      @first = output.gets
      yield
      output.readlines(chomp: true)
    end
  end
end

RSpec.shared_examples 'a poll' do
  include WatchingCommand

  it 'watch --poll prints what differs from the last list, also deletions' do
    plant('app1/old')
    plant('app1/same')
    lines = watched('app1', '--poll', '0.2', '--count', '3') do
      plant('app1/sub/new')
      plant('app1/same', Simpkv::Codec.encode('changed'))
      store.delete('environments/production/app1/old')
    end
    expect(lines.map { |line| line.split(' ', 2).last }).to contain_exactly('put sub/new', 'put same', 'delete old')
  end
end
