# frozen_string_literal: true

require 'open3'
require_relative '../support/file_store'

# Reads the order of the system calls of one process that puts a new key, another value, and a batch.
RSpec.describe 'The system calls of a put into a file', :tools, needs: %i[cext] do
  include FileStoreHelp

  let(:library) { File.expand_path('../../lib', __dir__) }

  let(:script) do
    <<~RUBY
      store = Simpkv::Store.open('file', 'root_path' => #{root.dump})
      store.put('globals/f/new', 'one')
      $stdout.syswrite('new')
      store.put('globals/f/new', 'two')
      $stdout.syswrite('other')
      store.put_many((1..20).to_h { |i| ["globals/\#{%w[f g][i % 2]}/k\#{i}", 'three'] }.merge('globals/f/new' => 'four'))
      $stdout.syswrite('batch')
    RUBY
  end

  # @return [Array<String>] the lines of strace, with the path of each descriptor
  def trace
    log = File.join(scratch, 'strace')
    output, status = Open3.capture2e({ 'RUBYOPT' => nil }, 'strace', '-f', '-y', '-s', '9', '-o', log,
                                     '-e', 'trace=write,pwrite64,fsync,linkat,renameat,renameat2', RbConfig.ruby,
                                     '--disable=gems', "-I#{library}", '-rsimpkv', '-e', script)
    expect(status).to be_success, output
    File.readlines(log, chomp: true)
  end

  # @return [Array<Hash>] the successful calls, with the numbers of the lines on which they began and ended
  def calls
    open = {}
    trace.each_with_index.with_object([]) do |(line, number), calls|
      case line
      when /\A(?<thread>\d+) +(?<name>\w+)\((?<arguments>.*?)(?: <unfinished \.\.\.>|\) += \d+)\z/
        match = Regexp.last_match
        calls << { name: match[:name], arguments: match[:arguments], began: number, ended: number }
        open[match[:thread]] = calls.last
      when /\A(\d+) <\.\.\. \w+ resumed>.*= \d+\z/ then open[Regexp.last_match(1)][:ended] = number
      end
    end
  end

  # @return [Hash] of the calls, the one that gives a file the name of the key
  def naming_of(key, calls)
    calls.find { |call| call[:name].match?(/link|rename/) && call[:arguments].match?(/"#{key}"(, 0)?\z/) }
  end

  # @return [Array<String>] the calls for the key: those that ended before it got its name, and those that began later
  def steps_of(key, calls)
    naming = naming_of(key, calls)
    folder, temporary = naming[:arguments].match(/<(.*?)>, "(.*?)"/).captures
    before = calls.select { |call| call[:ended] < naming[:began] && call[:arguments].include?("/#{temporary}>") }
    after = calls.select { |call| call[:began] > naming[:ended] && call[:arguments].end_with?("<#{folder}>") }
    [*before.map { |call| call[:name] }, 'naming', *after.map { |call| call[:name] }]
  end

  it 'write and sync the file, give it its name, and sync the folder, for each key' do
    store.put('globals/f/first', 'd')
    store.put('globals/g/first', 'd')
    parts = calls.slice_after { |call| call[:name] == 'write' && call[:arguments].start_with?('1<') }.to_a
    order = %w[pwrite64 fsync naming fsync]
    expect(parts.first(2).map { |part| steps_of('new', part) }).to eq([order, order])
    names = (1..20).map { |i| "k#{i}" } + ['new']
    expect(names.to_h { |name| [name, steps_of(name, parts[2])] }).to eq(names.to_h { |name| [name, order] })
    expect(parts[2].count { |call| call[:name] == 'fsync' }).to eq(21 + 2)
  end
end
