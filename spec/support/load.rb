# frozen_string_literal: true

# One of many who use a store at once: does this and that by chance, for some time, with keys of its own, of which it
# knows what they must hold, and with keys that all share. Processes run it as well as threads.
class Load
  # operations:: how many
  # anomalies:: what should not have happened
  # counted:: by how much it has increased the shared numbers, by key
  # won:: the keys that all tried to make, and it did
  Result = Struct.new(:operations, :anomalies, :counted, :won)

  COUNTERS = Array.new(4) { |number| "globals/load/count#{number}" }.freeze
  RACES = 'globals/load/races'

  # How often each is done.
  CHANCES = { own_get: 8, own_put: 4, own_delete: 1, own_list: 2, own_exists: 1, own_deletetree: 0.1, count: 3,
              race: 1 }.freeze

  def self.document(value, filler = '')
    %({"value":#{value},"metadata":{"filler":"#{filler}"}})
  end

  def self.number(document)
    document[/\A{"value":(\d+),/, 1].to_i
  end

  # Makes what all share.
  def self.prepare(store)
    COUNTERS.each { |key| store.put(key, document(0)) }
  end

  # @param results [Array<Result>] of all
  # @param twice [Hash{String => Integer}] by key, how often the server replaced a document twice that is there once
  # @return [Array<String>] which updates were lost otherwise
  def self.lost(store, results, twice)
    counts = COUNTERS.reject do |key|
      number(store.get(key)) == results.sum { |result| result.counted[key] } - twice.fetch(key, 0)
    end
    counts.map { |key| "#{key} has another number than was counted" } + misjudged(store, results.flat_map(&:won))
  end

  # @param won [Array<String>] keys that were to be made once, as often as somebody was told that he had
  def self.misjudged(store, won)
    stored = store.list(RACES)[:keys].keys.map { |name| "#{RACES}/#{name}" }
    wrong = won.tally.select { |_, times| times > 1 }.keys | (won - stored) | (stored - won)
    wrong.map { |key| "#{key} was won by several or by none" }
  end
  private_class_method :misjudged

  # @param store [Simpkv::Store]
  # @param number [Integer] its own
  def initialize(store, number)
    @store = store
    @folder = "environments/load/w#{number}"
    @random = Random.new(number)
    @keys = nil # by name; nil: there is no folder
    @races = 0
    @result = Result.new(0, [], Hash.new(0).merge(COUNTERS.to_h { |key| [key, 0] }), [])
  end

  # @param seconds [Numeric]
  # @return [Result]
  def run(seconds)
    deadline = now + seconds
    while now < deadline
      send(pick)
      @result.operations += 1
    end
    @result
  rescue StandardError => e
    @result.tap { @result.anomalies << "#{e.class}: #{e.message}" }
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def pick
    at = @random.rand(CHANCES.values.sum.to_f)
    CHANCES.find { |_, chance| (at -= chance).negative? }.first
  end

  def expect(what, answer, wanted)
    @result.anomalies << "#{what} of #{@folder} answered something else" unless answer == wanted
  end

  def name
    "k#{@random.rand(6)}"
  end

  # What a call answers, nil where there is nothing.
  def found
    yield
  rescue Simpkv::NotFoundError
    nil
  end

  def own_get
    name = self.name
    expect('get', found { @store.get("#{@folder}/#{name}") }, (@keys || {})[name])
  end

  def own_put
    name = self.name
    document = Load.document(@random.rand(1000), 'x' * @random.rand(2000))
    changed = (@keys ||= {})[name] != document
    expect('put', @store.put("#{@folder}/#{name}", document), changed)
    @keys[name] = document
  end

  def own_delete
    name = self.name
    expect('delete', @store.delete("#{@folder}/#{name}"), !(@keys || {}).delete(name).nil?)
  end

  def own_list
    expect('list', found { @store.list(@folder) }, @keys && { keys: @keys, folders: [], errors: {} })
  end

  def own_exists
    name = self.name
    expect('exist?', @store.exist?("#{@folder}/#{name}"), (@keys || {}).key?(name))
  end

  def own_deletetree
    expect('deletetree', @store.deletetree(@folder), !@keys.nil?)
    @keys = nil
  end

  # Increases a number that all share; somebody else may have been faster.
  def count
    key = COUNTERS.sample(random: @random)
    old = @store.get(key)
    @store.put(key, Load.document(Load.number(old) + 1), condition: :expect, expect: old)
    @result.counted[key] += 1
  rescue Simpkv::ConflictError
    # It counts nothing.
  end

  # Tries to make a key that all want to make.
  def race
    key = "#{RACES}/r#{@races += 1}"
    @store.put(key, Load.document(0, @folder), condition: :absent)
    @result.won << key
  rescue Simpkv::ExistsError
    # Somebody else has.
  end
end
