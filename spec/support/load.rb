# frozen_string_literal: true

# One of many concurrent clients of a store. It runs random operations for some time, on its own keys, whose content it
# knows, and on keys that all clients share. Processes run it as well as threads.
class Load
  # operations:: the number of operations
  # anomalies:: descriptions of wrong results
  # counted:: by key, the amount that this client added to the shared number
  # won:: the keys that all clients tried to create, and this one did
  Result = Struct.new(:operations, :anomalies, :counted, :won)

  COUNTERS = Array.new(4) { |number| "globals/load/count#{number}" }.freeze
  RACES = 'globals/load/races'

  # The relative frequency of each operation.
  CHANCES = { own_get: 8, own_put: 4, own_delete: 1, own_list: 2, own_exists: 1, own_deletetree: 0.1, count: 3,
              race: 1 }.freeze

  def self.document(value, filler = '')
    %({"value":#{value},"metadata":{"filler":"#{filler}"}})
  end

  def self.number(document)
    document[/\A{"value":(\d+),/, 1].to_i
  end

  # Creates the keys that all clients share.
  def self.prepare(store)
    COUNTERS.each { |key| store.put(key, document(0)) }
  end

  # @param results [Array<Result>] the results of all clients
  # @param twice [Hash{String => Integer}] by key, how often the server replaced the same document twice
  # @return [Array<String>] the updates that were lost for other reasons
  def self.lost(store, results, twice)
    counts = COUNTERS.reject do |key|
      number(store.get(key)) == results.sum { |result| result.counted[key] } - twice.fetch(key, 0)
    end
    counts.map { |key| "#{key} has another number than was counted" } + misjudged(store, results.flat_map(&:won))
  end

  # @param won [Array<String>] each key as often as a client was told that it had created the key
  def self.misjudged(store, won)
    stored = store.list(RACES)[:keys].keys.map { |name| "#{RACES}/#{name}" }
    wrong = won.tally.select { |_, times| times > 1 }.keys | (won - stored) | (stored - won)
    wrong.map { |key| "#{key} was won by several or by none" }
  end
  private_class_method :misjudged

  # @param store [Simpkv::Store]
  # @param number [Integer] the number of this client
  def initialize(store, number)
    @store = store
    @folder = "environments/load/w#{number}"
    @random = Random.new(number)
    @keys = nil # by name; nil while the folder does not exist
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

  # Returns the result of the block, or nil if the key or folder does not exist.
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

  # Increases a number that all clients share; another client may be faster.
  def count
    key = COUNTERS.sample(random: @random)
    old = @store.get(key)
    @store.put(key, Load.document(Load.number(old) + 1), condition: :expect, expect: old)
    @result.counted[key] += 1
  rescue Simpkv::ConflictError
    # Another client was faster; this attempt does not count.
  end

  # Tries to create a key that all clients try to create.
  def race
    key = "#{RACES}/r#{@races += 1}"
    @store.put(key, Load.document(0, @folder), condition: :absent)
    @result.won << key
  rescue Simpkv::ExistsError
    # Another client has created it.
  end
end
