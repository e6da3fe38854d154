# frozen_string_literal: true

require 'simpkv/config/coercion'
require 'simpkv/errors'
require 'simpkv/config/options'
require 'simpkv/config/sections'
require 'simpkv/config/spelling'

module Simpkv
  # Converts options, and chooses a backend and an environment by them. options.rb defines the options, and {Validation}
  # checks a whole configuration.
  #
  # Options are hashes with String names, as Hiera and manifests give them: some for the call (`softfail`), and
  # `backends`, which maps names to the options of one backend each. No method changes its arguments. An invalid value
  # raises {ConfigError}, which names the option and its backend, and never shows a value.
  module Config
    # @param value [Object] options, or a part of them
    # @return [Object] the same in hashes and arrays of its own, which the caller may change
    def self.copy(value)
      case value
      when Hash then value.to_h { |name, member| [name, copy(member)] }
      when Array then value.map { |member| copy(member) }
      else value
      end
    end

    # @param value [Object] options, or a part of them
    # @return [Object] a {copy} whose hashes and arrays nobody can change
    def self.frozen(value)
      case value
      when Hash then value.transform_values { |member| frozen(member) }.freeze
      when Array then value.map { |member| frozen(member) }.freeze
      else value
      end
    end

    # @param agent [Boolean] whether the caller is an agent, which calls functions for Deferred only and does not have
    #   the Hiera data of its catalog
    # @return [Hash] the `backends` of a site without any: a new hash
    # @raise [ConfigError] for an agent
    def self.default_backends(agent: false)
      return { 'default' => { 'type' => 'file', 'id' => 'auto_default' } } unless agent

      raise ConfigError, "'backends' must be in the options of a Deferred call on an agent, which does not have the " \
                         "server's Hiera data"
    end

    # @return [String] the preferred root of a file backend without `root_path`
    def self.default_root_path(id)
      "/var/simp/simpkv/file/#{id}"
    end

    # Chooses a backend: `backend`, else by `app_id` the backend of that name, else the one with the longest name that
    # `app_id` begins with, else `default`.
    #
    # @param options [Hash] merged options
    # @param app_id [String, nil] the one of the call itself: Hiera's has no effect
    # @return [String] the name; the backend may be missing
    # @raise [ConfigError] `backend`, `backends` or `app_id` has the wrong type
    def self.backend_for(options, app_id)
      app_id = app_id.nil? ? 'default' : coerce(:string, app_id, "'app_id' in simpkv configuration")
      names = backends_of(options).keys
      return coerce(:string, options['backend'], "'backend' in simpkv configuration") unless options['backend'].nil?

      longest_beginning(names, app_id) || 'default'
    end

    # @param options [Hash] merged options
    # @param app_id [String, nil] the one of the call itself
    # @return [Array<String>] a warning if `backend` wins over an `app_id` that chooses another backend; otherwise empty
    # @raise [ConfigError] as {backend_for}
    def self.ignored_app_id(options, app_id)
      return [] if app_id.nil? || options['backend'].nil?

      used = backend_for(options, app_id)
      meant = backend_for(options.merge('backend' => nil), app_id)
      return [] if meant == used

      ["simpkv ignores an 'app_id' that chooses backend '#{meant}': 'backend' is '#{used}', in simpkv::options or in " \
       "the call, and wins. Remove 'backend' there, or set it to '#{meant}' in the call"]
    end

    # @param given [Object, nil] the option `environment`, as it is given
    # @param environment [String] that of the keys
    # @return [Array<String>] a warning if it is another one; otherwise empty
    def self.ignored_environment(given, environment)
      return [] if given.nil? || given == '' || given == environment

      ["simpkv ignores the option 'environment': keys belong to the environment of the catalog, '#{environment}', or " \
       "with 'global' to all"]
    end

    # Returns the environment of the keys.
    #
    # @param options [Hash] merged options
    # @param compiling [String] the environment that the catalog or plan is compiled in
    # @param made_up [Boolean] whether Bolt made that up, so that keys do not belong there
    # @return [String] its name
    # @raise [ConfigError] it is made up, and no option names another
    def self.environment(options, compiling, made_up)
      named = options['bolt_environment']
      named = coerce(:environment, named, "'bolt_environment' in simpkv configuration") unless named.nil?
      return compiling if !made_up || flag(options, 'global')
      return named if named

      raise ConfigError, "environment '#{compiling}' is made up by Bolt: set 'bolt_environment', in simpkv::options " \
                         'or in the options of the call, to the environment that the keys belong to'
    end

    # Returns the folder of the keys.
    #
    # @param options [Hash] merged options, of which `global` and `environment` count
    # @return [String] `globals`, `environments/<environment>`, or for the environment `''` `environments`
    # @raise [ArgumentError] the name of the environment is invalid
    def self.prefix(options)
      return 'globals' if options['global']

      environment = options['environment'].to_s
      if environment.include?('/') || ['.', '..'].include?(environment)
        raise ArgumentError, "'#{environment}' is not the name of an environment"
      end

      environment.empty? ? 'environments' : "environments/#{environment}"
    end

    # @param path [String]
    # @return [Boolean] whether it is a folder of the structure, at which no key can be: the folder of the global keys,
    #   of the environments, or of one environment
    def self.root?(path)
      path.count('/') < 2 && path.match?(%r{\A(globals|environments(/[^/]+)?)\z})
    end

    # @return [Boolean, String] an option of the call, converted, or its default
    # @raise [ConfigError] it has the wrong type, or no value although it protects something
    def self.flag(options, name)
      option = CALL_BY_NAME.fetch(name)
      return option.default unless options.key?(name)

      value_of(option, options, "'#{name}' in simpkv configuration")
    end

    # @param metadata [Hash] of a key
    # @return [Boolean] whether they look like options of a call: each has the name of one, and a valid value
    def self.like_options?(metadata)
      return false if metadata.empty?

      metadata.all? do |name, value|
        option = CALL_BY_NAME[name]
        option && !Coercion.convert(option.type, value).nil?
      end
    end

    # @return [Boolean] whether the chosen backend takes keys with capital letters
    def self.case_sensitive?(options)
      backend_option(options, 'case_sensitive')
    end

    # @return [Integer, nil] how many replaced values a key keeps: by the call, or else by the chosen backend
    # @raise [ConfigError] the option is of the wrong type
    def self.history(options)
      flag(options, 'history') || backend_option(options, 'history')
    end

    # Converts the options of a backend of one of our types, and adds defaults. Ignores options of other types.
    #
    # @param backend [Hash] the backend's options, `type` included
    # @param name [String] the backend's name, for messages
    # @return [Hash{String => Object}] the options with a value
    # @raise [ConfigError] a value cannot be converted
    def self.typed(backend, name)
      known = BACKEND + TYPES.fetch(backend['type'], [])
      typed = known.to_h { |option| [option.name, typed_option(option, backend, name)] }.compact
      typed['audit'] = audit(typed['audit'], name) if typed.key?('audit')
      typed
    end

    # @param options [Hash] merged options that {Validation.check} has accepted
    # @return [Array<String>] a warning for each unknown option; none for backends of third-party types
    def self.doubts(options)
      backend = options['backends'][options['backend']]
      return [] unless TYPES.key?(backend['type'])

      names = (BACKEND + TYPES.values.flatten).map(&:name)
      site_doubts(options) + unknown(backend, names, "of simpkv backend '#{options['backend']}'")
    end

    # @param site [Hash] the options of a site or of a call
    # @return [Array<String>] a warning for each unknown option or section beside `backends`
    def self.site_doubts(site)
      unknown(site, CALL.map(&:name) + Sections.names, 'in simpkv configuration')
    end

    # Converts the options of a level of hiera.yaml, and adds defaults.
    #
    # @param options [Hash{String => Object}] the options that `simpkv::lookup_key` gets
    # @return [Hash{String => Object}] all of {LEVEL}; without default and value, nil. `confine_to_keys` is one Regexp
    # @raise [ConfigError] an option is unknown, has the wrong type, or is excluded by another
    def self.level(options)
      refuse_locations(options)
      options = { 'folder' => options['uri'] }.merge(options) if options['uri']
      doubt = unknown(options, LEVEL.map(&:name) + ['uri'], 'in hiera.yaml').first
      raise ConfigError, doubt if doubt

      level = LEVEL.to_h { |option| [option.name, value_of(option, options, "'#{option.name}' in hiera.yaml")] }
      return level unless level['global'] && level['environment']

      raise ConfigError, "'global' and 'environment' in hiera.yaml exclude each other"
    end

    # Converts the options of a table, and adds defaults.
    #
    # @param known [Array<Option>] all options of the table
    # @param options [Hash{String => Object}]
    # @param name [String] names the table in messages
    # @return [Hash{String => Object}] all of them; without default and value, nil
    # @raise [ConfigError] an option is unknown or has the wrong type
    def self.table(known, options, name)
      doubt = unknown(options, known.map(&:name), "of #{name} in simpkv configuration").first
      raise ConfigError, doubt if doubt

      known.to_h { |option| [option.name, value_of(option, options, "'#{option.name}' of #{name}")] }
    end

    # @param value [Object]
    # @param what [String] names the option in the message
    # @return [Object] the value, converted
    # @raise [ConfigError] it cannot be converted
    def self.coerce(type, value, what)
      converted = Coercion.convert(type, value)
      raise ConfigError, "#{what} must be #{Coercion.needed(type)}#{Coercion.fault(type, value)}" if converted.nil?

      converted
    end

    # @param options [Hash] merged options
    # @return [Hash{String => Object}] the options of each backend, by its name
    # @raise [ConfigError] there are none
    def self.backends_of(options)
      backends = options['backends']
      raise ConfigError, "'backends' not specified in simpkv configuration" if backends.nil?
      return backends if backends.is_a?(Hash)

      raise ConfigError, "'backends' in simpkv configuration is not a Hash: set it to one from the name of each " \
                         "backend to a Hash with 'type' and 'id'"
    end

    class << self
      private

      # @return [Hash{String => Object}] all of {AUDIT}
      def audit(options, name)
        name = "'audit' of simpkv backend '#{name}'"
        audit = table(AUDIT, options, name)
        raise ConfigError, "'to' of #{name} is missing: set it to 'syslog' or to a file" if audit['to'].nil?
        return audit unless audit['required'] && !audit['to'].start_with?('/')

        raise ConfigError, "'required' of #{name} needs a file: syslog does not tell that its disk is full"
      end

      def longest_beginning(names, text)
        names.select { |name| Coercion.convert(:string, name) && text.start_with?(name) }.max_by(&:length)
      end

      def backend_option(options, name)
        option = BACKEND.find { |candidate| candidate.name == name }
        typed_option(option, options['backends'][options['backend']], options['backend'])
      end

      def typed_option(option, backend, name)
        value_of(option, backend, "'#{option.name}' of simpkv backend '#{name}'")
      end

      # @return [Object, nil] the value of the option, or its default, converted
      def value_of(option, options, what)
        value = options[option.name]
        if value.nil?
          refuse_forgotten(option, options, what)
          value = option.default
        end
        value.nil? ? nil : coerce(option.type, value, what)
      end

      def refuse_forgotten(option, options, what)
        return unless option.protects && options.key?(option.name)

        raise ConfigError, "#{what} has no value: set it, or remove it if you do without"
      end

      # Hiera turns `paths` and `uris` into these options.
      def refuse_locations(options)
        if options.key?('path')
          raise ConfigError, "'path' in hiera.yaml is for files: use 'folder', or 'uris' for several folders"
        end
        return unless options.key?('uri') && options.key?('folder')

        raise ConfigError, "'folder' and 'uri' in hiera.yaml exclude each other: remove one of them"
      end

      def unknown(options, names, where)
        (options.keys - names).map do |name|
          "Unknown option '#{name}' #{where}#{suggestion(name, names)}"
        end
      end

      def suggestion(name, names)
        likely = Spelling.nearest(name, names)
        likely ? ": did you mean '#{likely}'?" : ''
      end
    end
  end
end
