# frozen_string_literal: true

module Simpkv
  module Cli
    # One JSON object a line, as exports and journals have them. A document stands there as text, so that it comes back
    # to the byte; one that is not UTF-8 in base64.
    module Lines
      # Where keys can be.
      KEY = %r{\A(globals|environments/[^/]+)/[^[:cntrl:]]+\z}.freeze
      private_constant :KEY

      class << self
        # @param members [Hash]
        # @return [String] with the newline
        def line(members)
          "#{Native.generate(members)}\n"
        end

        # @param name [String] of the member
        # @param document [String, nil]
        # @return [Hash{String => String, nil}] the member, or with `64` behind its name
        def member(name, document)
          return { name => document } if document.nil?

          text = document.encoding == Encoding::UTF_8 ? document : document.dup.force_encoding(Encoding::UTF_8)
          text.valid_encoding? ? { name => text } : { "#{name}64" => [document].pack('m0') }
        end

        # @return [Hash]
        # @raise [MalformedError] it is no JSON object
        def parse(line)
          found = Native.parse(line)
          found.is_a?(Hash) ? found : raise(MalformedError, 'not an object')
        end

        # @return [String] the path of a key, as `path` has it
        # @raise [MalformedError] it is none
        def path(members)
          path = members['path']
          return path if path.is_a?(String) && path.match?(KEY) && Native.key_join('', path) == path

          raise MalformedError, "'path' is not that of a key"
        rescue InvalidError, TooLargeError
          raise MalformedError, "'path' is not that of a key", cause: nil
        end

        # @return [String, nil] the document of a {member}
        # @raise [MalformedError] there is none
        def document(members, name)
          encoded = members["#{name}64"]
          found = encoded ? encoded.unpack1('m0') : members.fetch(name)
          return found if found.nil? || found.is_a?(String)

          raise MalformedError, "'#{name}' is not a String"
        rescue KeyError, ArgumentError, NoMethodError
          raise MalformedError, "'#{name}' is missing", cause: nil
        end
      end
    end
  end
end
