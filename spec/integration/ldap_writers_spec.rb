# frozen_string_literal: true

require 'digest'
require 'json'
require_relative '../support/ldap_store'
require_relative '../support/eventually'
require_relative '../support/processes'

RSpec.describe 'Processes that write the same keys in a directory', :once, needs: :fork do
  include Eventually
  include Processes

  include_context 'with slapd'

  # Defines the id before the fork, so that all child processes share it.
  before do
    id
    @running = []
  end

  # Child processes of an example that fails would go on for ever.
  after do
    @running.each do |pid|
      Process.kill(:KILL, pid)
      status_of(pid)
    end
  end

  # Forks a child process for each number. Each writes the result of the block to its pipe.
  def children(count)
    Array.new(count) do |number|
      reading, writing = IO.pipe
      pid = child { writing.write(JSON.generate(yield(number))) }
      writing.close
      @running << pid
      [pid, reading]
    end
  end

  # @return [Array] the results of the child processes
  def answers(children)
    texts = children.map { |_, reading| reading.read }
    @running -= children.map(&:first)
    expect_success_of(*children.map(&:first))
    children.map(&:last).each(&:close)
    texts.map { |text| JSON.parse(text) }
  end

  describe 'without conditions' do
    # A document with its writer, its number and a checksum.
    def document(writer, number)
      body = "#{writer}:#{number}:#{'x' * (number * 37 % 3000)}"
      "#{Digest::SHA256.hexdigest(body)}:#{body}"
    end

    # @return [Array(Integer, Integer)] writer and number of an intact document
    def origin(document)
      sum, body = document.split(':', 2)
      raise 'a document is torn' unless sum == Digest::SHA256.hexdigest(body)

      body.split(':').first(2).map { |part| Integer(part) }
    end

    # Puts 1,000 documents or more, one key after the other in turn, until the key `enough` exists.
    #
    # @return [Hash] the last acknowledged number, by key; the number of all (`puts`) and of those that failed
    def write(writer, keys)
      acknowledged = { 'puts' => 0, 'failed' => 0 }
      until acknowledged['puts'] >= 1000 && reached?('enough', acknowledged['puts'])
        number = acknowledged['puts'] += 1
        key = keys[number % keys.length]
        begin
          store.put(key, document(writer, number)) || raise('another document was taken for the same')
          acknowledged[key] = number
        rescue Simpkv::UnavailableError
          acknowledged['failed'] += 1
          sleep 0.05
        end
      end
      acknowledged
    end

    # @return [Boolean] whether the key exists; false at all counts but each fiftieth
    def reached?(name, count)
      (count % 50).zero? && store.exist?("globals/#{name}")
    rescue Simpkv::UnavailableError
      false
    end

    # Reads the keys until the key `done` exists. Creates the key `met` when it has met a hundred changes.
    #
    # @return [Integer] the number of changes that it met
    def read(keys)
      seen = Hash.new(0)
      met = 0
      (1..Float::INFINITY).each do |count|
        met += 1 if changed?(keys.sample, seen)
        store.put('globals/met', '{}') if met >= 100 && (count % 50).zero?
        return met if reached?('done', count)
      rescue Simpkv::UnavailableError
        sleep 0.01
      end
    end

    # Reads a key. No document of a writer may follow a later one of the same writer.
    #
    # @param seen [Hash] the last number, by key and writer
    # @return [Boolean] whether the document is a later one
    def changed?(key, seen)
      writer, number = origin(store.get(key))
      last = seen[[key, writer]]
      raise 'an older document has come back' if number < last

      seen[[key, writer]] = number
      number > last
    end

    def changes
      slapd.log.scan('RESULT tag=103 err=0').length
    end

    # Counts the changes whose response a restart cut off as well: a writer that then found its document stored
    # received no failure.
    def changes_answered_or_not
      changes + slapd.log.scan(' MOD dn=').length - slapd.log.scan('RESULT tag=103').length
    end

    # Runs two writers and one reader, until the block is over and the reader has met a hundred changes.
    #
    # @return [Array<Hash>] the acknowledged writes of each writer
    def let_write(keys)
      keys.each { |key| store.put(key, document(0, 0)) }
      readers = children(1) { read(keys) }
      writers = children(2) { |writer| write(writer, keys) }
      yield if block_given?
      eventually(within: 100) { store.exist?('globals/met') }
      store.put('globals/enough', '{}')
      acknowledged = answers(writers)
      store.put('globals/done', '{}')
      expect(answers(readers).first).to be >= 100
      acknowledged
    end

    # Expects each key to have the last acknowledged document of a writer, or a later one if that writer had failures.
    def expect_last(keys, acknowledged)
      keys.each do |key|
        writer, number = origin(store.get(key))
        last = acknowledged[writer]
        expect(number).to last['failed'].zero? ? eq(last[key]) : be >= last[key]
      end
    end

    {
      'one key' => ['globals/w/k'], 'four keys' => %w[globals/w/a globals/w/b environments/dev/c environments/dev/f/d]
    }.each do |what, keys|
      it "apply each put completely, and keep the last one, in #{what}" do
        before = changes
        acknowledged = let_write(keys)
        expect(acknowledged.map { |each| each['failed'] }).to eq([0, 0])
        expect(changes - before).to eq(acknowledged.sum { |each| each['puts'] })
        expect_last(keys, acknowledged)
      end

      it "lose no acknowledged put while the server restarts twice, in #{what}" do
        before = changes_answered_or_not
        acknowledged = let_write(keys) do
          [200, 1000].each do |count|
            eventually { changes_answered_or_not - before > count }
            slapd.restart
          end
        end
        expect(acknowledged).to all(satisfy { |each| each['failed'] < each['puts'] / 5 })
        expect(changes_answered_or_not - before).to be >= acknowledged.sum { |each| each['puts'] - each['failed'] }
        expect_last(keys, acknowledged)
      end
    end
  end

  # Forks two child processes that put the same key at the same time, once for each byte that they receive.
  def racing
    ropes = Array.new(4) { IO.pipe }
    pids = Array.new(2) do |number|
      child { race(number, ropes[number].first, ropes[number + 2].last) }
    end
    yield ropes.first(2).map(&:last), ropes.last(2).map(&:first)
    ropes.flatten.each(&:close)
    expect_success_of(*pids)
  end

  def race(number, told, told_back)
    500.times do |round|
      told.read(1)
      store.put("globals/race/#{round}/k", "{\"value\":#{number}}", condition: :absent)
      told_back.write('w')
    rescue Simpkv::ExistsError
      told_back.write('l')
    end
  end

  it 'race for 500 keys on condition :absent, and exactly one process wins each' do
    winners = []
    racing do |tell, heard|
      500.times do |round|
        # On one processor, the process that is told first may always win.
        tell.rotate(round).each { |rope| rope.write('.') }
        winners << heard.map { |rope| rope.read(1) }
      end
    end
    expect(winners).to all(contain_exactly('w', 'l'))
    values = (0...500).map { |round| JSON.parse(store.get("globals/race/#{round}/k"))['value'] }
    expect(values).to eq(winners.map { |each| each.index('w') })
    expect(values.uniq).to contain_exactly(0, 1)
  end

  # Increments the number at least so often, and until the two processes have conflicted.
  #
  # @return [Integer] the number of increments
  def count_up(least)
    count = 0
    until count >= least && store.exist?('globals/met')
      old = store.get('globals/n')
      begin
        store.put('globals/n', "{\"value\":#{JSON.parse(old)['value'] + 1}}", condition: :expect, expect: old)
        count += 1
      rescue Simpkv::ConflictError
        store.put('globals/met', '{"value":true}')
      end
    end
    count
  end

  it 'increment one number by :expect, at least 200 times each, and lose no increment' do
    store.put('globals/n', '{"value":0}')
    counts = answers(children(2) { count_up(200) })
    expect(counts).to all(be >= 200)
    expect(store.get('globals/n')).to eq("{\"value\":#{counts.sum}}")
  end
end
