# frozen_string_literal: true

require 'simpkv/config'
require 'simpkv/config/isolation'
require 'simpkv/config/remedies'

module Simpkv
  # Checks merged options as a whole, and compares configurations of backends. {Config} converts single options.
  module Validation
    # Checks that merged options can be used: the chosen backend exists, is complete and has an available type, and no
    # two backends claim the same type and id. With `strict_options`, there is no unknown option either.
    #
    # @param options [Hash] merged options
    # @param types [Array<String>] the types for which there are plugins
    # @return [void]
    # @raise [ConfigError] otherwise
    def self.check(options, types)
      raise ConfigError, "'backend' not specified in simpkv configuration" if options['backend'].nil?

      name = Config.coerce(:string, options['backend'], "'backend' in simpkv configuration")
      backends = Config.backends_of(options)
      chosen = backends[name]
      unless complete?(chosen)
        raise ConfigError, "No simpkv backend '#{name}' with 'id' and 'type' attributes has been configured: " \
                           "#{Remedies.of_backend(name, backends)}"
      end

      wrong, = backends.find { |_, backend| !backend.is_a?(Hash) }
      raise ConfigError, "simpkv backend '#{wrong}' is not a Hash" if wrong

      settings = settings(chosen, name, types)
      check_encryption(chosen, settings, name)
      check_audit(settings, name)
      check_case_policy(settings, options) if settings['type'] == 'ldap'
      check_unique(backends)
      check_isolation(settings, name, backends)
      refuse_unknown(options)
    end

    # The options that each call takes from its own configuration.
    OF_CALLS = %w[history].freeze
    private_constant :OF_CALLS

    # Compares two configurations of one type and id, with their defaults.
    #
    # @param first [Hash] the options of one backend
    # @param second [Hash] those of the other
    # @return [Array(Array<String>, Array<String>)] the names of the options that differ: first those that say where
    #   the keys are, then the others
    def self.differences(first, second)
      first = with_defaults(first)
      second = with_defaults(second)
      names = ((first.keys | second.keys) - OF_CALLS).reject { |name| first[name] == second[name] }
      names.partition { |name| Config::LOCATION_NAMES.include?(name) }
    end

    # Checks that a backend stays where it is for a whole catalog: with another place, a purge for instance could take
    # one store for two.
    #
    # @param first [Hash] the options of a backend that the catalog uses
    # @param second [Hash] other options of the same type and id
    # @return [Array<String>] the names of the other options that differ
    # @raise [ConfigError] options differ that say where the keys are
    def self.check_same(first, second)
      location, others = differences(first, second)
      return others if location.empty?

      type, id = second.values_at('type', 'id')
      raise ConfigError, "this catalog contains different backend configs for type=#{type} id=#{id}: they differ in " \
                         "#{location.join(', ')}"
    end

    class << self
      private

      def refuse_unknown(options)
        doubt = Config.doubts(options).first if Config.flag(options, 'strict_options')
        raise ConfigError, doubt if doubt
      end

      def complete?(backend)
        backend.is_a?(Hash) && %w[type id].none? { |name| backend[name].nil? || backend[name] == '' }
      end

      # Of a third-party type, only the options of every type are known.
      def settings(backend, name, types)
        type = Config.coerce(:string, backend['type'], "'type' of simpkv backend '#{name}'")
        return Config.typed(backend, name) if types.include?(type)

        raise ConfigError, "simpkv backend plugin '#{type}' not available: #{Remedies.of_type(type, types)}"
      end

      # Without the file of keys, nothing would be protected.
      def check_encryption(given, settings, name)
        return refuse_unprotected(given, settings, name) unless settings['encryption_keys']
        return if settings['encrypt'] == 'all' || !settings['encrypted_only']

        raise ConfigError, "'encrypted_only' of simpkv backend '#{name}' needs 'encrypt' all: documents that are " \
                           'stored plain could not be read'
      end

      def refuse_unprotected(given, settings, name)
        option = %w[encrypt encrypted_only].find { |each| given[each] && ![false, 'none'].include?(settings[each]) }
        return unless option

        raise ConfigError, "'#{option}' of simpkv backend '#{name}' needs 'encryption_keys': the file of the keys " \
                           "('simpkv keys generate' makes it)"
      end

      # The log would be listed as a key.
      def check_audit(settings, name)
        to = settings.dig('audit', 'to')
        root = settings['root_path']
        return unless to && root && to.start_with?("#{root}/")

        raise ConfigError, "'to' of 'audit' of simpkv backend '#{name}' is inside 'root_path', the folder of the " \
                           'keys: choose another folder'
      end

      # The keys of a store inside another one would be in an environment of that one.
      def check_isolation(settings, name, backends)
        others = backends.values.select { |other| complete?(other) && other['id'] != settings['id'] }
        problem = Isolation.problem(settings['type'], settings) || Isolation.clash(settings, others)
        raise ConfigError, "simpkv backend '#{name}': #{problem}" if problem
      end

      def check_case_policy(settings, options)
        name = options['backend']
        if settings['case_sensitive'] && settings['layout'] == 'plain'
          raise ConfigError, "'case_sensitive' of simpkv backend '#{name}' needs 'layout' hex: in the plain layout " \
                             'the case of letters does not count'
        end
        return if settings['fold_case']

        refuse_upper_case("'id' of simpkv backend '#{name}'", settings['id']) if settings['layout'] == 'plain'
        refuse_upper_case('environment', options['environment'].to_s) unless options['global']
      end

      def refuse_upper_case(subject, name)
        return unless name.match?(/[[:upper:]]/)

        raise ConfigError, "#{subject} '#{name}' has capital letters, which do not count in a directory: it would " \
                           "share its keys with '#{name.downcase}'. If that is wanted, set 'fold_case'"
      end

      def check_unique(backends)
        complete = backends.select { |_, backend| complete?(backend) }
        complete.group_by { |_, backend| backend.values_at('type', 'id') }.each do |(type, id), same|
          first, *others = same.map { |_, backend| normalized(backend) }
          next if others.all?(first)

          raise ConfigError, "simpkv configuration contains different backend configs for type=#{type} id=#{id}: " \
                             "'#{same.map(&:first).join("', '")}'"
        end
      end

      # A configuration with its defaults, unknown options included. One with a wrong value stays as it is: only the
      # values of the chosen backend are checked.
      def normalized(backend)
        backend.compact.merge(with_defaults(backend)).reject { |name, _| OF_CALLS.include?(name) }
      rescue ConfigError
        backend
      end

      def with_defaults(backend)
        typed = Config.typed(backend, backend['id'])
        known = Config::TYPES[backend['type']]
        return backend.merge(typed) unless known

        { 'root_path' => Config.default_root_path(backend['id']), 'write_uri' => typed['ldap_uri'],
          'enable_tls' => false }.slice(*known.map(&:name)).merge(typed)
      end
    end
  end
end
