# frozen_string_literal: true

require_relative '../support/ldap_store'
require_relative '../support/load'
require_relative '../support/processes'
require_relative '../support/tally'

# Mixed operations for LOAD_SECONDS, 2 unless told.
Directories.each_server do |server, tags|
  RSpec.describe "Many at once, on #{server}", once: server == Ds389, **tags do
    include Processes

    include_context 'with a directory', server, limits: true

    duration = Float(ENV.fetch('LOAD_SECONDS', '2'))
    pool_size = 8

    # These are set before the fork, so that all processes have the same values.
    before do
      id
      directory.audit if server == Ds389
      Load.prepare(store)
      store.close
    end

    def resident
      GC.start
      File.read('/proc/self/status')[/VmRSS:\s*(\d+)/, 1].to_i / 1024
    end

    # @return [Array<Integer>] how many files are open, and how many of them are sockets
    def descriptors
      open = Dir.glob('/proc/self/fd/*').map do |path|
        File.readlink(path)
      rescue SystemCallError
        nil # closed meanwhile
      end.compact
      [open.length, open.grep(/\Asocket:/).length]
    end

    # @return [Array<Load::Result>] of threads that share one store
    def by_threads(shared, numbers, seconds)
      numbers.map { |number| Thread.new { Load.new(shared, number).run(seconds) } }.map(&:value)
    end

    # @return [Array<Load::Result>] of processes, each with a store of its own
    def by_processes(numbers, seconds)
      children = numbers.map do |number|
        reading, writing = IO.pipe
        pid = child { writing.write(Marshal.dump(Load.new(open_store('pool_size' => 1), number).run(seconds))) }
        writing.close
        [pid, reading]
      end
      results = children.map { |_, reading| Marshal.load(reading.read) } # rubocop:disable Security/MarshalLoad
      expect_success_of(*children.map(&:first))
      results
    end

    # Only the updates that 389-DS itself loses.
    def expect_nothing_lost(name, results)
      replaced = directory.is_a?(Ds389) ? directory.replaced_twice : {}
      twice = Load::COUNTERS.to_h { |key| [key, replaced.fetch(dn(key), 0)] }
      lost = Load.lost(open_store, results, twice)
      tally = Tally.new(twice.values.sum.zero? ? name : "#{name} (the server replaced #{twice.values.sum} twice)")
      tally.add(operations: results.sum(&:operations), anomalies: results.flat_map(&:anomalies) + lost)
      expect(tally.anomalies).to eq([])
    end

    # The most connections that follow others: deletetree closes that to a slow 389-DS (docs/adr/0034).
    def reopened
      directory.is_a?(Ds389) ? 30 : 0
    end

    # A leak grows in each of three windows. The allocator's arenas and Java's heap grow now and then, by many MB, and
    # Java opens files when it likes. The number of sockets stays the same, but for connections that follow others.
    it '64 threads lose no update and leak nothing, over no more connections than pool_size' do
      accepted = directory.accepted
      shared = open_store('pool_size' => pool_size, 'pool_timeout_seconds' => 60)
      results = by_threads(shared, 0...64, duration / 4)
      growths = Array.new(3) do |window|
        before = [resident, *descriptors]
        results += by_threads(shared, (64...128).map { |number| number + (64 * window) }, duration / 4)
        [resident, *descriptors].zip(before).map { |now, earlier| now - earlier }
      end
      memory, files, sockets = growths.transpose
      expect(memory.min).to be < 6, -> { "the memory grew by #{memory} MiB" }
      expect(files.min).to be <= 0, -> { "open files grew by #{files}" }
      expect(reopened.zero? ? sockets.map(&:abs).max : sockets.min).to be <= 0, -> { "open sockets grew by #{sockets}" }
      expect(directory.accepted - accepted).to be_between(1, pool_size + reopened)
      expect_nothing_lost("load on #{server}: 64 threads, #{RUBY_ENGINE}", results)
    end

    it '16 processes lose no update, over one connection each', needs: :fork do
      accepted = directory.accepted
      results = by_processes(0...16, duration)
      expect(directory.accepted - accepted).to be_between(16, 16 + reopened)
      expect_nothing_lost("load on #{server}: 16 processes", results)
    end
  end
end
