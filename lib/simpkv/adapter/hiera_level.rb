# frozen_string_literal: true

module Simpkv
  class Adapter
    # A level of hiera.yaml in one catalog, for `simpkv::lookup_key`. It lists each folder once, whatever the number of
    # keys, and keeps the listings.
    class HieraLevel
      # @param adapter [Adapter]
      # @param options [Hash] of the level, as Hiera gives them
      # @param compiling [String] the environment that the catalog is compiled in
      # @raise [ConfigError] an option is invalid
      def initialize(adapter, options, compiling)
        @adapter = adapter
        @level = Config.level(options)
        @options = merged(compiling)
        Validation.check(@options, adapter.backends)
        adapter.warn_of(Config.doubts(@options))
        @upper = Config.case_sensitive?(@options)
        @root = parts(folder.delete_prefix('/'))
        check_folder
        @listings = {}
      end

      # @return [String] the folder of the keys
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
      # @return [Array(Boolean, Object, String)] whether there is a value; the value; an explanation without the value
      # @raise [RuntimeError] the backend fails, or the entry cannot be read
      # @raise [ConfigError] the backend is in use with another location or identity
      def find(key)
        why = reason_to_skip(key)
        return [false, nil, "not asked for '#{key}': #{why}"] if why

        segments = parts(path_of(key))
        value = value_at(segments) || form_at(segments)
        [!value.nil?, value&.first, explanation(segments, value ? 'found' : 'not there')]
      end

      # @return [String] the name of the backend in messages
      def backend
        @options['backends'][@options['backend']].values_at('type', 'id').join('/')
      end

      private

      # The options for the adapter and the plugin.
      def merged(compiling)
        options = { 'backends' => @level['backends'] || Config.default_backends, 'backend' => @level['backend'],
                    'environment' => environment(compiling), 'global' => @level['global'], 'softfail' => softfail? }
        options['backend'] = Config.backend_for(options, nil)
        Config.frozen(options)
      end

      def environment(compiling)
        return @level['environment'] if @level['environment']
        return compiling if @level['global'] || !@adapter.made_up?(compiling)

        raise ConfigError, "environment '#{compiling}' is made up by Bolt: set 'environment' or 'global' in " \
                           'hiera.yaml'
      end

      def parts(path)
        path.split('/', -1)
      end

      def check_folder
        Native.key_check(folder, @upper) unless folder.empty?
      rescue Error => e
        raise ConfigError, "'folder' in hiera.yaml: #{e.message.sub(/\Akey/, 'folder')}"
      end

      # @return [String, nil] why the key cannot be in the folder; nil if it may be
      def reason_to_skip(key)
        if !key.valid_encoding? then 'it is not text'
        elsif !wanted?(key) then "it matches nothing in 'confine_to_keys'"
        elsif empty_folder? then "the folder '#{folder}' has an empty part: a variable in hiera.yaml may be undefined"
        else invalid(path_of(key))
        end
      end

      def wanted?(key)
        @level['confine_to_keys'].nil? || key.match?(@level['confine_to_keys'])
      end

      # @return [String, nil] why the path is invalid; nil if it is valid
      def invalid(path)
        Native.key_check(path, @upper)
        'it has an empty part' if path.empty? || parts(path).include?('')
      rescue Error => e
        e.message
      end

      # An undefined variable leaves a part empty, and the path would be another folder's. The root itself is fine.
      def empty_folder?
        folder.empty? || @root.include?('')
      end

      def path_of(key)
        @level['dots'] == 'folders' ? key.tr('.', '/') : key
      end

      def explanation(segments, outcome)
        where = @level['global'] ? 'of the global keys' : "of environment '#{@options['environment']}'"
        "asked simpkv backend '#{@options['backend']}' (#{backend}) for key '#{path(segments)}' #{where}: #{outcome}"
      end

      def path(segments)
        (@root + segments).join('/')
      end

      # @return [Array(Object), nil] the value of a key, or with `dots: folders` the contents of a folder, so that Hiera
      #   finds `app.db` in `app`; nil if both are missing
      def value_at(segments)
        *above, name = segments
        return unless folders?(above)

        listing = listing(above)
        value = value_of(segments, listing) if listing.values_at(:documents, :errors).any? { |each| each.key?(name) }
        value || (value_of_folder(segments) if listing[:folders].include?(name))
      end

      # @return [Array(Object), nil] the form of a secret, for a name with one of the endings; nil without that secret
      def form_at(segments)
        *above, name = segments
        return unless @level['formats'] && folders?(above)

        secrets = names(listing(above))
        ending, format = @level['formats'].find { |each, _| secrets.any? { |secret| name == "#{secret}_#{each}" } }
        ending && form([*above, name.delete_suffix("_#{ending}")], format)
      end

      # @return [Array(Object), nil] nil for another value than a secret
      def form(segments, format)
        form = @adapter.calls.form(path(segments), format, @options)
        form && [present(form, true)]
      rescue InvalidError
        nil
      end

      def value_of_folder(segments)
        return unless @level['dots'] == 'folders'

        contents = contents(segments)
        [contents] unless contents.empty?
      end

      # Returns true if these folders exist, each in the one before.
      def folders?(names)
        names.each_index.all? { |depth| listing(names[0...depth])[:folders].include?(names[depth]) }
      end

      def names(listing)
        listing[:documents].keys | listing[:errors].keys
      end

      # Omits folders without keys: a delete leaves these behind.
      def contents(segments)
        listing = listing(segments)
        values = listing[:folders].to_h { |name| [name, contents(segments + [name])] }
        values.delete_if { |_, below| below.empty? }
        names(listing).each do |name|
          value = value_of(segments + [name], listing)
          values[name] = value.first if value
        end
        values.sort.to_h
      end

      # @return [Array(Object), nil] the value of a listed key; nil if it has expired, or was deleted meanwhile
      def value_of(segments, listing)
        name = segments.last
        fail_for(segments, listing[:errors][name]) if listing[:errors].key?(name)
        entry = entry_of(segments, listing[:documents][name])
        # Hiera itself reads lookup_options.
        [segments == ['lookup_options'] ? entry[:value] : present(entry[:value])] if entry
      rescue MalformedError => e
        fail_for(segments, e.message)
      end

      # @param document [String, nil] nil if it is to be read
      # @return [Hash, false, nil]
      def entry_of(segments, document)
        return @adapter.calls.perform(:find, path(segments), @options) unless document

        @adapter.deserialize(document) unless Versions.expired?(document)
      end

      # Puppet cannot merge a Sensitive, and silently takes the first one, so a Hash or an Array comes with Sensitive
      # members.
      def present(value, secret = @level['sensitive'])
        case value
        when sensitive_type then present(value.unwrap, true)
        when Hash then value.transform_values { |each| member(each, secret) }
        when Array then value.map { |each| member(each, secret) }
        else secret ? sensitive_type.new(value) : value
        end
      end

      # A Sensitive of false or undef would count as true.
      def member(value, secret)
        [true, false, nil].include?(value) ? value : present(value, secret)
      end

      def sensitive_type
        Puppet::Pops::Types::PSensitiveType::Sensitive
      end

      # Lists a folder of the level once, and remembers a failure, too.
      def listing(segments)
        listing = @listings[path(segments)] ||= snapshot(path(segments))
        listing.is_a?(Error) ? raise(listing) : listing
      end

      def snapshot(path)
        @adapter.calls.perform(:snapshot, path.empty? ? '/' : path, room, @options)
      rescue Error => e
        e
      end

      # The maximum size of the documents of a folder that a catalog keeps, in bytes. It reads other documents when they
      # are looked up.
      def room
        16 * 1024 * 1024
      end

      def fail_for(segments, why)
        raise "simpkv #{backend} Error: Key '#{path(segments)}': #{why}"
      end
    end
  end
end
