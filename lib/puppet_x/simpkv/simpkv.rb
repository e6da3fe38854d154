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
    @plugin_caller_class = Simpkv::EnvironmentCode.kept(:@simpkv_plugin_caller_class) { read_beside('plugin_caller') }
    @plugin_info, warnings = Simpkv::EnvironmentCode.kept(:@simpkv_plugins) { read_plugins }
    warnings.each { |warning| Puppet.warning(warning) }
    @plugin_instances = {}
    @configured = {}
    @callers = {}.compare_by_identity
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
    caller_for(options).plugin
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
    @plugin_caller_class.relevant(backtrace)
  end

  # @return [Hash] `result:` true, also when there was no such key
  def delete(key, options)
    reply(options, false) { |plugin| plugin.call(:delete, key_path(key, options)) && true }
  end

  # @return [Hash] `result:` true, also when there was no such folder
  def deletetree(keydir, options)
    reply(options, false) { |plugin| plugin.call(:deletetree, normalize_key(keydir, options)) && true }
  end

  # @return [Hash] `result:` whether there is a key or a folder of that name
  def exists(key, options)
    reply(options, nil) { |plugin| plugin.call(:exists, normalize_key(key, options)) }
  end

  # @return [Hash] `result:` `{ value:, metadata: }`
  def get(key, options)
    reply(options, nil) { |plugin| deserialize(plugin.call(:get, key_path(key, options))) }
  end

  # @return [Hash] `result:` `{ keys: { name => { value:, metadata: } }, folders: [name] }`, both sorted
  def list(keydir, options)
    reply(options, nil) do |plugin|
      how = empty_if_missing?(options) ? :list_present : :list
      presented('list', keydir, read(plugin, how, keydir, options, true), options)
    end
  end

  # @return [Hash] `result:` true
  def put(key, value, metadata, options)
    reply(options, false) do |plugin|
      document = document(value, metadata, options)
      plugin.call(:put, key_path(key, options), document) && true
    end
  end

  # @return [Hash] `result:` `{ value:, metadata: }`, false when there is no such key
  def find(key, options)
    reply(options, nil) do |plugin|
      document = plugin.fetch(key_path(key, options))
      document && deserialize(document)
    end
  end

  # Stores a key unless it is there. The first of several writers at the same moment wins, and all learn what it stored.
  #
  # @return [Hash] `result:` `{ value:, metadata: }`, what is stored then
  def create(key, value, metadata, options)
    reply(options, nil) do |plugin|
      path = key_path(key, options)
      document = document(value, metadata, options)
      deserialize(repeatedly { put_or_fetch(plugin, path, document) })
    end
  end

  # Stores a key if its value is the expected one; nil for none. What a Sensitive wraps counts, not that it does.
  #
  # @return [Hash] `result:` whether it did
  def compare_and_put(key, expected, value, metadata, options)
    reply(options, nil) do |plugin|
      path = key_path(key, options)
      expected = expectations(expected, options)
      document = document(value, metadata, options)
      repeatedly do
        stored = plugin.fetch_latest(path)
        next [expected.empty? && plugin.put_new?(path, document)] unless stored
        next [false] unless expected.any? { |each| each.eql?(bare(deserialize(stored)[:value])) }

        # Else only the metadata may have changed meanwhile.
        [true] if plugin.exchange?(path, stored, document)
      end.first
    end
  end

  # @return [Hash] `result:` `{ keys: { key => { value:, metadata: } }, absent: [key], errors: { key => why } }`
  def get_many(keys, options)
    reply(options, nil) do |plugin|
      paths, errors = paths(keys, options)
      found = plugin.get_many(paths.values.uniq)
      outcomes = paths.transform_values { |path| decoded(found[path]) }
      outcomes.each { |key, outcome| errors[key] = outcome if outcome.is_a?(String) }
      { keys: outcomes.select { |_, outcome| outcome.is_a?(Hash) },
        absent: outcomes.select { |_, outcome| outcome == false }.keys, errors: plugin.attributed(errors) }
    end
  end

  # @param entries [Hash{String => Hash}] by key, `{ 'value' =>, 'metadata' => }`
  # @return [Hash] `result:` `{ stored: [key], errors: { key => why } }`
  def put_many(entries, options)
    reply(options, nil) do |plugin|
      paths, errors = paths(entries.keys, options)
      outcomes = plugin.put_many(documents(entries, paths, options))
      stored, failed = paths.partition { |_, path| outcomes[path] == true }
      failed.each { |key, path| errors[key] = outcomes[path][:err_msg].to_s }
      { stored: stored.map(&:first), errors: plugin.attributed(errors) }
    end
  end

  # What a write would answer, which is not done: what is refused before the backend is asked is refused here, too.
  #
  # @param operation [String] the name of a method that writes
  # @param arguments [Array] those of that method, options included
  # @return [Hash] `result:` as of that method
  def rehearse(operation, key, *arguments, options)
    reply(options, nil) { |_plugin| send(:"rehearse_#{operation}", key, *arguments, options) }
  end

  # @return [Hash] `result:` as that of {#list}, of the folder and all that are below it: names are paths in it. Where
  #   only names are wanted, each key has `{}`
  def tree(keydir, options)
    reply(options, nil) do |plugin|
      values = Simpkv::Config.flag(options, 'values')
      how = empty_if_missing?(options) ? :tree_present : :tree
      whole = plugin.has?(:tree)
      found = whole ? read(plugin, how, keydir, options, values) : walk(plugin, keydir, options, values)
      presented('tree', keydir, found, options)
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
        fits = document.bytesize <= room
        room -= document.bytesize if fits
        documents[name] = (document if fits)
        nil
      end
      found = plugin.list_present(normalize_key(keydir, options), true, &keep)
      found[:keys].each { |name, document| keep.call(name, document) unless documents.key?(name) }
      { documents: documents, errors: found[:errors], folders: found[:folders] }
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

  # Yields what calls the plugin of the chosen backend. What it asks shares one deadline with its configuration.
  def reply(options, failed)
    caller = nil
    result = Simpkv::Deadline.shared do
      caller = caller_for(options)
      yield(caller)
    end
    { result: result, err_msg: nil }
  rescue Simpkv::ConfigError
    raise
  rescue StandardError, SystemStackError => e
    why = @plugin_caller_class.reason(e)
    { result: failed, err_msg: caller ? caller.attributed(why) : why }
  end

  def caller_for(options)
    @callers[options] || find_caller(options)
  end

  def document(value, metadata, options)
    serialize(value, metadata, Simpkv::Config.flag(options, 'rich_data'))
  end

  # The document that is there then; false when another one has deleted it. Where nobody can tell whose it is, it is no
  # less the one.
  def put_or_fetch(plugin, path, document)
    return document if plugin.put_new?(path, document)

    plugin.fetch_latest(path)
  rescue RuntimeError => e
    found(plugin, path) || raise(e)
  end

  def found(plugin, path)
    plugin.fetch_latest(path)
  rescue RuntimeError
    nil
  end

  # Tries until it is settled, which others may prevent by changing the key in between.
  def repeatedly
    100.times do
      settled = yield
      return settled if settled
    end
    raise 'others keep changing it'
  end

  # What the value of a key may be to be the expected one: as it was given, or as it comes back when it is stored.
  # Nothing where no key is expected.
  def expectations(expected, options)
    return [] if expected.nil?

    [deserialize(document(expected, {}, options))[:value], expected].map { |value| bare(value) }
  rescue Simpkv::UnencodableError => e
    raise e.class, e.message.sub('value', 'expected'), cause: nil
  end

  def bare(value)
    @rich_data_class.new.bare(value)
  end

  # @return [Array(Hash{String => String}, Hash{String => String})] by key: paths, and why there is none
  def paths(keys, options)
    errors = {}
    paths = keys.to_h do |key|
      [key, key_path(key, options)]
    rescue RuntimeError => e
      errors[key] = e.message
      [key, nil]
    end
    [paths.compact, errors]
  end

  # @param paths [Hash{String => String}] by key
  # @return [Hash{String => String}] by path, the document of the key's entry
  def documents(entries, paths, options)
    paths.keys.group_by { |key| paths[key] }.transform_values do |(key, *others)|
      raise "'#{key}' and '#{others.first}' are the same key: give it once" if others.any?

      document(entries[key]['value'], entries[key]['metadata'] || {}, options)
    rescue Simpkv::Error => e
      raise e.class, "Key '#{key}': #{e.message}", cause: nil
    end
  end

  def rehearse_put(key, value, metadata, options)
    key_path(key, options)
    document(value, metadata, options) && true
  end

  def rehearse_create(key, value, metadata, options)
    key_path(key, options)
    deserialize(document(value, metadata, options))
  end

  def rehearse_compare_and_put(key, expected, value, metadata, options)
    expectations(expected, options)
    rehearse_put(key, value, metadata, options) && false
  end

  def rehearse_put_many(entries, options)
    paths, errors = paths(entries.keys, options)
    documents(entries, paths, options)
    { stored: [], errors: caller_for(options).attributed(errors) }
  end

  def rehearse_delete(key, options)
    key_path(key, options) && true
  end

  def rehearse_deletetree(keydir, options)
    normalize_key(keydir, options) && true
  end

  # The entry, false, or what keeps it from being one.
  def decoded(outcome)
    case outcome
    when false then false
    when Hash then outcome[:err_msg].to_s
    else
      found = entry(outcome)
      found.is_a?(Hash) ? found : found.message
    end
  end

  # A path where a key can be: not one that is the root of an environment or of the global keys.
  def key_path(key, options)
    path = normalize_key(key, options)
    root = path.count('/') < 2 && path.match?(%r{\A(globals|environments(/[^/]+)?)\z})
    raise "Key specifies a folder: '#{key}'" if root

    path
  end

  # What is in a folder, or below it.
  #
  # @param how [Symbol] `:list`, `:list_present`, `:tree` or `:tree_present`, see plugin_caller.rb
  # @param values [Boolean] whether entries are wanted, or only names
  # @return [Hash] `{ keys: { name => { value:, metadata: } or {} }, folders: [name], errors: { name => why } }`; keys
  #   and folders are sorted
  def read(plugin, how, keydir, options, values)
    return named(search(plugin, how, keydir, options, values) { nil }, how) unless values

    decoded = {}
    found = search(plugin, how, keydir, options, values) do |name, json|
      decoded[name] = entry(json)
      nil
    end
    sifted(found) { |name| decoded.fetch(name) { entry(found[:keys][name]) } }
  end

  # With the entries of keys, sorted, which the block answers, or what keeps one from being one.
  def sifted(found)
    keys = {}
    errors = found[:errors].dup
    found[:keys].keys.sort.each do |name|
      entry = yield name
      entry.is_a?(Hash) ? keys[name] = entry : errors[name] = entry.message
    end
    { keys: keys, folders: found[:folders].sort, errors: errors }
  end

  def search(plugin, how, keydir, options, values, &block)
    path = normalize_key(keydir, options)
    return plugin.public_send(how, path, values, &block) if tree?(how)

    plugin.public_send(how, path, !values || Simpkv::Config.flag(options, 'skip_undecodable'), &block)
  end

  # Without entries. What a list cannot read is a key all the same. A tree of names reads none: what fails there is a
  # folder that cannot be looked into, or no name for a key.
  def named(found, how)
    keys, errors = found.values_at(:keys, :errors)
    keys = keys.merge(errors) unless tree?(how)
    { keys: keys.keys.sort.to_h { |name| [name, {}] }, folders: found[:folders].sort,
      errors: tree?(how) ? errors : {} }
  end

  def tree?(how)
    %i[tree tree_present].include?(how)
  end

  def empty_if_missing?(options)
    Simpkv::Config.flag(options, 'missing') == 'empty'
  end

  # The same of a tree, one folder after the other. One that another process has deleted on the way is empty.
  def walk(plugin, keydir, options, values)
    found = { keys: {}, folders: [], errors: {} }
    places = ['']
    how = empty_if_missing?(options) ? :list_present : :list
    while (place = places.shift)
      here = read(plugin, how, below(keydir, place), options, values)
      how = :list_present
      found[:folders].concat(here[:folders].map { |name| "#{place}#{name}" })
      places.concat(here[:folders].map { |name| "#{place}#{name}/" })
      %i[keys errors].each { |what| found[what].merge!(here[what].transform_keys { |name| "#{place}#{name}" }) }
    end
    { keys: found[:keys].sort.to_h, folders: found[:folders].sort, errors: found[:errors] }
  end

  # What a function answers of what was found. What cannot be read fails, or is left out with a warning.
  def presented(function, keydir, found, options)
    skip = found[:errors].any? && Simpkv::Config.flag(options, 'skip_undecodable')
    found[:errors].sort.each do |name, why|
      # Not key_join: it may be a name that no key can have.
      key = [*keydir.split('/').reject(&:empty?), name].join('/')
      raise "Key '#{key}': #{why}" unless skip

      Puppet.warning("simpkv::#{function} leaves out key '#{key}': #{why}")
    end
    found.slice(:keys, :folders)
  end

  # The decoded entry, or what keeps it from that.
  def entry(json)
    deserialize(json)
  rescue Simpkv::MalformedError => e
    e
  end

  def below(keydir, name)
    Simpkv::Native.key_join(keydir, name)
  end

  def chosen_backend(options)
    backends = options['backends']
    backend = backends[options['backend']] if backends.is_a?(Hash)
    unless backend.is_a?(Hash) && backend['type'].is_a?(String) && backend['id'].is_a?(String)
      raise malformed(options, "its 'type' and 'id' must be Strings")
    end
    return backend if plugin_info.key?(backend['type'])

    raise malformed(options, "there is no plugin of type '#{backend['type']}', only of #{self.backends.join(', ')}")
  end

  def malformed(options, why)
    "Malformed backend config of backend '#{options['backend']}': #{why}"
  end

  # What calls the plugin for the options. For those that cannot change it need not be found again.
  def find_caller(options)
    backend = chosen_backend(options)
    name = "#{backend['type']}/#{backend['id']}"
    if plugin_instances.key?(name)
      check_unchanged(name, backend) unless @configured[name] == backend
    else
      check_apart(name, backend)
      plugin = configured_plugin(name, backend['type'], options)
      @configured[name] = Simpkv::Config.copy(backend)
      plugin_instances[name] = plugin
    end
    caller = @plugin_caller_class.new(plugin_instances[name], name)
    @callers[options] = caller if [options, options['backends'], backend].all?(&:frozen?)
    caller
  end

  def configured_plugin(name, type, options)
    plugin = plugin_info[type][:class].new(name)
    check_configured(plugin.configure(Simpkv::Config.copy(options)))
    plugin
  rescue SystemExit, SignalException, NoMemoryError
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

  # Whether a backend is neither inside another one that this catalog uses, nor around it.
  def check_apart(name, backend)
    problem = Simpkv::Isolation.clash(backend, @configured.values)
    raise Simpkv::ConfigError, "simpkv backend #{name}: #{problem}" if problem
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
  rescue SystemExit, SignalException, NoMemoryError
    raise
  rescue Exception => e # rubocop:disable Lint/RescueException -- a plugin may raise anything, and breaks nothing else
    [nil, "simpkv plugin from #{file} failed to load: #{e.message}"]
  end
end
