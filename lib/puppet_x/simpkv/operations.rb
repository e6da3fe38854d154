# frozen_string_literal: true

# The operations on keys. Each takes the backend of the call (see configured_backend.rb) and its arguments, and raises
# Simpkv::Error.
operations_class = Class.new do # rubocop:disable Lint/UselessAssignment
  # @param documents [Object] see documents.rb
  def initialize(documents)
    @documents = documents
  end

  # @return [Hash] `{ value:, metadata: }`
  def get(backend, key)
    @documents.decode(backend.store.get(backend.path_of_key(key)))
  end

  # @return [Hash, false] as {#get}; false for a missing key
  def find(backend, key)
    document = backend.store.get(backend.path_of_key(key), required: false)
    document ? @documents.decode(document) : false
  end

  # @return [Boolean] whether there is a key or a folder of that name
  def exists(backend, key)
    backend.store.exist?(backend.path(key))
  end

  # @return [true]
  def put(backend, key, value, metadata)
    document = @documents.encode(value, metadata, backend.flag('rich_data'))
    backend.store.put(backend.path_of_key(key), document)
    true
  end

  # @return [true] also for a missing key
  def delete(backend, key)
    backend.store.delete(backend.path_of_key(key))
    true
  end

  # @return [true] also for a missing folder
  def deletetree(backend, keydir)
    backend.store.deletetree(backend.path(keydir))
    true
  end

  # Stores a key unless it exists. The first of several writers at the same moment wins; all get the stored entry.
  #
  # @return [Hash] `{ value:, metadata: }`
  def create(backend, key, value, metadata)
    path = backend.path_of_key(key)
    document = @documents.encode(value, metadata, backend.flag('rich_data'))
    @documents.decode(repeatedly { put_or_read(backend.store, path, document) })
  end

  # Stores a key if its value is the expected one. A Sensitive is equal to the value that it wraps.
  #
  # @param expected [Object] nil for a missing key
  # @return [Boolean] whether it was stored
  def compare_and_put(backend, key, expected, value, metadata)
    path = backend.path_of_key(key)
    expected = @documents.expectations(expected, backend.flag('rich_data'))
    document = @documents.encode(value, metadata, backend.flag('rich_data'))
    repeatedly do
      stored = backend.store.get(path, latest: true, required: false)
      next [expected.empty? && put_if?(backend.store, path, document, condition: :absent)] unless stored

      value = @documents.bare(@documents.decode(stored)[:value])
      next [false] unless expected.any? { |each| each.eql?(value) }

      # After a conflict, perhaps only the metadata have changed.
      [true] if put_if?(backend.store, path, document, condition: :expect, expect: stored)
    end.first
  end

  # @return [Hash] `{ keys: { key => { value:, metadata: } }, absent: [key], errors: { key => why } }`
  def get_many(backend, keys)
    paths, errors = backend.paths_of_keys(keys)
    outcomes = reached(backend.store.get_many(paths.values.uniq))
    result = { keys: {}, absent: [], errors: errors }
    paths.each { |key, path| sort_in(result, key, outcomes[path]) }
    result.merge(errors: backend.attributed(errors))
  end

  # @param entries [Hash{String => Hash}] by key, `{ 'value' =>, 'metadata' => }`
  # @return [Hash] `{ stored: [key], errors: { key => why } }`
  def put_many(backend, entries)
    paths, errors = backend.paths_of_keys(entries.keys)
    outcomes = reached(backend.store.put_many(@documents.encode_many(entries, paths, backend.flag('rich_data'))))
    failed, stored = paths.partition { |_, path| outcomes[path].is_a?(Simpkv::Error) }
    failed.each { |key, path| errors[key] = outcomes[path].message }
    { stored: stored.map(&:first), errors: backend.attributed(errors) }
  end

  private

  # If the outcome of the write is unknown, the stored document counts, regardless of its writer.
  #
  # @return [String, nil] the stored document; nil if another process has deleted it
  def put_or_read(store, path, document)
    return document if put_if?(store, path, document, condition: :absent)

    store.get(path, latest: true, required: false)
  rescue Simpkv::Error => e
    read_after_failure(store, path) || raise(e)
  end

  def read_after_failure(store, path)
    store.get(path, latest: true, required: false)
  rescue Simpkv::Error
    nil
  end

  # Writes that document, which other writers may write as well.
  #
  # @return [Boolean] whether the condition held
  def put_if?(store, path, document, **condition)
    store.put(path, document, non_unique: true, **condition)
    true
  rescue Simpkv::ConditionError
    false
  end

  # Tries until the block returns something. Other processes may prevent that by changing the key in between.
  def repeatedly
    100.times do
      settled = yield
      return settled if settled
    end
    raise Simpkv::ConflictError, 'others keep changing it'
  end

  # @param outcomes [Hash{String => Object, Simpkv::Error}] by path
  # @raise [Simpkv::TransientError] no key was reached: then the backend failed
  def reached(outcomes)
    failed = outcomes.values.all?(Simpkv::TransientError)
    raise outcomes.values.first if failed && outcomes.any?

    outcomes
  end

  def sort_in(result, key, outcome)
    case outcome
    when Simpkv::NotFoundError then result[:absent] << key
    when Simpkv::Error then result[:errors][key] = outcome.message
    else
      entry = @documents.decode_or_reason(outcome)
      result[entry.is_a?(Hash) ? :keys : :errors][key] = entry
    end
  end
end
