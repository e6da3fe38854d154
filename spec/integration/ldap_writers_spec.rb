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

  # Before there are children, so that all have the same.
  before { id }

  # A child for each number, which tells what the block answered.
  def children(count)
    Array.new(count) do |number|
      reading, writing = IO.pipe
      pid = child { writing.write(JSON.generate(yield(number))) }
      writing.close
      [pid, reading]
    end
  end

  # @return [Array] what they told
  def answers(children)
    texts = children.map { |_, reading| reading.read }
    expect_success_of(*children.map(&:first))
    children.map(&:last).each(&:close)
    texts.map { |text| JSON.parse(text) }
  end

  describe 'without conditions' do
    # A document that tells whose it is, and whether it is whole.
    def document(writer, number)
      body = "#{writer}:#{number}:#{'x' * (number * 37 % 3000)}"
      "#{Digest::SHA256.hexdigest(body)}:#{body}"
    end

    # @return [Array(Integer, Integer)] writer and number of a whole document
    def origin(document)
      sum, body = document.split(':', 2)
      raise 'a document is torn' unless sum == Digest::SHA256.hexdigest(body)

      body.split(':').first(2).map { |part| Integer(part) }
    end

    # Puts 1,000 documents, in turns into each key.
    #
    # @return [Hash] the last acknowledged number, by key
    def write(writer, keys)
      (1..1000).each_with_object('failed' => 0) do |number, acknowledged|
        key = keys[number % keys.length]
        store.put(key, document(writer, number)) || raise('another document was taken for the same')
        acknowledged[key] = number
      rescue Simpkv::UnavailableError
        acknowledged['failed'] += 1
      end
    end

    # Reads the keys until there is one named done. Of each writer, no document may follow a later one.
    #
    # @return [Integer] how many documents it saw
    def read(keys)
      seen = Hash.new(0)
      (1..Float::INFINITY).each do |count|
        key = keys.sample
        writer, number = origin(store.get(key))
        raise 'an older document has come back' if number < seen[[key, writer]]

        seen[[key, writer]] = number
        return count if (count % 50).zero? && store.exist?('globals/done')
      rescue Simpkv::UnavailableError
        sleep 0.01
      end
    end

    def changes
      slapd.log.scan('RESULT tag=103 err=0').length
    end

    # With those that a restart cut off before the answer: where the writer then found its document, it was told of
    # no failure.
    def changes_answered_or_not
      changes + slapd.log.scan(' MOD dn=').length - slapd.log.scan('RESULT tag=103').length
    end

    # Lets two write and one read. @return [Array<Hash>] what each writer got acknowledged
    def let_write(keys)
      keys.each { |key| store.put(key, document(0, 0)) }
      readers = children(1) { read(keys) }
      writers = children(2) { |writer| write(writer, keys) }
      yield if block_given?
      acknowledged = answers(writers)
      store.put('globals/done', '{}')
      expect(answers(readers).first).to be > 100
      acknowledged
    end

    # What is stored in the end is what one of them put last, or, where it was told of a failure, after that.
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
      it "see each put take effect, whole, and the last one stay, in #{what}" do
        before = changes
        acknowledged = let_write(keys)
        expect(acknowledged.map { |each| each['failed'] }).to eq([0, 0])
        expect(changes - before).to eq(2000)
        expect_last(keys, acknowledged)
      end

      it "lose none that was acknowledged while the server restarts twice, in #{what}" do
        before = changes_answered_or_not
        acknowledged = let_write(keys) do
          [200, 1000].each do |count|
            eventually { changes_answered_or_not - before > count }
            slapd.restart
          end
        end
        expect(acknowledged.map { |each| each['failed'] }).to all(be < 100)
        expect(changes_answered_or_not - before).to be >= 2000 - acknowledged.sum { |each| each['failed'] }
        expect_last(keys, acknowledged)
      end
    end
  end

  # Two children that put a key each time they are told to, at the same time.
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

  it 'race for 500 keys on condition :absent, and exactly one wins each' do
    winners = []
    racing do |tell, heard|
      500.times do
        tell.each { |rope| rope.write('.') }
        winners << heard.map { |rope| rope.read(1) }
      end
    end
    expect(winners).to all(contain_exactly('w', 'l'))
    values = (0...500).map { |round| JSON.parse(store.get("globals/race/#{round}/k"))['value'] }
    expect(values).to eq(winners.map { |each| each.index('w') })
    expect(values.uniq).to contain_exactly(0, 1)
  end

  # Counts up, at least so many times, and until one of the two has met the other.
  #
  # @return [Integer] how many times
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

  it 'count one number up, 200 times each and more, by :expect, and lose no count' do
    store.put('globals/n', '{"value":0}')
    counts = answers(children(2) { count_up(200) })
    expect(counts).to all(be >= 200)
    expect(store.get('globals/n')).to eq("{\"value\":#{counts.sum}}")
  end
end
