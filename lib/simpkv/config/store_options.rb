# frozen_string_literal: true

require 'simpkv/errors'
require 'simpkv/config/isolation'
require 'simpkv/config/options'

module Simpkv
  # Turns the options of a store into those of the core, which are text, with times in milliseconds.
  module StoreOptions
    # The longest timeout of the core, in milliseconds: some 285,000 years.
    LONGEST_MS = 2**53
    private_constant :LONGEST_MS

    class << self
      # @param type [String]
      # @param options [Hash{String => Object}]
      # @return [Array(Hash{String => String}, Integer)] the options of the core; the time of a call in milliseconds
      # @raise [ConfigError] an option has the wrong type, or the store would be inside another one
      def convert(type, options)
        refuse_nesting(type, options)
        time = Config::CALL_TIME[type]
        converted = options.reject { |name, _| name == time&.name }
        converted = converted.to_h { |name, value| text(name, value, type) }
        converted.each { |name, value| require_string(name, value) }
        [converted, time ? milliseconds(time.name, options[time.name] || time.default) : 0]
      end

      private

      # The keys of a store inside another one would be keys of an environment of the outer store.
      def refuse_nesting(type, options)
        if type == 'ldap' && options['id'].to_s.include?('/')
          raise ConfigError, "'id' of a store must be #{Coercion.needed(:id)}"
        end

        problem = Isolation.problem(type, options)
        raise ConfigError, problem if problem
      end

      def text(name, value, type)
        return [name.sub(/_seconds\z/, '_ms'), milliseconds(name, value).to_s] if name.to_s.end_with?('_seconds')

        case value
        when true, false, Integer then [name, value.to_s]
        when Array then [name, uris?(type, name) ? value.join(' ') : value]
        else [name, value]
        end
      end

      def uris?(type, name)
        Config::TYPES.fetch(type, []).any? { |option| option.name == name && option.type == :uris }
      end

      def milliseconds(name, seconds)
        unless seconds.is_a?(Numeric) && seconds.real? && seconds >= 0
          raise ConfigError, "'#{name}' must be a number, 0 or more"
        end

        [seconds * 1000, LONGEST_MS].min.ceil
      end

      def require_string(name, value)
        return if name.is_a?(String) && value.is_a?(String)

        raise ConfigError, "option '#{name}' of a store must be a String, not #{value.class}"
      end
    end
  end
end
