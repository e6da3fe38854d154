# frozen_string_literal: true

require 'zlib'
require 'simpkv/server/problem'

module Simpkv
  module Server
    module Commands
      # Reads the bodies of commands, which may be compressed. Puma keeps a large body in a file. Large commands are
      # taken one at a time, so that the memory of the service has a bound. Thread-safe.
      class Intake
        # The number of bytes of a command that counts as small.
        SMALL = 1024 * 1024
        # The errors behind a header: others than these mean that the body is damaged.
        TRUNCATED = [Zlib::BufError, Zlib::GzipFile::Error, Zlib::GzipFile::NoFooter].freeze
        private_constant :SMALL, :TRUNCATED

        # @param limit [Integer] bytes of a command, when it is not compressed
        def initialize(limit)
          @limit = limit
          @large = Mutex.new
        end

        # @param body [IO, nil]
        # @param encoding [String, nil] the header Content-Encoding
        # @yieldparam text [String] the body in UTF-8, not compressed
        # @return [Object] what the block returns
        # @raise [Problem] the body is too large, or not compressed as the header says
        def read(body, encoding, &block)
          reader = reader(body, encoding)
          text = part(reader, SMALL)
          return yield utf8(text) if text.bytesize < SMALL

          @large.synchronize { read_large(reader, text, &block) }
        end

        private

        def read_large(reader, text)
          text << part(reader, @limit + 1 - text.bytesize)
          return yield utf8(text) if text.bytesize <= @limit

          raise Problem.new(413, "a command has at most #{@limit} bytes: 'command_bytes' of 'server'")
        end

        def reader(body, encoding)
          case encoding&.downcase
          when nil, '', 'identity' then body
          when 'gzip' then body && Zlib::GzipReader.new(body)
          else raise Problem.new(415, 'Content-Encoding: it must be gzip, or missing')
          end
        rescue Zlib::Error
          raise not_gzip, cause: nil
        end

        def part(reader, bytes)
          text = +''
          while text.bytesize < bytes && (more = reader&.read(bytes - text.bytesize))
            break if more.empty?

            text << more
          end
          text
        rescue Zlib::Error => e
          raise not_gzip, cause: nil unless TRUNCATED.include?(e.class)

          raise Problem.new(400, 'the body is compressed with gzip, but ends too early'), cause: nil
        end

        def not_gzip
          Problem.new(400, 'the body is not compressed with gzip')
        end

        def utf8(text)
          text.force_encoding(Encoding::UTF_8)
        end
      end
    end
  end
end
