# frozen_string_literal: true

# A plugin to copy: it works, and keeps documents in a Hash for the length of one catalog.
#
# To make a backend of your own, say of type `acme`:
#
# 1. Copy this file to `lib/puppet_x/simpkv/acme_plugin.rb` of any module of yours. The name of the file gives the type.
#    (This one is no plugin itself, since its name does not end in `_plugin.rb`.)
# 2. Keep the line that starts with `plugin_class =`: simpkv evaluates the file and takes the class from that variable.
#    The class must have no name, so that every environment has its own version of it.
# 3. Configure a backend with `type: acme` and an `id` of your choice.
#
# Rules:
#
# - One instance is made for each `<type>/<id>` of a catalog, and lives as long as the catalog does. What must outlive
#   it, such as a connection, belongs into a gem.
# - Use instance variables only. Class variables, class-level instance variables, constants and globals are shared by
#   threads and catalogs; do not keep state in them.
# - A key is a path with its prefix: `environments/production/app1/password` or `globals/app1/password`. Store any
#   string under any such path, bytes included.
# - Every method returns `{ result: ..., err_msg: nil }`. If it fails, `result:` is the value that is named below, and
#   `err_msg:` is a String with the reason. simpkv puts `simpkv <type>/<id> Error: ` before it. An exception counts as
#   a failure, too, except for those that end the process, which nothing may rescue: SystemExit, signals and
#   NoMemoryError.
# - A message names keys and places, never a stored document or a password.
# - Bound the time of everything that waits.
plugin_class = Class.new do # rubocop:disable Lint/UselessAssignment
  # @return [String] `<type>/<id>`
  attr_reader :name

  # Only remembers its name: what can fail belongs into `configure`.
  #
  # @param name [String] `<type>/<id>`
  def initialize(name)
    @name = name
  end

  # Called once, before all else.
  #
  # @param options [Hash] all merged options. Those of this backend are `options['backends'][options['backend']]`.
  # @return [Hash] `result:` true, or false when it failed: the instance is then dropped, and a new one made for the
  #   next call
  def configure(options)
    @config = options['backends'][options['backend']]
    # By path: a String is a document, nil a folder. The folder of the global keys is always there, those of
    # environments come with their first key.
    @entries = { 'globals' => nil }
    succeeded(true)
  end

  # Deletes a key, but not the folder that it may leave empty.
  #
  # @param key [String]
  # @return [Hash] `result:` true, also when there was no such key; false when it failed
  def delete(key)
    return failed(false, "Key specifies a folder: '#{key}'") if folder?(key)

    @entries.delete(key)
    succeeded(true)
  end

  # Deletes a folder and all below it.
  #
  # @param keydir [String]
  # @return [Hash] `result:` true, also when there was no such folder; false when it failed
  def deletetree(keydir)
    return failed(false, "Folder delete of '#{keydir}' failed: it is a key") if @entries[keydir]

    @entries.delete_if { |path, _| path.start_with?("#{keydir}/") || (path == keydir && path != 'globals') }
    succeeded(true)
  end

  # Tells whether there is a key or a folder of that name.
  #
  # @param key [String]
  # @return [Hash] `result:` true or false; nil when that cannot be told
  def exists(key)
    succeeded(@entries.key?(key))
  end

  # Reads a key.
  #
  # @param key [String]
  # @return [Hash] `result:` the String that was put; nil when it failed, a missing key included
  def get(key)
    return succeeded(@entries[key]) if @entries[key]

    failed(nil, folder?(key) ? "Key specifies a folder: '#{key}'" : "Key not found: '#{key}'")
  end

  # Lists the keys and folders directly below a folder.
  #
  # If finding the next entry takes time, yield each name and document as it comes: simpkv decodes it meanwhile.
  #
  # A plugin that can tell which of the entries it could not read may also have a method `list_partial(keydir)`, whose
  # result has `errors: { name => why }` beside the keys and folders. simpkv calls it when the option `skip_undecodable`
  # is set, when only names are wanted, and for a tree. `list` fails as a whole.
  #
  # @param keydir [String]
  # @return [Hash] `result:` `{ keys: { name => String }, folders: [name] }` with names relative to the folder, in any
  #   order; nil when it failed, a missing folder included
  def list(keydir)
    return failed(nil, "Key folder '#{keydir}' not found") unless folder?(keydir)

    below = @entries.select { |path, _| path.rpartition('/').first == keydir }
    folders, keys = below.map { |path, document| [path.rpartition('/').last, document] }.partition { |_, doc| doc.nil? }
    succeeded(keys: keys.to_h, folders: folders.map(&:first))
  end

  # Writes a key, with the folders that it needs. Last writer wins.
  #
  # @param key [String]
  # @param document [String] what `get` is to return, byte for byte
  # @return [Hash] `result:` true; false when it failed
  def put(key, document)
    return failed(false, "Key specifies a folder: '#{key}'") if folder?(key)

    folders = folders_of(key)
    blocking = folders.find { |path| @entries[path] }
    return failed(false, "Key write to '#{key}' failed: '#{blocking}' is a key") if blocking

    folders.each { |path| @entries[path] = nil }
    @entries[key] = document
    succeeded(true)
  end

  private

  def folder?(path)
    @entries.key?(path) && @entries[path].nil?
  end

  # The paths above a key: 'a' and 'a/b' for 'a/b/c'.
  def folders_of(key)
    names = key.split('/')[0..-2]
    names.each_index.map { |index| names[0..index].join('/') }
  end

  def succeeded(result)
    { result: result, err_msg: nil }
  end

  def failed(result, why)
    { result: result, err_msg: why }
  end
end
