# frozen_string_literal: true

require 'simpkv/audit/line'

module Simpkv
  module Audit
    # Reads an audit log, and after a rotation also the file before it, NAME.1, backwards for the changes of one key. A
    # file may have gigabytes: one block of it is in memory at a time, and the lines of other keys are not parsed.
    class Trail
      BLOCK = 1 << 20
      # Longer than any line about a key.
      LINE_MAX = 1 << 16
      # The operations that may change the document of a key.
      CHANGES = %w[put put_many delete rekey].freeze
      # How far lines may be from the order of their times: lines are written at the end of operations.
      DISORDER = 600
      TIME = /\A\{"time":"([^"]{20,32})"/n.freeze
      private_constant :BLOCK, :LINE_MAX, :CHANGES, :DISORDER, :TIME

      # @param file [String] the option `to`
      # @param backend [String] `<type>/<id>`
      # @param path [String] of a key in the store
      def initialize(file, backend, path)
        @file = file
        @about = Line.new(backend, '', '', '').about(path).b
      end

      # Yields the changes of the key, the newest first: lines of writes that were done, or may have been done.
      #
      # @param since [Time, nil] lines from before that time may be left out
      # @yieldparam line [Hash{String => Object}]
      # @return [nil]
      # @raise [SystemCallError] the file cannot be read
      # @raise [InvalidError] it is not a file
      def each(since: nil, &block)
        @since = since && (since - DISORDER).utc.strftime('%Y-%m-%dT%H:%M:%S')
        identity = read(@file, &block)
        return if identity.nil?

        begin
          read("#{@file}.1", identity, &block)
        rescue Errno::ENOENT
          nil
        end
        nil
      end

      private

      # @param other [Array, nil] the identity of a file that was read already, under another name
      # @return [Array, nil] the identity of the file; nil if older lines are not wanted
      def read(name, other = nil, &block)
        File.open(name, File::RDONLY | File::NONBLOCK | File::NOFOLLOW) do |file|
          stat = file.stat
          raise InvalidError, "the audit log '#{name}' is not a regular file" unless stat.file?

          identity = [stat.dev, stat.ino]
          return nil if identity == other

          read_backwards(file, stat.size, &block) ? identity : nil
        end
      end

      # @return [Boolean] false if it stopped at a line that is too old
      def read_backwards(file, place, &block)
        rest = ''.b
        until place.zero?
          size = [BLOCK, place].min
          place -= size
          text = file.pread(size, place) << rest
          rest = place.zero? ? ''.b : beginning(text)
          lines = text.byteslice(rest.bytesize, text.bytesize)
          each_in(lines, &block)
          return false if old?(lines)

          rest = ''.b if rest.bytesize > LINE_MAX
        end
        true
      end

      # @return [String] the end of a line that begins in the block before
      def beginning(text)
        length = text.index("\n")
        length ? text.byteslice(0, length + 1) : text
      end

      def each_in(lines)
        return unless lines.include?(@about)

        lines.each_line.select { |line| line.include?(@about) }.reverse_each do |line|
          parsed = parse(line)
          yield parsed if parsed && change?(parsed)
        end
      end

      # A line that was cut off, by a full disk for instance, says nothing.
      def parse(line)
        parsed = Native.parse(line)
        parsed if parsed.is_a?(Hash) && parsed['time'].is_a?(String)
      rescue Error
        nil
      end

      def change?(line)
        CHANGES.include?(line['operation']) && (Changes.done?(line) || Changes.in_doubt?(line))
      end

      def old?(lines)
        @since && (time = lines[TIME, 1]) && time < @since
      end
    end
  end
end
