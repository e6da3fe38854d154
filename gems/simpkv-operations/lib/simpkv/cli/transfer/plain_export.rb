# frozen_string_literal: true

require 'simpkv/cli/output'
require 'simpkv/cli/variables'
require 'yaml'

module Simpkv
  module Cli
    # Values in a form of other programs, without metadata: a file of Hiera, a JSON object, or variables for a shell.
    # Collects all keys first, because names may become equal.
    class PlainExport
      FORMATS = %w[hiera json env].freeze

      # @param format [String] one of {FORMATS}
      # @param root [String] the path of the folder to which the names are relative
      # @param reveal [Boolean] whether to write Sensitive values, in plain text
      # @param prefix [String] of variables
      def initialize(format, root, reveal, prefix)
        @format = format
        @root = root
        @reveal = reveal
        @prefix = prefix
        @values = Hash.new { |all, name| all[name] = {} }
        @secret = []
      end

      # Takes a key, unless it has expired.
      #
      # @param path [String]
      # @param document [String]
      # @return [void]
      # @raise [UnencodableError] the key cannot be written: why, without its value
      # @raise [MalformedError]
      def add(path, document)
        return if Versions.expired?(document)

        name = name(path.delete_prefix("#{@root}/"))
        decoded = RichData.decode(document)
        value = decoded[:value]
        if name == 'lookup_options' && @format == 'hiera' && !value.is_a?(Hash)
          raise UnencodableError, 'Hiera reads options under this name, and it is no Hash'
        end

        value = bare(value, name) if decoded[:encoding]
        @values[name][path] = written(value)
      end

      # @return [Integer] the number of keys in {text}
      def length
        single.length
      end

      # @return [String] the content of the file
      # @yieldparam path [String] of a key that is left out
      # @yieldparam why [String]
      def text
        @values.each do |name, keys|
          keys.each_key { |path| yield path, "#{keys.length} keys would be called '#{name}'" } if keys.length > 1
        end
        send(@format, single.sort.to_h)
      end

      private

      # @return [Hash{String => Object}] the values whose names no other key has
      def single
        @values.select { |_, keys| keys.length == 1 }.transform_values { |keys| keys.values.first }
      end

      def name(key)
        return key.gsub('/', '::') if @format == 'hiera'

        @format == 'env' ? Variables.name(key, @prefix) : key
      end

      # @return [Object] the value without types of Puppet; the whole value may be bytes
      def bare(value, name)
        revealed = revealed(value)
        unless revealed == value
          raise UnencodableError, 'it is Sensitive: --show-secrets writes it in plain text' unless @reveal

          @secret |= [name]
        end
        revealed = RichData.bytes(revealed) if RichData.object?(revealed, 'Binary')
        return revealed unless RichData.any?(revealed)

        raise UnencodableError, 'it has a part of a type of Puppet, such as a Binary or a Timestamp'
      end

      def revealed(data)
        RichData.replace(data, 'Sensitive') { |object| revealed(object[RichData::CONTENT]) }
      end

      # @return [Object] the value as the form has it
      def written(value)
        return Variables.word(value) if @format == 'env'
        return RichData.binary?(value) ? value : literal(value) if @format == 'hiera'
        raise UnencodableError, 'it is bytes, not text' if RichData.binary?(value)

        value
      end

      # Hiera would interpolate it.
      def literal(value)
        case value
        when String then value.gsub('%{', "%{literal('%')}{")
        when Array then value.map { |member| literal(member) }
        when Hash then value.to_h { |name, member| [literal(name), literal(member)] }
        else value
        end
      end

      # With an option that makes the values of Sensitive keys Sensitive again.
      def hiera(values)
        require 'yaml'
        secret = @secret.select { |name| values.key?(name) }.sort
        values = values.merge('lookup_options' => options(values['lookup_options'], secret)) if secret.any?
        values.to_yaml(line_width: -1)
      end

      # @param given [Hash, nil] the options of a key of that name
      # @return [Hash]
      def options(given, secret)
        secret.each_with_object((given || {}).dup) do |name, all|
          own = all[name]
          all[name] = (own.is_a?(Hash) ? own : {}).merge('convert_to' => 'Sensitive')
        end
      end

      def json(values)
        require 'json'
        "#{UnsafeCharacters.escaped_in_json(JSON.pretty_generate(values))}\n"
      end

      def env(values)
        values.map { |name, word| "#{name}=#{word}\n" }.join
      end
    end
  end
end
