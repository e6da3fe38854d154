# frozen_string_literal: true

module Simpkv
  module Cli
    # The lines of exports and journals, one JSON object each. A document is text, which keeps its bytes, or base64 if
    # it is not UTF-8.
    module Lines
      # The paths of keys.
      KEY = %r{\A(globals|environments/[^/]+)/[^[:cntrl:]]+\z}.freeze
      private_constant :KEY

      class << self
        # @param members [Hash]
        # @return [String] the line, with its newline
        def line(members)
          "#{Native.generate(members)}\n"
        end

        # @param name [String] of the member
        # @param document [String, nil]
        # @return [Hash{String => String, nil}] the member; `64` follows its name if it is in base64
        def member(name, document)
          return { name => document } if document.nil?

          text = document.encoding == Encoding::UTF_8 ? document : document.dup.force_encoding(Encoding::UTF_8)
          text.valid_encoding? ? { name => text } : { "#{name}64" => [document].pack('m0') }
        end

        # @return [Hash]
        # @raise [MalformedError] the line is no JSON object
        def parse(line)
          parsed = Native.parse(line)
          parsed.is_a?(Hash) ? parsed : raise(MalformedError, 'not an object')
        end

        # @return [String] the path of a key, which is the member `path`
        # @raise [MalformedError] it is no path of a key
        def path(members)
          path = members['path']
          return path if path.is_a?(String) && path.match?(KEY) && Native.key_join('', path) == path

          raise MalformedError, "'path' is not that of a key"
        rescue InvalidError, TooLargeError
          raise MalformedError, "'path' is not that of a key", cause: nil
        end

        # @return [String, nil] the document of a {member}
        # @raise [MalformedError] the member is missing
        def document(members, name)
          encoded = members["#{name}64"]
          value = encoded ? encoded.unpack1('m0') : members.fetch(name)
          return value if value.nil? || value.is_a?(String)

          raise MalformedError, "'#{name}' is not a String"
        rescue KeyError, ArgumentError, NoMethodError
          raise MalformedError, "'#{name}' is missing", cause: nil
        end
      end
    end
  end
end
