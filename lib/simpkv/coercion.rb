# frozen_string_literal: true

module Simpkv
  # Turns what Hiera and manifests give into what the libraries take. Text is taken for a number, or for true and false.
  module Coercion
    # By type: what converts a value, and answers nil for one that will not do; and what would do, in words.
    TYPES = {
      string: [->(value) { text(value) }, 'a String that is not empty'],
      hash: [->(value) { value if value.is_a?(Hash) }, 'a Hash'],
      boolean: [->(value) { { true => true, 'true' => true, false => false, 'false' => false }[value] },
                'true or false'],
      id: [->(value) { id(value) }, "a name: a String without '/' and control characters, other than '.' and '..'"],
      environment: [->(value) { environment(value) }, "the name of an environment, but not 'bolt_catalog'"],
      path: [->(value) { path(value) }, 'an absolute path'],
      seconds: [->(value) { seconds(value) }, 'a number of seconds, 0 or more'],
      duration: [->(value) { (found = seconds(value)) && found.positive? ? found : nil },
                 'a number of seconds, more than 0'],
      uris: [->(value) { uris(value) }, 'a URI, or a list of them'],
      layout: [->(value) { value if %w[plain hex].include?(value) }, 'a String, plain or hex'],
      any: [->(value) { value }, 'a value of any type'],
      missing: [->(value) { value if %w[fail empty].include?(value) }, 'a String, fail or empty'],
      errors: [->(value) { value if %w[fail return].include?(value) }, 'a String, fail or return'],
      noop_writes: [->(value) { value if %w[write skip].include?(value) }, 'a String, write or skip'],
      folder: [->(value) { value if value.is_a?(String) && !value.include?("\0") }, 'the name of a folder'],
      dots: [->(value) { value if %w[keep folders].include?(value) }, 'a String, keep or folders'],
      patterns: [->(value) { patterns(value) }, 'a list of regular expressions'],
      retries: [->(value) { whole(value, 0..100) }, 'a whole number from 0 to 100'],
      pool_size: [->(value) { whole(value, 1..1000) }, 'a whole number from 1 to 1000'],
      page_size: [->(value) { whole(value, 1..100_000) }, 'a whole number from 1 to 100000']
    }.freeze
    private_constant :TYPES

    # @param type [Symbol]
    # @param value [Object]
    # @return [Object, nil] the value as its type has it; nil when it will not do
    def self.convert(type, value)
      TYPES.fetch(type).first.call(value)
    end

    # @return [String] what a value of that type must be, in words
    def self.needed(type)
      TYPES.fetch(type).last
    end

    class << self
      private

      def text(value)
        value if value.is_a?(String) && !value.empty? && !value.include?("\0")
      end

      def id(value)
        return unless text(value) && value.valid_encoding? && !['.', '..'].include?(value)

        value unless value.match?(%r{[[:cntrl:]/]})
      end

      # As Puppet takes them.
      def environment(value)
        value if text(value) && value.match?(/\A\w+\z/) && value != 'bolt_catalog'
      end

      def path(value)
        return unless text(value) && value.start_with?('/')

        value.squeeze('/').sub(%r{(?<=.)/\z}, '')
      end

      def seconds(value)
        value = Float(value) if value.is_a?(String)
        value if value.is_a?(Numeric) && value.real? && value >= 0 && value.to_f.finite?
      rescue ArgumentError
        nil
      end

      def whole(value, range)
        value = value.to_i if value.is_a?(String) && value.match?(/\A\d{1,9}\z/)
        value if value.is_a?(Integer) && range.cover?(value)
      end

      # One for all of them. That it matches anywhere in a text is what Hiera's other backends do.
      def patterns(value)
        return unless value.is_a?(Array) && value.all?(String)

        Regexp.union(value.map { |pattern| Regexp.new(pattern) })
      rescue RegexpError, ArgumentError
        nil
      end

      # One String, the URIs separated by single spaces: a list of them is the same as that.
      def uris(value)
        list = value.is_a?(Array) ? value : [value]
        return unless list.all? { |uri| text(uri) }

        words = list.join(' ').split(/[\s,]+/).reject(&:empty?)
        words.join(' ') unless words.empty?
      end
    end
  end
end
