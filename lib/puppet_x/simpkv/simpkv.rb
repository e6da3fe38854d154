# frozen_string_literal: true

require 'simpkv'

# The adapter: what stands between the functions and the plugins of one catalog.
#
# It reads the plugins, makes and configures their instances, puts keys below the prefix of their environment, and turns
# values into documents and back. The class has no name, so that every environment has its own; see loader.rb.
#
# Its operations answer `{ result:, err_msg: }`. They raise for nothing but Simpkv::ConfigError.
simp_simpkv_adapter_class = Class.new do # rubocop:disable Lint/UselessAssignment
  # @return [Hash{String => Hash}] by type: `{ class:, source: }`, the class of the plugin and the file it came from
  attr_reader :plugin_info

  # @return [Hash{String => Object}] the configured plugins of this catalog, by `<type>/<id>`
  attr_reader :plugin_instances

  # @return [Hash{Hash => Hash}] merged options, frozen, by the options of the call that they were made from
  attr_reader :merged_options

  # @return [Hash, nil] `simpkv::options` of Hiera, once it was looked up
  attr_accessor :site_options

  def initialize
    @rich_data_class = Simpkv::EnvironmentCode.kept(:@simpkv_rich_data_class) { read_beside('rich_data') }
    @plugin_info, warnings = Simpkv::EnvironmentCode.kept(:@simpkv_plugins) { read_plugins }
    warnings.each { |warning| Puppet.warning(warning) }
    @plugin_instances = {}
    @configured = {}
    @plugins_of = {}.compare_by_identity
    @merged_options = {}
    @hiera_levels = {}
    @warned = []
  end

  # @return [Array<String>] the types for which there is a plugin, sorted
  def backends
    plugin_info.keys.sort
  end

  # The plugin for the chosen backend, made and configured at its first use. One whose configuration failed is made anew
  # at the next.
  #
  # @param options [Hash] merged options
  # @return [Object] the plugin
  # @raise [RuntimeError] when it cannot be made or configured
  # @raise [Simpkv::ConfigError] when it is in use already with another location or identity
  def plugin_instance(options)
    @plugins_of[options] || find_plugin(options)
  end

  # Puts a key below the folder of its environment, or of the global keys, or takes it out of there.
  #
  # @param key [String] `a/b`, or for `:remove_prefix` `environments/production/a/b`
  # @param options [Hash] `global` and `environment` count; the environment `''` is the folder of all environments
  # @param operation [Symbol] `:add_prefix` or `:remove_prefix`
  # @return [String] the key, without superfluous slashes
  # @raise [ArgumentError, Simpkv::Error] for a name that could lead elsewhere, or is too long
  def normalize_key(key, options, operation = :add_prefix)
    prefix = Simpkv::Config.prefix(options)
    case operation
    when :add_prefix then Simpkv::Native.key_join(prefix, key)
    when :remove_prefix then key.delete_prefix("#{prefix}/")
    else raise ArgumentError, "normalize_key: unknown operation '#{operation}'"
    end
  end

  # @param value [Object] plain data, or a Binary; inside, and in metadata, there may be Sensitive and Binary
  # @param metadata [Hash]
  # @param rich_data [Boolean] whether Timestamp, Regexp, SemVer and the like are kept; else they become strings
  # @return [String] the document, JSON
  # @raise [Simpkv::UnencodableError] for what a document cannot hold; names the place, not the value
  def serialize(value, metadata, rich_data = false) # rubocop:disable Style/OptionalBooleanParameter -- positional, as the others
    plain_document(value, metadata, rich_data) || @rich_data_class.new(rich_data).encode(value, metadata)
  end

  # @param json [String] a document
  # @return [Hash] `{ value:, metadata: }`
  # @raise [Simpkv::MalformedError] when it is none
  def deserialize(json)
    found = Simpkv::Codec.decode(json, foreign: 'pcore')
    found.key?(:encoding) ? @rich_data_class.new.decode(found) : found
  end

  # @param backtrace [Array<String>, nil]
  # @return [Array<String>] the lines that belong to simpkv and its plugins
  def filter_backtrace(backtrace)
    (backtrace || []).grep(%r{/(puppet_x|functions)/simpkv/|/lib/simpkv})
  end

  # @return [Hash] `result:` true, also when there was no such key
  def delete(key, options)
    reply(options, false) { |plugin| ask(plugin, :delete, key_path(key, options)) && true }
  end

  # @return [Hash] `result:` true, also when there was no such folder
  def deletetree(keydir, options)
    reply(options, false) { |plugin| ask(plugin, :deletetree, normalize_key(keydir, options)) && true }
  end

  # @return [Hash] `result:` whether there is a key or a folder of that name
  def exists(key, options)
    reply(options, nil) { |plugin| ask(plugin, :exists, normalize_key(key, options)) }
  end

  # @return [Hash] `result:` `{ value:, metadata: }`
  def get(key, options)
    reply(options, nil) { |plugin| deserialize(ask(plugin, :get, key_path(key, options))) }
  end

  # @return [Hash] `result:` `{ keys: { name => { value:, metadata: } }, folders: [name] }`, both sorted
  def list(keydir, options)
    reply(options, nil) { |plugin| listed(plugin, keydir, options) }
  end

  # @return [Hash] `result:` true
  def put(key, value, metadata, options)
    reply(options, false) do |plugin|
      document = serialize(value, metadata, Simpkv::Config.flag(options, 'rich_data'))
      ask(plugin, :put, key_path(key, options), document) && true
    end
  end

  # @return [Hash] `result:` `{ value:, metadata: }`, false when there is no such key
  def find(key, options)
    reply(options, nil) do |plugin|
      document = fetch(plugin, key_path(key, options))
      document && deserialize(document)
    end
  end

  # Stores a key unless it is there. The first of several writers at the same moment wins, and all learn what it stored.
  #
  # @return [Hash] `result:` `{ value:, metadata: }`, what is stored then
  def create(key, value, metadata, options)
    reply(options, nil) do |plugin|
      path = key_path(key, options)
      document = serialize(value, metadata, Simpkv::Config.flag(options, 'rich_data'))
      deserialize(put_new?(plugin, path, document) ? document : ask(plugin, :get, path))
    end
  end

  # Stores a key if its value is the expected one; nil for none.
  #
  # @return [Hash] `result:` whether it did
  def compare_and_put(key, expected, value, metadata, options)
    reply(options, nil) do |plugin|
      path = key_path(key, options)
      document = serialize(value, metadata, Simpkv::Config.flag(options, 'rich_data'))
      stored = fetch(plugin, path)
      next expected.nil? && put_new?(plugin, path, document) unless stored

      !expected.nil? && holds?(stored, expected, options) && exchange?(plugin, path, stored, document)
    end
  end

  # @return [Hash] `result:` `{ keys: { key => { value:, metadata: } }, absent: [key], errors: { key => why } }`
  def get_many(keys, options)
    reply(options, nil) do |plugin|
      found = documents(plugin, keys.to_h { |key| [key, key_path(key, options)] })
      absent, present = found.partition { |_, outcome| outcome == false }
      decoded = present.to_h { |key, outcome| [key, decoded(outcome)] }
      errors, entries = decoded.partition { |_, entry| entry.is_a?(String) }
      { keys: entries.to_h, absent: absent.map(&:first), errors: errors.to_h }
    end
  end

  # @param entries [Hash{String => Hash}] by key, `{ 'value' =>, 'metadata' => }`
  # @return [Hash] `result:` `{ stored: [key], errors: { key => why } }`
  def put_many(entries, options)
    reply(options, nil) do |plugin|
      rich_data = Simpkv::Config.flag(options, 'rich_data')
      documents = entries.to_h do |key, entry|
        [key, [key_path(key, options), serialize(entry['value'], entry['metadata'] || {}, rich_data)]]
      end
      outcomes = put_documents(plugin, documents)
      stored, failed = outcomes.partition { |_, outcome| outcome == true }
      { stored: stored.map(&:first), errors: failed.to_h }
    end
  end

  # @return [Hash] `result:` as that of {#list}, of the folder and all that are below it: names are paths in it. Where
  #   only names are wanted, each key has `{}`
  def tree(keydir, options)
    reply(options, nil) do |plugin|
      found = { keys: {}, folders: [] }
      collect(plugin, keydir, '', options, found)
      { keys: found[:keys].sort.to_h, folders: found[:folders].sort }
    end
  end

  # What is in a folder, undecoded, for who may need little of it. A folder that is not there is empty.
  #
  # @param room [Integer] how many bytes of documents to keep: those for which there is no room are nil, and can be had
  #   of {#find}
  # @return [Hash] `result:` `{ documents: { name => String, nil }, errors: { name => why }, folders: [name] }`
  def snapshot(keydir, options, room)
    reply(options, nil) do |plugin|
      documents = {}
      keep = lambda do |name, document|
        documents[name] = (document if (room -= document.bytesize) >= 0)
        nil
      end
      found = present_in(plugin, normalize_key(keydir, options), &keep)
      found[:keys].each { |name, document| keep.call(name, document) unless documents.key?(name) }
      { documents: documents, errors: found[:errors] || {}, folders: found[:folders] }
    end
  end

  # @param options [Hash] those of a level of hiera.yaml
  # @param compiling [String] the environment that the catalog is compiled in
  # @return [Object] the level, see hiera_level.rb: one for the same options, so that what it has found stays when Hiera
  #   forgets its own, which it does whenever a variable in hiera.yaml has changed
  # @raise [Simpkv::ConfigError] when something is wrong with the options
  def hiera_level(options, compiling)
    @hiera_levels.fetch(options) do
      level_class = Simpkv::EnvironmentCode.kept(:@simpkv_hiera_level_class) { read_beside('hiera_level') }
      @hiera_levels[Simpkv::Config.copy(options)] = level_class.new(self, options, compiling)
    end
  end

  # Whether Bolt made up the environment: `bolt_catalog` is that of its catalogs, `bolt` that of its plans. A folder of
  # the latter name is somebody's own.
  #
  # @param environment [String]
  # @return [Boolean]
  def made_up?(environment)
    environment == 'bolt_catalog' ||
      (environment == 'bolt' && Puppet.lookup(:environments) { nil }.instance_of?(Puppet::Environments::Static))
  end

  # Warns, of each thing once.
  #
  # @param messages [Array<String>]
  # @return [void]
  def warn_of(messages)
    (messages - @warned).each { |message| Puppet.warning(message) }
    @warned |= messages
  end

  private

  # Most values are plain data. Of those that are not, a Symbol and some hash keys could be written as strings.
  def plain_document(value, metadata, rich_data)
    Simpkv::Codec.encode(value, metadata) unless rich_data
  rescue Simpkv::UnencodableError
    nil
  end

  def reply(options, failed)
    plugin = plugin_instance(options)
    { result: yield(plugin), err_msg: nil }
  rescue Simpkv::ConfigError
    raise
  rescue StandardError, SystemStackError => e
    { result: failed, err_msg: plugin ? attributed(plugin, reason(e)) : reason(e) }
  end

  # Says which backend it was, once.
  def attributed(plugin, why)
    prefix = "simpkv #{plugin_instances.key(plugin)} Error:"
    why.start_with?(prefix) ? why : "#{prefix} #{why}"
  end

  # The document of a key; false when there is none.
  def fetch(plugin, path)
    return ask(plugin, :fetch, path) if plugin.respond_to?(:fetch)

    ask(plugin, :exists, path) && ask(plugin, :get, path)
  end

  # Whether a document was stored where there was none. A plugin that cannot tell is asked first: what another process
  # stores in between is lost.
  def put_new?(plugin, path, document)
    return ask(plugin, :put_new, path, document) if plugin.respond_to?(:put_new)
    return false if ask(plugin, :exists, path)

    ask(plugin, :put, path, document) && true
  end

  def exchange?(plugin, path, old, document)
    return ask(plugin, :exchange, path, old, document) if plugin.respond_to?(:exchange)
    return false unless fetch(plugin, path) == old

    ask(plugin, :put, path, document) && true
  end

  # Whether a document has that value, whatever its metadata.
  def holds?(document, value, options)
    rich_data = Simpkv::Config.flag(options, 'rich_data')
    stored = serialize(deserialize(document)[:value], {}, rich_data)
    Simpkv::Native.document_same?(stored, serialize(value, {}, rich_data))
  end

  # @param paths [Hash{String => String}] by key
  # @return [Hash{String => String, false, Hash}] by key, the document, false, or `{ err_msg: }`
  def documents(plugin, paths)
    found = ask(plugin, :get_many, paths.values.uniq) if plugin.respond_to?(:get_many)
    paths.transform_values { |path| found ? found.fetch(path) : outcome { fetch(plugin, path) } }
  end

  # @param documents [Hash{String => Array(String, String)}] by key, path and document
  # @return [Hash{String => true, String}] by key, true or why not
  def put_documents(plugin, documents)
    outcomes = ask(plugin, :put_many, documents.values.to_h) if plugin.respond_to?(:put_many)
    documents.transform_values do |path, document|
      outcome = outcomes ? outcomes.fetch(path) : outcome { ask(plugin, :put, path, document) && true }
      next true if outcome == true

      attributed(plugin, outcome.is_a?(Hash) ? outcome[:err_msg].to_s : 'put_many answered neither true nor why not')
    end
  end

  def outcome
    yield
  rescue RuntimeError => e
    { err_msg: e.message }
  end

  # What a plugin lists; nothing where there is no such folder.
  def present_in(plugin, path, &block)
    ask(plugin, plugin.respond_to?(:list_partial) ? :list_partial : :list, path, &block)
  rescue RuntimeError => e
    raise e unless missing?(plugin, path, e.message)

    { keys: {}, folders: [] }
  end

  # Whether a list failed because there is no such folder, which not every plugin says in these words.
  def missing?(plugin, path, why)
    why.match?(/Key folder '.*' not found/) || !ask(plugin, :exists, path)
  rescue RuntimeError
    false
  end

  # The entry, or what keeps it from being one.
  def decoded(outcome)
    return outcome[:err_msg].to_s if outcome.is_a?(Hash)
    return 'get_many answered neither a document nor why not' unless outcome.is_a?(String)

    found = entry(outcome)
    found.is_a?(Hash) ? found : found.message
  end

  # Calls a plugin.
  #
  # @return [Object] the result
  # @raise [RuntimeError] when the plugin raises, says that it failed, or answers what is no answer
  def ask(plugin, operation, *arguments, &block)
    raise "the plugin has no method '#{operation}'" unless plugin.respond_to?(operation)

    answer = contained { plugin.public_send(operation, *arguments, &block) }
    raise "#{operation} did not answer a Hash" unless answer.is_a?(Hash)

    why = answer[:err_msg].to_s
    raise why unless why.empty?
    raise "#{operation} answered no result and no reason" unless answered?(operation, answer)

    answer[:result]
  end

  # Runs code of a plugin, whose failures of any kind are a RuntimeError here.
  def contained
    yield
  rescue SignalException, NoMemoryError
    raise
  rescue Exception => e # rubocop:disable Lint/RescueException -- a plugin may raise anything, and breaks nothing else
    raise reason(e)
  end

  def answered?(operation, answer)
    result = answer[:result]
    case operation
    when :exists, :put_new, :exchange then [true, false].include?(result)
    when :get then result.is_a?(String)
    when :fetch then !result.nil?
    when :list, :list_partial then listing?(result)
    else result
    end
  end

  def listing?(result)
    result.is_a?(Hash) && result[:keys].is_a?(Hash) && result[:folders].is_a?(Array) &&
      [*result[:keys].keys, *result[:folders]].all?(String)
  end

  # What an exception says. Ruby's own exceptions quote what was wrong with a value: of those, while values are at hand,
  # only their name and where they came from.
  def reason(exception)
    Puppet.debug { "simpkv: #{exception.class}\n#{filter_backtrace(exception.backtrace).join("\n")}" }
    return exception.message unless quoting?(exception)

    where = filter_backtrace(exception.backtrace).first
    "#{exception.class}#{" at #{where}" if where}"
  end

  def quoting?(exception)
    [ArgumentError, EncodingError, FrozenError, IndexError, JSON::JSONError, NameError, RangeError, RegexpError,
     TypeError, UncaughtThrowError].any? { |type| exception.is_a?(type) } ||
      exception.class.name.to_s.start_with?('NoMatchingPattern')
  end

  # A path where a key can be: not one that is the root of an environment or of the global keys.
  def key_path(key, options)
    path = normalize_key(key, options)
    root = path.count('/') < 2 && path.match?(%r{\A(globals|environments(/[^/]+)?)\z})
    raise "Key specifies a folder: '#{key}'" if root

    path
  end

  # @return [Hash] `{ keys: { name => { value:, metadata: } }, folders: [name] }`, both sorted
  def listed(plugin, keydir, options)
    skip = Simpkv::Config.flag(options, 'skip_undecodable')
    decoded = {}
    found = listing(plugin, keydir, options, skip) do |name, json|
      decoded[name] = entry(json)
      nil
    end
    keys = found[:keys].keys.sort.each_with_object({}) do |name, sorted|
      entry = decoded.fetch(name) { entry(found[:keys][name]) }
      entry.is_a?(Hash) ? sorted[name] = entry : refuse(keydir, name, entry.message, skip)
    end
    { keys: keys, folders: found[:folders].sort }
  end

  # The names in a folder; no document is decoded.
  def named(plugin, keydir, options)
    found = listing(plugin, keydir, options, false) { nil }
    { keys: found[:keys].transform_values { {} }, folders: found[:folders] }
  end

  # Adds what is in a folder and below it, by paths that begin with `place`.
  def collect(plugin, keydir, place, options, found)
    here = Simpkv::Config.flag(options, 'values') ? listed(plugin, keydir, options) : named(plugin, keydir, options)
    here[:keys].each { |name, entry| found[:keys]["#{place}#{name}"] = entry }
    here[:folders].each do |name|
      found[:folders] << "#{place}#{name}"
      collect(plugin, below(keydir, name), "#{place}#{name}/", options, found)
    end
  end

  # What a plugin finds in a folder. It may yield names and documents before that, while it waits for more.
  def listing(plugin, keydir, options, skip, &block)
    path = normalize_key(keydir, options)
    return ask(plugin, :list, path, &block) unless skip && plugin.respond_to?(:list_partial)

    found = ask(plugin, :list_partial, path, &block)
    (found[:errors] || {}).sort_by(&:first).each { |name, why| skipped(keydir, name, why) }
    found
  end

  # The decoded entry, or what keeps it from that.
  def entry(json)
    deserialize(json)
  rescue Simpkv::MalformedError => e
    e
  end

  def refuse(keydir, name, why, skip)
    raise "Key '#{below(keydir, name)}': #{why}" unless skip

    skipped(keydir, name, why)
  end

  def skipped(keydir, name, why)
    Puppet.warning("simpkv::list leaves out key '#{below(keydir, name)}': #{why}")
  end

  def below(keydir, name)
    Simpkv::Native.key_join(keydir, name)
  end

  def chosen_backend(options)
    backends = options['backends']
    backend = backends[options['backend']] if backends.is_a?(Hash)
    return backend if backend.is_a?(Hash) && backend['type'].is_a?(String) && backend['id'].is_a?(String)

    raise "Malformed backend config: 'type' and 'id' of backend '#{options['backend']}' must be Strings"
  end

  # What {#plugin_instance} answers. For options that cannot change it need not be found again.
  def find_plugin(options)
    backend = chosen_backend(options)
    name = "#{backend['type']}/#{backend['id']}"
    if plugin_instances.key?(name)
      check_unchanged(name, backend) unless @configured[name] == backend
    else
      plugin = configured_plugin(name, backend['type'], options)
      @configured[name] = Simpkv::Config.copy(backend)
      plugin_instances[name] = plugin
    end
    @plugins_of[options] = plugin_instances[name] if [options, options['backends'], backend].all?(&:frozen?)
    plugin_instances[name]
  end

  def configured_plugin(name, type, options)
    info = plugin_info.fetch(type) { raise "there is no plugin of type '#{type}'" }
    plugin = info[:class].new(name)
    check_configured(plugin.configure(Simpkv::Config.copy(options)))
    plugin
  rescue SignalException, NoMemoryError
    raise
  rescue Exception => e # rubocop:disable Lint/RescueException -- a plugin may raise anything, and breaks nothing else
    # No value is at hand here, and the message may well name an option.
    raise "simpkv Error: Unable to construct '#{name}': #{e.message}"
  end

  # A plugin that neither raises nor answers that it failed is configured.
  def check_configured(answer)
    return unless answer.is_a?(Hash) && answer.key?(:result) && !answer[:result]

    why = answer[:err_msg].to_s
    raise why.empty? ? 'configure failed and gave no reason' : why
  end

  def check_unchanged(name, backend)
    location, others = Simpkv::Config.differences(@configured[name], backend)
    if location.any?
      raise Simpkv::ConfigError, "this catalog contains different backend configs for type=#{backend['type']} " \
                                 "id=#{backend['id']}: they differ in #{location.join(', ')}"
    end
    warn_of(others.map do |option|
      "simpkv backend #{name} is in use already with another '#{option}', which stays until the end of this catalog"
    end)
  end

  # The class in a file of this folder.
  def read_beside(name)
    Simpkv::EnvironmentCode.evaluate(File.join(File.dirname(__FILE__), "#{name}.rb"), :"#{name}_class")
  end

  # Plugins of our own module's neighbours first, then those on the rest of the modulepath; the first of a type counts.
  #
  # @return [Array(Hash, Array<String>)] what is in {#plugin_info}, and what each catalog is to be warned of
  def read_plugins
    found = {}
    warnings = plugin_files.map do |file|
      type = File.basename(file, '_plugin.rb')
      if found.key?(type)
        "Skipping load of simpkv plugin from #{file}: type '#{type}' is loaded already from #{found[type][:source]}"
      else
        plugin_class, why = plugin_class_from(file)
        found[type] = { class: plugin_class, source: file } if plugin_class
        why
      end
    end
    [found.freeze, warnings.compact.freeze].freeze
  end

  def plugin_files
    # The path as it was given, links included: __dir__ would follow them, away from the modulepath.
    own = File.expand_path('../../../..', File.dirname(__FILE__))
    environment = Puppet.lookup(:current_environment) { nil }
    folders = [own] + (environment ? environment.modulepath : [])
    found = folders.uniq { |folder| File.exist?(folder) ? File.realpath(folder) : folder }.flat_map do |folder|
      Dir.glob('*/lib/puppet_x/simpkv/?*_plugin.rb', base: folder).map { |file| File.join(folder, file) }.sort
    end
    # On an agent, this file is in no module.
    found | Dir.glob(File.join(File.dirname(__FILE__), '?*_plugin.rb')).sort
  end

  # @return [Array] the class; or nil, and why there is none
  def plugin_class_from(file)
    plugin_class = Simpkv::EnvironmentCode.evaluate(file, :plugin_class)
    raise 'it does not assign a class to the variable plugin_class' unless plugin_class.is_a?(Class)

    [plugin_class]
  rescue SignalException, NoMemoryError
    raise
  rescue Exception => e # rubocop:disable Lint/RescueException -- a plugin may raise anything, and breaks nothing else
    [nil, "simpkv plugin from #{file} failed to load: #{e.message}"]
  end
end
