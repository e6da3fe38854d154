# frozen_string_literal: true

# Calls a plugin: it may raise anything, answer anything, and lack the methods that are not asked of every plugin, in
# place of which others do. See plugin_template.rb for what each is given and answers.
#
# The adapter evaluates this file, and takes the class from the variable. It has no name, so that every environment has
# its own.
plugin_caller_class = Class.new do # rubocop:disable Lint/UselessAssignment
  # What an exception says. Ruby's own exceptions quote what was wrong with a value: of those, while values are at hand,
  # only their name and where they came from.
  #
  # @param exception [Exception]
  # @return [String]
  def self.reason(exception)
    where = relevant(exception.backtrace)
    Puppet.debug { "simpkv: #{exception.class}\n#{where.join("\n")}" }
    quoting?(exception) ? [exception.class, *where.first].join(' at ') : exception.message
  end

  # @param backtrace [Array<String>, nil]
  # @return [Array<String>] the lines that belong to simpkv and its plugins
  def self.relevant(backtrace)
    (backtrace || []).grep(%r{/(puppet_x|functions)/simpkv/|/lib/simpkv})
  end

  def self.quoting?(exception)
    [ArgumentError, EncodingError, FrozenError, IndexError, JSON::JSONError, NameError, RangeError, RegexpError,
     TypeError, UncaughtThrowError].any? { |type| exception.is_a?(type) } ||
      exception.class.name.to_s.start_with?('NoMatchingPattern')
  end
  private_class_method :quoting?

  # @return [Object] the plugin
  attr_reader :plugin

  # @param plugin [Object]
  # @param name [String] `<type>/<id>`
  def initialize(plugin, name)
    @plugin = plugin
    @prefix = "simpkv #{name} Error:"
  end

  # @return [Object] the result
  # @raise [RuntimeError] when the plugin raises, says that it failed, or answers what is no answer
  def call(operation, *arguments, &block)
    raise "the plugin has no method '#{operation}'" unless has?(operation)

    answer = contained { @plugin.public_send(operation, *arguments, &block) }
    raise "#{operation} did not answer a Hash" unless answer.is_a?(Hash)

    why = answer[:err_msg].to_s
    raise why unless why.empty?
    raise "#{operation} answered no result and no reason" unless answered?(operation, answer[:result])

    answer[:result]
  end

  # @return [Boolean]
  def has?(operation)
    @plugin.respond_to?(operation)
  end

  # @param why [String, Hash{Object => String}] some, each by what it is of
  # @return [String, Hash{Object => String}] the same, which names the backend, once
  def attributed(why)
    return why.transform_values { |each| attributed(each) } if why.is_a?(Hash)

    why.start_with?(@prefix) ? why : "#{@prefix} #{why}"
  end

  # @return [String, false] the document of a key; false when there is none
  def fetch(path)
    return call(:fetch, path) if has?(:fetch)

    call(:exists, path) && call(:get, path)
  end

  # @return [String, false] the same, of the server that is written to, behind which others may lag
  def fetch_latest(path)
    has?(:fetch_latest) ? call(:fetch_latest, path) : fetch(path)
  end

  # Stores a document where there is none. A plugin that cannot tell is asked first: what another process stores in
  # between is lost.
  #
  # @return [Boolean] whether it did
  def put_new?(path, document)
    return call(:put_new, path, document) if has?(:put_new)

    !call(:exists, path) && call(:put, path, document) && true
  end

  # Replaces a document, as {#put_new?} stores one.
  #
  # @return [Boolean] whether it did
  def exchange?(path, old, document)
    return call(:exchange, path, old, document) if has?(:exchange)

    now = fetch(path)
    now && now.b == old.b && call(:put, path, document) && true
  end

  # @param paths [Array<String>]
  # @return [Hash{String => String, false, Hash}] by path, the document, false, or `{ err_msg: }`
  def get_many(paths)
    found = each_of(paths, :get_many, paths) { |path| fetch(path) }
    told(found, 'get_many answered neither a document nor why not') { |each| each == false || each.is_a?(String) }
  end

  # @param documents [Hash{String => String}] by path
  # @return [Hash{String => true, Hash}] by path, true or `{ err_msg: }`
  def put_many(documents)
    found = each_of(documents.keys, :put_many, documents) { |path| call(:put, path, documents[path]) && true }
    told(found, 'put_many answered neither true nor why not') { |each| each == true }
  end

  # @param partial [Boolean] whether what cannot be read is told apart, by a plugin that can: else the list fails
  # @return [Hash] what is in a folder: `{ keys: { name => document }, folders: [name], errors: { name => why } }`
  def list(path, partial, &block)
    { errors: {} }.merge(call(partial && has?(:list_partial) ? :list_partial : :list, path, &block))
  end

  # The same of a folder that may not be there: then it is empty.
  def list_present(path, partial, &block)
    return present(call(:list_present, path, &block)) if has?(:list_present)

    if_present(path) { list(path, partial, &block) }
  end

  # The same of a folder and all below it, by paths, where the plugin {#has?} that.
  #
  # @param values [Boolean] whether documents are wanted: else any text is in their place
  def tree(path, values, &block)
    { errors: {} }.merge(call(:tree, path, values, &block))
  end

  # The same of a folder that may not be there: then it is empty.
  def tree_present(path, values, &block)
    return present(call(:tree_present, path, values, &block)) if has?(:tree_present)

    if_present(path) { tree(path, values, &block) }
  end

  private

  # Runs code of a plugin, whose failures of any kind are a RuntimeError here.
  def contained
    yield
  rescue SystemExit, SignalException, NoMemoryError
    raise
  rescue Exception => e # rubocop:disable Lint/RescueException -- a plugin may raise anything, and breaks nothing else
    raise self.class.reason(e)
  end

  def answered?(operation, result)
    return true if result == false && none?(operation)

    case operation
    when :exists, :put_new, :exchange then result == true
    when :get, :fetch, :fetch_latest then result.is_a?(String)
    when :get_many, :put_many then result.is_a?(Hash)
    when /\A(list|tree)/ then listing?(operation, result)
    else result
    end
  end

  # Whether false is an answer of that operation: that it did nothing, or that nothing is there.
  def none?(operation)
    %i[exists put_new exchange fetch fetch_latest list_present tree_present].include?(operation)
  end

  # Whether it is what is in a folder. A name that is none would be taken for the folder itself, or for another one.
  def listing?(operation, result)
    return false unless result.is_a?(Hash) && result[:keys].is_a?(Hash) && result[:folders].is_a?(Array)

    reasons?(result.fetch(:errors) { {} }) && names?(operation, [*result[:keys].keys, *result[:folders]])
  end

  def reasons?(errors)
    errors.is_a?(Hash) && errors.all? { |name, why| name.is_a?(String) && why.is_a?(String) }
  end

  def names?(operation, names)
    names.all? do |name|
      next false if !name.is_a?(String) || name.empty?

      %i[tree tree_present].include?(operation) ? !"/#{name}/".include?('//') : !name.include?('/')
    end
  end

  # What came of each path: what the plugin's operation for many says, or the block.
  def each_of(paths, operation, argument)
    found = call(operation, argument) if has?(operation)
    paths.to_h do |path|
      [path, found ? found.fetch(path) { failure("#{operation} says nothing of it") } : yield(path)]
    rescue RuntimeError => e
      [path, failure(e.message)]
    end
  end

  # What came of each path, where an answer that is neither right, which the block tells, nor a reason is a failure.
  def told(outcomes, wrong)
    outcomes.transform_values do |outcome|
      why = outcome[:err_msg].to_s if outcome.is_a?(Hash)
      (why && !why.empty?) || yield(outcome) ? outcome : failure(wrong)
    end
  end

  def failure(why)
    { err_msg: why }
  end

  # What is in a folder, where a plugin answers false for none.
  def present(found)
    { keys: {}, folders: [], errors: {} }.merge(found || {})
  end

  # The same, of a plugin whose answer does not tell a missing folder from other failures.
  def if_present(path)
    yield
  rescue RuntimeError => e
    raise e unless missing?(path)

    present(false)
  end

  def missing?(path)
    !call(:exists, path)
  rescue RuntimeError
    false
  end
end
