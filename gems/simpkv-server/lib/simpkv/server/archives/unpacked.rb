# frozen_string_literal: true

require 'rubygems/package'
require 'zlib'
require 'simpkv/server/problem'

module Simpkv
  module Server
    module Archives
      # Reads a tar.gz: its entries one after the other, and then the rest, so that its checksum is checked. It unpacks
      # a limited number of bytes.
      class Unpacked
        # The bytes that a byte of the archive may unpack to, beside those of one command.
        RATIO = 100
        CHUNK = 64 * 1024
        # The size of a block of tar: the contents of an entry fill whole ones.
        BLOCK = 512
        MALFORMED = [Zlib::Error, Gem::Package::Error, ArgumentError].freeze
        private_constant :RATIO, :CHUNK, :BLOCK, :MALFORMED

        # @param file [File]
        # @param bytes [Integer] of a command
        def initialize(file, bytes)
          @file = file
          @limit = (RATIO * file.size) + bytes
          @gzip = checked { Zlib::GzipReader.new(file) }
        end

        # @yieldparam entry [Gem::Package::TarReader::Entry]
        # @return [void]
        # @raise [Problem] it is no tar.gz, is not whole, has something after its end, or is too large
        def each
          while (entry = entry_here)
            past = pos + (entry.header.size.fdiv(BLOCK).ceil * BLOCK)
            yield entry
            read([CHUNK, past - pos].min) while pos < past
          end
          finish
        end

        # TarReader calls this, and {#read}.
        def pos
          @gzip.pos
        end

        def read(bytes)
          part = checked { @gzip.read(bytes) }.to_s
          malformed if part.bytesize < bytes
          limit
          part
        end

        private

        # @return [Gem::Package::TarReader::Entry, nil] nil at the end
        def entry_here
          checked do
            next if @gzip.eof?

            header = Gem::Package::TarHeader.from(self)
            Gem::Package::TarReader::Entry.new(header, self) unless header.empty?
          end
        end

        def finish
          checked { limit while @gzip.read(CHUNK) }
          malformed if @gzip.unused || !@file.eof?
        end

        def limit
          return if pos <= @limit

          raise Problem.new(413, "archive: it unpacks to more than #{RATIO} times its size and 'command_bytes'")
        end

        def checked
          yield
        rescue *MALFORMED
          malformed
        end

        def malformed
          raise Problem.new(400, 'archive: it must be a tar.gz, whole'), cause: nil
        end
      end
      private_constant :Unpacked
    end
  end
end
