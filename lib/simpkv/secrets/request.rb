# frozen_string_literal: true

require 'simpkv/errors'

module Simpkv
  class Secrets
    # What a caller wants of a secret: its kind and how to make it, and the form or the part that the caller gets. The
    # core checks the options of kinds and formats when it makes something: simpkv_secret.h describes them.
    class Request
      # Options of a form, and those of a secret that is made.
      FORM = %w[format cost].freeze
      MAKING = %w[kind length alphabet at_least words separator minimum_bits bits curve comment subject names days
                  key_type ca issuer].freeze
      NAMES = [*FORM, 'part', *MAKING].freeze

      # The format and the part that are the secret itself.
      PLAIN = 'plain'

      # The part that is the revocation list of a CA.
      LIST = 'crl'

      # The formats without a salt, which are made in each call. The core tells the same with each form that it makes;
      # this list is for a decision before that. spec/unit/secrets_spec.rb compares both.
      SALTLESS = %w[base64 hex mysql_native_password].freeze
      WHOLE = [nil, 'private', 'value'].freeze
      private_constant :PLAIN, :SALTLESS, :WHOLE

      # @param options [Hash{String => Object}] of a call
      # @return [Array(Request, Hash)] what they say of the secret, and the others
      # @raise [ConfigError] an option is of the wrong type, or does not fit another one
      def self.split(options)
        own, others = options.partition { |name, _| NAMES.include?(name) }.map(&:to_h)
        [new(own), others]
      end

      # @return [String, nil] the kind that the caller names
      attr_reader :kind

      # @return [String, nil] the part of the secret that the caller wants; nil for the secret itself
      attr_reader :part

      # @param options [Hash{String => Object}] those of {NAMES}; undef counts as absent
      # @raise [ConfigError] as {split}
      def initialize(options)
        @options = options.compact.transform_values { |value| value.is_a?(Hash) ? value.compact : value }
        %w[kind format part issuer].each { |name| check_text(name) }
        refuse_nul(@options)
        @kind = @options['kind']
        @format = @options['format'] unless @options['format'] == PLAIN
        @part = @options['part'] unless WHOLE.include?(@options['part'])
        check_fit
      end

      # @return [String, nil] the name of the form in a document, with the cost if the caller chooses it; nil for the
      #   secret itself or a part of it
      def form
        @format && [@format, @options['cost']].compact.join(':')
      end

      # @return [Boolean] whether the caller wants the revocation list of a CA
      def list?
        @part == LIST
      end

      # @return [Boolean] whether the form is the same in each call
      def saltless?
        SALTLESS.include?(@format)
      end

      # @return [Hash{String => Object}] the request for {Native.secret_form}
      def of_form
        @options.slice(*FORM)
      end

      # @return [Hash{String => Object}] the request for {Native.secret_make}
      def of_making
        { 'kind' => 'password' }.merge(making)
      end

      # @return [Hash{String => Object}] what the caller says of the secret to make
      def making
        @options.slice(*MAKING)
      end

      private

      def check_text(name)
        value = @options[name]
        return if value.nil? || (value.is_a?(String) && !value.empty?)

        raise ConfigError, "option '#{name}': expected a text that is not empty"
      end

      # In C, a NUL would end the text.
      def refuse_nul(value)
        case value
        when Hash, Array then value.each { |each| refuse_nul(each) }
        when String then raise ConfigError, 'an option of the secret has a NUL character' if value.b.include?("\0")
        end
      end

      def check_fit
        if @format && @part
          raise ConfigError, "options 'format' and 'part' exclude each other: a format is one of the secret itself"
        end
        return unless @options.key?('cost')
        raise ConfigError, "option 'cost' is for a 'format' such as yescrypt" unless @format

        raise ConfigError, "option 'cost': expected an integer" unless @options['cost'].is_a?(Integer)
      end
    end
  end
end
