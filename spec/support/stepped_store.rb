# frozen_string_literal: true

require 'fiber'
require 'simpkv/store'

# A store in memory that pauses its caller, a Fiber, before each call about one node.
class SteppedStore
  # @return [Hash{String => String}] the documents by key
  attr_reader :documents

  # @param node [String]
  # @param documents [Hash{String => String}]
  def initialize(node, documents = {})
    @node = node
    @documents = documents
    @paused = false
  end

  # @yield calls of this store, which pause
  def stepped
    @paused = true
    yield
  ensure
    @paused = false
  end

  # Pauses, as before each call.
  #
  # @return [Object] the result of the block
  def step(key = @node)
    Fiber.yield if @paused && key.end_with?(@node)
    yield
  end

  def get(key, required: true, **)
    document = step(key) { @documents[key] }
    document.nil? && required ? raise(Simpkv::NotFoundError, key) : document
  end

  # The reads of a batch are several.
  def get_many(keys)
    keys.to_h { |key| [key, get(key, required: false) || Simpkv::NotFoundError.new(key)] }
  end

  def put(key, document, condition: :any, expect: nil, **)
    error = step(key) do
      stored = @documents[key]
      next Simpkv::ExistsError if condition == :absent && stored
      next Simpkv::ConflictError if condition == :expect && stored != expect

      @documents[key] = document
      nil
    end
    raise error, key if error

    true
  end

  def put_many(documents)
    documents.to_h { |key, document| [key, put(key, document)] }
  end

  def delete(key, expect: nil)
    step(key) do
      stored = @documents[key]
      !stored.nil? && [nil, stored].include?(expect) && !@documents.delete(key).nil?
    end
  end

  # @return [Hash] of the estate, whose folder is empty: see {Simpkv::Store#list}
  def list(folder, **)
    below = @documents.keys.select { |key| key.start_with?("#{folder}/") }.map { |key| key.delete_prefix("#{folder}/") }
    folders, names = below.partition { |name| name.include?('/') }
    { keys: names.to_h { |name| [name, yield(name, @documents["#{folder}/#{name}"])] },
      folders: folders.map { |name| name[%r{\A[^/]+}] }.uniq, errors: {} }
  end
end
