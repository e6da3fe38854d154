# frozen_string_literal: true

# Each operation of a store, on a few keys, for those who break something while it runs: what it answers, and what is
# stored then. Where it fails, each key must be as it was before or as it was to be.
module Deeds
  PLACE = 'environments/faults'

  def self.document(number)
    %({"value":"#{'x' * (number * 40)}#{number}","metadata":{}})
  end

  # What is stored before each, by path below PLACE.
  BEFORE = { 'a' => document(1), 'tree/x' => document(2), 'tree/y' => document(3), 'tree/deep/z' => document(4) }.freeze

  # What may become of a store that cannot be reached.
  ERRORS = [Simpkv::UnavailableError, Simpkv::TimeoutError].freeze

  # call:: is given a store
  # answer:: of the store
  # changes:: what is stored then, by path; nil where it is deleted
  Deed = Struct.new(:name, :answer, :changes, :call) do
    # @return [Hash] what is stored when it is done
    def after
      BEFORE.merge(changes).compact
    end
  end

  other = document(5)
  a = "#{PLACE}/a"
  ALL = [
    Deed.new('get', BEFORE['a'], {}, ->(store) { store.get(a) }),
    Deed.new('exist?', true, {}, ->(store) { store.exist?("#{PLACE}/tree") }),
    Deed.new('list', { keys: { 'x' => BEFORE['tree/x'], 'y' => BEFORE['tree/y'] }, folders: ['deep'], errors: {} }, {},
             ->(store) { store.list("#{PLACE}/tree") }),
    Deed.new('put of the same', false, {}, ->(store) { store.put(a, BEFORE['a']) }),
    Deed.new('put of another', true, { 'a' => other }, ->(store) { store.put(a, other) }),
    Deed.new('put of a new key', true, { 'new' => other }, ->(store) { store.put("#{PLACE}/new", other) }),
    Deed.new('put in new folders', true, { 'n/e/w' => other }, ->(store) { store.put("#{PLACE}/n/e/w", other) }),
    Deed.new('put :absent', true, { 'new' => other },
             ->(store) { store.put("#{PLACE}/new", other, condition: :absent) }),
    Deed.new('put :expect', true, { 'a' => other },
             ->(store) { store.put(a, other, condition: :expect, expect: BEFORE['a']) }),
    Deed.new('delete', true, { 'a' => nil }, ->(store) { store.delete(a) }),
    Deed.new('deletetree', true, { 'tree/x' => nil, 'tree/y' => nil, 'tree/deep/z' => nil },
             ->(store) { store.deletetree("#{PLACE}/tree") })
  ].freeze

  # @param items [Array]
  # @return [Array] what the block makes of each, all at once: most of the time is spent waiting
  def self.at_once(items = ALL, &block)
    items.map { |item| Thread.new(item, &block) }.map(&:value)
  end

  # @param store [Simpkv::Store]
  # @return [Hash{String => String}] all that is stored, by path below PLACE
  def self.contents(store, folder = PLACE)
    list = store.list(folder)
    raise "#{list[:errors].keys.join(', ')} cannot be read" if list[:errors].any?

    list[:folders].inject(list[:keys].transform_keys { |name| below(folder, name) }) do |found, name|
      found.merge(contents(store, "#{folder}/#{name}"))
    end
  rescue Simpkv::NotFoundError
    {}
  end

  def self.below(folder, name)
    "#{folder}/#{name}".delete_prefix("#{PLACE}/")
  end
  private_class_method :below

  # Has BEFORE stored, and nothing else, no folder either.
  #
  # @param found [Hash] what is stored now
  def self.restore(store, found = contents(store))
    (found.keys - BEFORE.keys).each { |path| store.delete("#{PLACE}/#{path}") }
    store.deletetree("#{PLACE}/n")
    BEFORE.each { |path, document| store.put("#{PLACE}/#{path}", document) unless found[path] == document }
  end

  # @return [Boolean] whether the store serves, as it should when nothing is broken any more
  def self.served?(store)
    store.exist?(PLACE)
  rescue Simpkv::Error
    false
  end

  # What came of one of them.
  #
  # acknowledged:: whether it was
  # late:: seconds from its deadline to its end
  # odd:: [Array<String>] what should not be so
  Outcome = Struct.new(:deed, :acknowledged, :late, :odd) do
    # Adds what is odd about what is stored then.
    #
    # @param found [Hash] that
    # @return [Outcome] itself
    def judge(found)
      after = deed.after
      (BEFORE.keys | after.keys | found.keys).each do |path|
        next if found[path] == after[path] || (!acknowledged && found[path] == BEFORE[path])

        odd << "#{path} is #{acknowledged ? 'not' : 'neither as it was nor'} as it was to be"
      end
      self
    end
  end

  # Does one of them, while something breaks.
  #
  # @param store [Simpkv::Store] what it is done to
  # @param deadline [Numeric] seconds that it has
  # @param errors [Array<Class>] what it may raise
  # @return [Outcome]
  def self.run(deed, store, deadline, errors = ERRORS)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    acknowledged, odd = attempt(deed, store, errors)
    late = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began - deadline
    Outcome.new(deed, acknowledged, late, odd)
  end

  def self.attempt(deed, store, errors)
    [true, deed.call.call(store) == deed.answer ? [] : ['it answered something else']]
  rescue *errors
    [false, []]
  rescue StandardError => e
    [false, ["it raised #{e.class}: #{e.message}"]]
  end
  private_class_method :attempt
end
