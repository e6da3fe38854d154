# frozen_string_literal: true

require 'io/wait'
require 'tmpdir'
require_relative 'linearizability'
require_relative 'processes'

# A client of registers. It makes random calls to a store, and logs each call before it starts and its outcome
# afterwards. Its log survives its own SIGKILL.
class RegisterClient
  # The relative frequency of each call.
  CHANCES = { get: 5, put: 4, delete: 1, create: 1, swap: 3, remove: 1 }.freeze

  # The number of keys in use at the same time, and the seconds of their use, which keep histories short.
  KEYS = 2
  SECONDS = 1

  # @param store [Simpkv::Store]
  # @param kinds [Array<Symbol>] the calls to make, from {CHANCES}
  # @param number [Integer] the number of the client
  # @param file [String] the file for the log
  # @param began [Integer] the monotonic time in nanoseconds from which keys are counted
  def initialize(store, kinds, number, file, began)
    @store = store
    @chances = CHANCES.slice(*kinds)
    @number = number
    @file = File.open(file, 'a')
    @file.sync = true
    @began = began
    @random = Random.new((number * 1_000_003) + RSpec.configuration.seed)
    @seen = {} # the last value of each key
  end

  # Makes calls until there are enough of them and the pipe is closed at its other end.
  def run(operations, pipe)
    count = 0
    until count >= operations && pipe.wait_readable(0)
      key = "globals/registers/r#{(now - @began) / (SECONDS * 1_000_000_000)}/k#{@random.rand(KEYS)}"
      call(key, pick(key), (@number * 1_000_000) + count)
      count += 1
    end
  end

  def self.document(value)
    %({"value":#{value},"metadata":{}})
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  end

  # @return [Integer] the calls that were repeated after a lost connection so far
  def lost
    Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }.sum { |server| server['retries'].fetch('lost', 0) }
  end

  def pick(key)
    at = @random.rand(@chances.values.sum)
    kind = @chances.find { |_, chance| (at -= chance).negative? }.first
    %i[swap remove].include?(kind) && !@seen[key] ? :get : kind
  end

  def call(key, kind, value)
    value = nil if %i[get delete remove].include?(kind)
    expect = @seen[key] if %i[swap remove].include?(kind)
    write('call', key, kind, value, expect, now)
    before = lost
    outcome, answer = outcome_of { send(kind, key, value, expect) }
    write('return', outcome, answer, now, lost - before)
    answer = value unless kind == :get
    @seen[key] = (answer if outcome == :ok)
  end

  def write(*words)
    @file.write("#{words.map { |word| word.nil? ? '-' : word }.join(' ')}\n")
  end

  def outcome_of
    [:ok, yield]
  rescue Simpkv::ConflictError, Simpkv::ExistsError
    [:refused, nil]
  rescue Simpkv::TimeoutError, Simpkv::UnavailableError, Simpkv::DeniedError
    [:unknown, nil]
  end

  def get(key, *)
    Integer(@store.get(key)[/\A{"value":(\d+),/, 1])
  rescue Simpkv::NotFoundError
    nil
  end

  def put(key, value, *)
    @store.put(key, self.class.document(value))
    nil
  end

  def delete(key, *)
    @store.delete(key)
  end

  def create(key, value, *)
    @store.put(key, self.class.document(value), condition: :absent)
    nil
  end

  def swap(key, value, expect)
    @store.put(key, self.class.document(value), condition: :expect, expect: self.class.document(expect))
    nil
  end

  def remove(key, _value, expect)
    raise Simpkv::ConflictError, 'refused' unless @store.delete(key, expect: self.class.document(expect))
  end
end

# Several clients, each in its own process.
class RegisterClients
  include Processes

  # @param operations [Integer] of each client, at least: clients go on until all faults are injected
  # @param kinds [Array<Symbol>] the calls to make
  # @param deletions [Boolean] whether the result of `delete` is checked. After a lost response, the result only tells
  #   whether the key existed when the call read it
  # @yieldparam number [Integer] of the client, in whose process it is called
  # @yieldreturn [Simpkv::Store]
  def initialize(count, operations, kinds: RegisterClient::CHANCES.keys, deletions: true, &open_store)
    @count = count
    @operations = operations
    @kinds = kinds
    @deletions = deletions
    @open_store = open_store
    @folder = Dir.mktmpdir('registers')
    @began = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    @started = 0
    @running = []
  end

  # Runs the clients to their end.
  #
  # @yield while the clients run, to inject faults
  # @return [Hash{String => Array<Linearizability::Operation>}] the operations by key
  def run
    @ended, @ending = IO.pipe
    @count.times { start }
    yield self if block_given?
    @ending.close
    failed = @running.map { |pid| status_of(pid) }.reject(&:success?)
    raise "#{failed.length} clients failed" if failed.any?

    history
  ensure
    [@ended, @ending].each(&:close)
    FileUtils.rm_rf(@folder)
  end

  # Kills a client and starts another one.
  def kill_one
    pid = @running.shift
    Process.kill(:KILL, pid)
    status_of(pid)
    start
  end

  private

  def start
    number = @started += 1
    @running << child do
      file = File.join(@folder, number.to_s)
      @ending.close
      RegisterClient.new(@open_store.call(number), @kinds, number, file, @began).run(@operations, @ended)
      true
    end
  end

  def history
    Dir.children(@folder).each_with_object(Hash.new { |all, key| all[key] = [] }) do |name, all|
      operation = nil
      File.foreach(File.join(@folder, name), chomp: true) do |line|
        what, *words = line.split
        if what == 'call'
          key, operation = called(Integer(name), *words)
          all[key] << operation
        else
          returned(operation, *words)
        end
      end
    end
  end

  def called(client, key, kind, value, expect, time)
    [key, Linearizability::Operation.new(client: client, kind: kind.to_sym, value: number(value),
                                         expect: number(expect), outcome: :unknown, called: Integer(time))]
  end

  def returned(operation, outcome, answer, time, lost)
    operation.outcome = outcome.to_sym
    operation.answer = operation.kind == :delete ? deletion(answer) : number(answer)
    operation.returned = Integer(time)
    operation.repeated = lost != '0'
  end

  def deletion(answer)
    answer == 'true' if @deletions
  end

  def number(text)
    Integer(text) unless text == '-'
  end
end
