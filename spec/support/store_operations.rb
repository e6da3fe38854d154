# frozen_string_literal: true

require_relative 'sleeper'

# Each operation of a store, on a few keys, for specs that inject faults while it runs: the answer that it returns, and
# the keys that are stored after it. After a failure, each key must have its old or its new document.
module StoreOperations
  PLACE = 'environments/faults'

  def self.document(number)
    %({"value":"#{'x' * (number * 40)}#{number}","metadata":{}})
  end

  # The documents that are stored before each operation, by path below PLACE.
  BEFORE = { 'a' => document(1), 'tree/x' => document(2), 'tree/y' => document(3), 'tree/deep/z' => document(4) }.freeze

  # The errors of an operation on a store that cannot be reached.
  ERRORS = [Simpkv::UnavailableError, Simpkv::TimeoutError].freeze

  # answer:: of a store that works
  # changes:: the documents that the operation stores, by path; nil for a path that it deletes
  # call:: runs the operation on a store
  # each_round_trip:: true if each of its round trips to a directory may take the time of a deadline
  Operation = Struct.new(:name, :answer, :changes, :call, :each_round_trip) do
    # @return [Hash] the documents that are stored after it
    def after
      BEFORE.merge(changes).compact
    end
  end

  other = document(5)
  a = "#{PLACE}/a"
  ALL = [
    Operation.new('get', BEFORE['a'], {}, ->(store) { store.get(a) }),
    Operation.new('exist?', true, {}, ->(store) { store.exist?("#{PLACE}/tree") }),
    Operation.new('stat', ['folder', 2, 1], {},
                  ->(store) { store.stat("#{PLACE}/tree", count: true).values_at('kind', 'keys', 'folders') }, true),
    Operation.new('list',
                  { keys: { 'x' => BEFORE['tree/x'], 'y' => BEFORE['tree/y'] }, folders: ['deep'], errors: {} }, {},
                  ->(store) { store.list("#{PLACE}/tree") }, true),
    Operation.new('put of the same', false, {}, ->(store) { store.put(a, BEFORE['a']) }),
    Operation.new('put of another', true, { 'a' => other }, ->(store) { store.put(a, other) }),
    Operation.new('put of a new key', true, { 'new' => other }, ->(store) { store.put("#{PLACE}/new", other) }),
    Operation.new('put in new folders', true, { 'n/e/w' => other }, ->(store) { store.put("#{PLACE}/n/e/w", other) }),
    Operation.new('put :absent', true, { 'new' => other },
                  ->(store) { store.put("#{PLACE}/new", other, condition: :absent) }),
    Operation.new('put :expect', true, { 'a' => other },
                  ->(store) { store.put(a, other, condition: :expect, expect: BEFORE['a']) }),
    Operation.new('delete', true, { 'a' => nil }, ->(store) { store.delete(a) }),
    Operation.new('delete :expect', true, { 'a' => nil }, ->(store) { store.delete(a, expect: BEFORE['a']) }),
    Operation.new('create_folder', true, {}, ->(store) { store.create_folder("#{PLACE}/n/e") }),
    Operation.new('delete_folder', true, {}, ->(store) { store.delete_folder("#{PLACE}/empty") }),
    Operation.new('deletetree', true, { 'tree/x' => nil, 'tree/y' => nil, 'tree/deep/z' => nil },
                  ->(store) { store.deletetree("#{PLACE}/tree") }, true)
  ].freeze

  # Calls the block for all items at once, each in a thread.
  #
  # @param items [Array]
  # @return [Array] the blocks' results
  def self.in_parallel(items = ALL, &block)
    items.map { |item| Thread.new(item, &block) }.map(&:value)
  end

  # @param store [Simpkv::Store]
  # @return [Hash{String => String}] all documents that are stored, by path below PLACE
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

  # Stores BEFORE, makes an empty folder, and deletes every other key and folder.
  #
  # @param found [Hash] the documents that are stored now
  def self.restore(store, found = contents(store))
    (found.keys - BEFORE.keys).each { |path| store.delete("#{PLACE}/#{path}") }
    store.deletetree("#{PLACE}/n")
    store.create_folder("#{PLACE}/empty")
    BEFORE.each { |path, document| store.put("#{PLACE}/#{path}", document) unless found[path] == document }
  end

  # The outcome of one operation.
  #
  # acknowledged:: true if it returned, false if it raised an error that it may raise
  # late:: seconds from its deadline to its end; from the fault and its deadline, if each round trip has that time
  # violations:: [Array<String>] the expectations that it does not meet
  Outcome = Struct.new(:operation, :acknowledged, :late, :violations) do
    # Adds the violations of the documents that are stored after it.
    #
    # @param found [Hash] these documents
    # @return [Outcome] self
    def check(found)
      after = operation.after
      (BEFORE.keys | after.keys | found.keys).each do |path|
        next if found[path] == after[path] || (!acknowledged && found[path] == BEFORE[path])

        violations << "#{path} has #{acknowledged ? 'not the new' : 'neither the old nor the new'} document"
      end
      self
    end

    # Adds a violation if the store does not work, as it should when the fault is over.
    #
    # @param store [Simpkv::Store]
    def check_next_call(store)
      Sleeper.repeat_if_stalled(Simpkv::TimeoutError) { store.exist?(PLACE) }
    rescue Simpkv::Error => e
      violations << "the next call fails: #{e.message}"
    end
  end

  # Runs one operation during a fault.
  #
  # @param store [Simpkv::Store] the store to run it on
  # @param deadline [Numeric] the seconds that it may take
  # @param errors [Array<Class>] the errors that it may raise
  # @yieldreturn [Float, nil] when the fault began, if it began during the operation: round trips before it may have
  #   taken any part of their time
  # @return [Outcome]
  def self.run(operation, store, deadline, errors = ERRORS)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    acknowledged, violations = attempt(operation, store, errors)
    ended = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    began = [began, yield].compact.max if operation.each_round_trip && block_given?
    Outcome.new(operation, acknowledged, ended - began - deadline, violations)
  end

  def self.attempt(operation, store, errors)
    [true, operation.call.call(store) == operation.answer ? [] : ['it returned another answer']]
  rescue *errors
    [false, []]
  rescue StandardError => e
    [false, ["it raised #{e.class}: #{e.message}"]]
  end
  private_class_method :attempt
end
