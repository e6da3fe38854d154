# frozen_string_literal: true

module Simpkv
  # Converts the values of options, as Hiera and manifests give them, to the types of the libraries. Text may stand for
  # a number, and for true and false.
  module Coercion
    # By type: a lambda that converts a value, and returns nil for an invalid one; and a description of valid values.
    TYPES = {
      string: [->(value) { text(value) }, 'a String that is not empty'],
      hash: [->(value) { value if value.is_a?(Hash) }, 'a Hash'],
      list: [->(value) { value if value.is_a?(Array) }, 'a list'],
      boolean: [->(value) { { true => true, 'true' => true, false => false, 'false' => false }[value] },
                'true or false'],
      id: [->(value) { id(value) }, "a name: a String without '/' and control characters, other than '.' and '..'"],
      environment: [->(value) { environment(value) }, "the name of an environment, but not 'bolt_catalog'"],
      path: [->(value) { path(value) }, 'an absolute path'],
      seconds: [->(value) { seconds(value) }, 'a number of seconds, 0 or more'],
      duration: [->(value) { (number = seconds(value)) && number.positive? ? number : nil },
                 'a number of seconds, more than 0'],
      uris: [->(value) { uris(value) }, 'a URI, or a list of them'],
      audit_target: [->(value) { audit_target(value) },
                     "'syslog', 'syslog:' and the absolute path of a socket, or an absolute path"],
      any: [->(value) { value }, 'a value of any type'],
      folder: [->(value) { value if value.is_a?(String) && !value.include?("\0") }, 'the name of a folder'],
      patterns: [->(value) { patterns(value) }, 'a list of regular expressions'],
      pattern: [->(value) { pattern(value) }, 'a regular expression'],
      scope: [->(value) { value if text(value) && value.length <= 255 }, 'a String of 1 to 255 characters'],
      globs: [->(value) { texts(value) }, 'a list of globs'],
      names: [->(value) { texts(value) }, 'a list of names'],
      words: [->(value) { words(value) }, 'a list of names with a letter or digit each'],
      lifetime: [->(value) { lifetime(value) },
                 'a number of seconds, more than 0, or a number with s, m, h, d or y, such as 14d']
    }.freeze
    SECONDS = { '' => 1, 's' => 1, 'm' => 60, 'h' => 3600, 'd' => 86_400, 'y' => 31_536_000 }.freeze
    private_constant :TYPES, :SECONDS

    # @param type [Symbol, Range, Array<String>] a name in the table above; a range of whole numbers; a list of choices
    # @param value [Object]
    # @return [Object, nil] the converted value; nil for an invalid one
    def self.convert(type, value)
      case type
      when Range then whole(value, type)
      when Array then value if type.include?(value)
      else TYPES.fetch(type).first.call(value)
      end
    end

    # @return [String] a description of the valid values of that type
    def self.needed(type)
      case type
      when Range then "a whole number from #{type.min} to #{type.max}"
      when Array then "a String, #{type[0..-2].join(', ')} or #{type.last}"
      else TYPES.fetch(type).last
      end
    end

    # @param type [Symbol, Range, Array<String>] as of {convert}
    # @param value [Object] an invalid one
    # @return [String] why, beyond {needed}, without the value; empty if there is no more to say
    def self.fault(type, value)
      return '' unless type == :pattern || (type == :patterns && value.is_a?(Array) && value.all?(String))

      number = Array(value).index { |pattern| mistake(pattern) }
      place = "number #{number + 1} of the list: " if type == :patterns
      ": #{place}#{mistake(Array(value)[number])}"
    end

    class << self
      private

      # @return [String, nil] what is wrong with a regular expression, without the expression
      def mistake(pattern)
        return 'it is no String, or empty' unless text(pattern)

        Regexp.new(pattern)
        nil
      rescue RegexpError, ArgumentError => e
        e.message.sub(%r{: /.*}m, '')
      end

      def text(value)
        value if value.is_a?(String) && !value.empty? && !value.include?("\0")
      end

      def id(value)
        return unless text(value) && value.valid_encoding? && !['.', '..'].include?(value)

        value unless value.match?(%r{[[:cntrl:]/]})
      end

      # Puppet's own rule for names, without the name that Bolt makes up.
      def environment(value)
        value if text(value) && value.match?(/\A\w+\z/) && value != 'bolt_catalog'
      end

      def path(value)
        return unless text(value) && value.start_with?('/')

        value.squeeze('/').sub(%r{(?<=.)/\z}, '')
      end

      # The path of a socket has at most 107 bytes.
      def audit_target(value)
        return path(value) unless value.is_a?(String) && value.start_with?('syslog')

        value if value.match?(%r{\Asyslog(:/[^\0]{0,106})?\z})
      end

      def seconds(value)
        value = Float(value) if value.is_a?(String)
        value if value.is_a?(Numeric) && value.real? && value >= 0 && value.to_f.finite?
      rescue ArgumentError
        nil
      end

      def texts(value)
        value if value.is_a?(Array) && value.all? { |member| text(member) }
      end

      def words(value)
        texts(value)&.all? { |name| name.match?(/\A[^[:cntrl:]]*[[:alnum:]][^[:cntrl:]]*\z/) } ? value : nil
      end

      # As Puppet writes durations in its settings.
      def lifetime(value)
        number, unit = value.to_s.match(/\A(\d{1,9})([smhdy]?)\z/)&.captures
        number.to_i * SECONDS[unit] if number.to_i.positive?
      end

      def whole(value, range)
        value = value.to_i if value.is_a?(String) && value.match?(/\A-?\d{1,9}\z/)
        value if value.is_a?(Integer) && range.cover?(value)
      end

      # One Regexp for all. It matches anywhere in a text, as with Hiera's other backends.
      def patterns(value)
        return unless value.is_a?(Array) && value.all?(String)

        Regexp.union(value.map { |pattern| Regexp.new(pattern) })
      rescue RegexpError, ArgumentError
        nil
      end

      def pattern(value)
        Regexp.new(value) if text(value)
      rescue RegexpError
        nil
      end

      # One String, the URIs separated by single spaces, so that a list and the same text are equal. They have the form
      # of the statistics and messages of the core, so that they can be compared as text. A malformed URI stays as it
      # is: its user says what is wrong with it.
      def uris(value)
        list = value.is_a?(Array) ? value : [value]
        return unless list.all? { |uri| text(uri) }

        words = list.join(' ').split(/[\s,]+/).reject(&:empty?).join(' ')
        words.empty? ? nil : Native.ldap_uris(words)
      rescue InvalidError
        words
      end
    end
  end
end
