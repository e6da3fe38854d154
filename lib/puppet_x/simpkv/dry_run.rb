# frozen_string_literal: true

# The writes of operations.rb, without the write: each checks its arguments, and returns the result of a write. None
# calls the store.
#
# The adapter evaluates this file, and takes the class from the variable. It has no name, so that every environment has
# its own.
dry_run_class = Class.new do # rubocop:disable Lint/UselessAssignment
  def initialize(documents, paths)
    @documents = documents
    @paths = paths
  end

  def put(_backend, key, value, metadata, options)
    @paths.of_key(key, options)
    @documents.of(value, metadata, options) && true
  end

  def create(_backend, key, value, metadata, options)
    @paths.of_key(key, options)
    @documents.decode(@documents.of(value, metadata, options))
  end

  def compare_and_put(backend, key, expected, value, metadata, options)
    @documents.expectations(expected, options)
    put(backend, key, value, metadata, options) && false
  end

  def put_many(backend, entries, options)
    paths, errors = @paths.of_keys(entries.keys, options)
    @documents.of_many(entries, paths, options)
    { stored: [], errors: backend.attributed(errors) }
  end

  def delete(_backend, key, options)
    @paths.of_key(key, options) && true
  end

  def deletetree(_backend, keydir, options)
    @paths.of(keydir, options) && true
  end
end
