# frozen_string_literal: true

# A level of hiera.yaml, which `simpkv::lookup_key` asks: for one catalog, with what was found for it so far. Of each
# folder that a key may be in, the level asks the backend once, whatever the number of keys.
hiera_level_class = Class.new do # rubocop:disable Lint/UselessAssignment
  # @param adapter [Object] see simpkv.rb
  # @param options [Hash] of the level, as Hiera gives them
  # @param compiling [String] the environment that the catalog is compiled in
  # @raise [Simpkv::ConfigError] when something is wrong with the options
  def initialize(adapter, options, compiling)
    @adapter = adapter
    @level = Simpkv::Config.level(options)
    @options = merged(compiling)
    Simpkv::Validation.check(@options, adapter.backends)
    adapter.warn_of(Simpkv::Config.doubts(@options))
    @upper = Simpkv::Config.case_sensitive?(@options)
    @root = parts(folder.delete_prefix('/'))
    check_folder
    @listings = {}
  end

  # @return [String] the folder that the keys are in
  def folder
    @level['folder']
  end

  # @return [Boolean] whether a failing backend is a warning only
  def softfail?
    @level['softfail']
  end

  # Looks a key up.
  #
  # @param key [String] as Hiera knows it
  # @return [Array(Boolean, Object, String)] whether there is a value; the value; what was asked, without the value
  # @raise [RuntimeError] when the backend fails, or what is stored cannot be read
  # @raise [Simpkv::ConfigError] when the backend is in use already with another location or identity
  def find(key)
    why = unasked(key)
    return [false, nil, "not asked for '#{key}': #{why}"] if why

    segments = parts(path_of(key))
    found = found_at(segments)
    [!found.nil?, found&.first, said(segments, found ? 'found' : 'not there')]
  end

  # @return [String] the backend, as messages name it
  def backend
    @options['backends'][@options['backend']].values_at('type', 'id').join('/')
  end

  private

  # What the adapter and the plugin are given.
  def merged(compiling)
    options = { 'backends' => @level['backends'] || Simpkv::Config.default_backends, 'backend' => @level['backend'],
                'environment' => environment(compiling), 'global' => @level['global'], 'softfail' => softfail? }
    options['backend'] = Simpkv::Config.backend_for(options, nil)
    Simpkv::Config.frozen(options)
  end

  def environment(compiling)
    return @level['environment'] if @level['environment']
    return compiling if @level['global'] || !@adapter.made_up?(compiling)

    raise Simpkv::ConfigError, "environment '#{compiling}' is made up by Bolt: set 'environment' or 'global' in " \
                               'hiera.yaml'
  end

  def parts(path)
    path.split('/', -1)
  end

  def check_folder
    Simpkv::Native.key_check(folder, @upper) unless folder.empty?
  rescue Simpkv::Error => e
    raise Simpkv::ConfigError, "'folder' in hiera.yaml: #{e.message.sub(/\Akey/, 'folder')}"
  end

  # Why there is no sense in asking for a key; nil where there is.
  def unasked(key)
    if !key.valid_encoding? then 'it is not text'
    elsif !wanted?(key) then "it matches nothing in 'confine_to_keys'"
    elsif empty_folder? then "the folder '#{folder}' has an empty part: a variable in hiera.yaml may be undefined"
    else unfit(path_of(key))
    end
  end

  def wanted?(key)
    @level['confine_to_keys'].nil? || key.match?(@level['confine_to_keys'])
  end

  # Why there can be no key of that path; nil where there can.
  def unfit(path)
    Simpkv::Native.key_check(path, @upper)
    'it has an empty part' if path.empty? || parts(path).include?('')
  rescue Simpkv::Error => e
    e.message
  end

  # But for the root itself, a variable that is undefined would put another folder in the place of the one meant.
  def empty_folder?
    folder.empty? || @root.include?('')
  end

  def path_of(key)
    @level['dots'] == 'folders' ? key.tr('.', '/') : key
  end

  def said(segments, outcome)
    where = @level['global'] ? 'of the global keys' : "of environment '#{@options['environment']}'"
    "asked simpkv backend '#{@options['backend']}' (#{backend}) for key '#{path(segments)}' #{where}: #{outcome}"
  end

  def path(segments)
    (@root + segments).join('/')
  end

  # The value of a key, in an Array; with `dots: folders`, of a folder what is in it, so that Hiera finds `app.db` in
  # `app`. Nil where there is neither.
  def found_at(segments)
    *above, name = segments
    return unless folders?(above)

    listing = listing(above)
    return value_of(segments, listing) if listing.values_at(:documents, :errors).any? { |each| each.key?(name) }
    return unless @level['dots'] == 'folders' && listing[:folders].include?(name)

    contents = contents(segments)
    [contents] unless contents.empty?
  end

  # Whether there are these folders, each in the one before.
  def folders?(names)
    names.each_index.all? { |depth| listing(names[0...depth])[:folders].include?(names[depth]) }
  end

  def names(listing)
    listing[:documents].keys | listing[:errors].keys
  end

  # Folders without keys are left out: a delete leaves them behind.
  def contents(segments)
    listing = listing(segments)
    found = listing[:folders].to_h { |name| [name, contents(segments + [name])] }
    found.delete_if { |_, below| below.empty? }
    names(listing).each do |name|
      value = value_of(segments + [name], listing)
      found[name] = value.first if value
    end
    found.sort.to_h
  end

  # The value of a key that was listed, in an Array; nil where it is gone meanwhile.
  def value_of(segments, listing)
    name = segments.last
    fail_for(segments, listing[:errors][name]) if listing[:errors].key?(name)
    document = listing[:documents][name]
    found = document ? @adapter.deserialize(document) : @adapter.calls.perform(:find, path(segments), @options)
    # How to merge is for Hiera itself.
    [segments == ['lookup_options'] ? found[:value] : present(found[:value])] if found
  rescue Simpkv::MalformedError => e
    fail_for(segments, e.message)
  end

  def present(value)
    type = Puppet::Pops::Types::PSensitiveType::Sensitive
    @level['sensitive'] && !value.is_a?(type) ? type.new(value) : value
  end

  # Lists a folder of the level once; a failure is remembered as well.
  def listing(segments)
    found = @listings[path(segments)] ||= snapshot(path(segments))
    raise found if found.is_a?(Simpkv::Error)

    found
  end

  def snapshot(path)
    @adapter.calls.perform(:snapshot, path.empty? ? '/' : path, room, @options)
  rescue Simpkv::Error => e
    e
  end

  # How many bytes of documents a catalog keeps of one folder. What does not fit in is read when it is looked up.
  def room
    16 * 1024 * 1024
  end

  def fail_for(segments, why)
    raise "simpkv #{backend} Error: Key '#{path(segments)}': #{why}"
  end
end
