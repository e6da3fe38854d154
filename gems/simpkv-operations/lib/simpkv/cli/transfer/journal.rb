# frozen_string_literal: true

require 'digest/sha2'
require 'simpkv/cli/transfer/lines'

module Simpkv
  module Cli
    # The journal of a transfer, which is written ahead of each change so that the change can be undone: a line that
    # identifies the backend, a line for each key with its old document, and a last line.
    #
    #     {"simpkv":"journal","version":1,"target":{...},"source":"...","began":"..."}
    #     {"path":"globals/a","new":"<SHA-256>","old":null}
    #     {"ended":"..."}
    #
    # The file contains documents, and only its owner can read it. A resumed transfer appends to it.
    class Journal
      # A planned change of a key: its old document, nil for a new key, and the SHA-256 of the new document.
      Change = Struct.new(:path, :old, :digest)

      class << self
        # Creates a journal.
        #
        # @param file [String] which must not exist
        # @param header [Hash] `target` and `source`
        # @return [Journal]
        # @raise [Failure]
        def create(file, header)
          new(File.new(file, File::WRONLY | File::CREAT | File::EXCL, 0o600)).tap { |journal| journal.begin(header) }
        rescue Errno::EEXIST
          raise Failure.new("#{file}: this journal exists already: --resume continues its run, --journal names " \
                            'another file', Failure::CANNOT_CREATE)
        rescue SystemCallError => e
          raise Failure.new("#{file}: the journal cannot be written: #{e.class.new.message}", Failure::CANNOT_CREATE)
        end

        # Opens a journal to append to it.
        #
        # @param header [Hash] `target` and `source`, which must equal those of the journal
        # @return [Journal]
        # @raise [Failure]
        def resume(file, header)
          # Locked before anything is read or cut, because another process may be writing.
          io = open_own(file, File::RDWR | File::APPEND)
          journal = new(io)
          state = read_from(io) { nil }
          check(file, state, header)
          # Cuts a line that a kill has truncated.
          io.truncate(state['size'])
          journal
        end

        # @yieldparam change [Change]
        # @return [Hash] the members of its first line, `ended`, and `size`, the number of bytes of complete lines
        # @raise [Failure] it is no journal, belongs to another user, or is being written
        def read(file, &block)
          io = open_own(file, File::RDONLY)
          new(io)
          read_from(io, &block)
        ensure
          io&.close
        end

        # @return [String, nil] the newest unfinished journal of that transfer in the working directory
        def unfinished(pattern, header)
          Dir.glob(pattern).sort.reverse.find do |file|
            state = read(file) { nil }
            !state['ended'] && state.slice(*header.keys) == header
          rescue Failure
            false
          end
        end

        # @raise [Failure] the journal is that of another run
        def check(file, state, header)
          differing = header.keys.reject { |name| state[name] == header[name] }
          return if differing.empty?

          raise Failure.new("#{file}: this is the journal of another run: it has another " \
                            "#{differing.join(' and ')}", Failure::USAGE)
        end

        private

        # A rollback obeys the journal, so only this user may own and change it.
        def open_own(file, flags)
          io = File.new(file, flags | File::NOFOLLOW | File::NONBLOCK)
          stat = io.stat
          return io if stat.file? && stat.owned? && stat.mode.nobits?(0o022)

          io.close
          raise Failure.new("#{file}: a journal must be a file that belongs to you, and that nobody else can change",
                            Failure::NO_PERMISSION)
        rescue SystemCallError => e
          raise Failure.new("#{file}: the journal cannot be read: #{e.class.new.message}", Failure::NO_INPUT)
        end

        def read_from(stream, &block)
          header = nil
          size = 0
          stream.each_line do |line|
            break unless line.end_with?("\n")

            size += line.bytesize
            members = Lines.parse(line.force_encoding(Encoding::UTF_8))
            header ? note(members, header, &block) : header = begun(members)
          end
          (header || raise(MalformedError, 'empty')).merge('size' => size)
        rescue MalformedError
          raise Failure.new("#{stream.path}: this is not a journal of simpkv, or it is damaged", Failure::DATA),
                cause: nil
        end

        def begun(members)
          raise MalformedError unless members['simpkv'] == 'journal' && members['version'] == 1

          members
        end

        def note(members, header)
          if members.key?('ended')
            header['ended'] = members['ended']
          else
            header.delete('ended')
            yield Change.new(Lines.path(members), Lines.document(members, 'old'), members.fetch('new'))
          end
        rescue KeyError
          raise MalformedError, cause: nil
        end
      end

      # @return [String]
      def file
        @io.path
      end

      def initialize(stream)
        @io = stream
        # Otherwise, close would write again what a full disk has refused.
        @io.sync = true
        @lock = Mutex.new
        return if @io.flock(File::LOCK_EX | File::LOCK_NB)

        raise Failure.new("#{@io.path}: another process is writing it", Failure::TEMPORARY)
      end

      # Writes the first line, or removes the file: without that line it is no journal.
      #
      # @param header [Hash] `target` and `source`
      # @return [void]
      # @raise [Failure] the disk is full, or broken
      def begin(header)
        write({ 'simpkv' => 'journal', 'version' => 1, **header, 'began' => Time.now.utc.strftime('%FT%TZ') })
      rescue Failure
        File.unlink(file)
        @io.close
        raise
      end

      # Writes changes, and returns when they are on the disk.
      #
      # @param changes [Array<Change>]
      # @return [void]
      # @raise [Failure] as {#begin}
      def record(changes)
        write(*changes.map do |change|
          { 'path' => change.path, 'new' => change.digest, **Lines.member('old', change.old) }
        end)
      end

      # @param whole [Boolean] whether the transfer is complete
      # @return [void]
      def close(whole)
        write('ended' => Time.now.utc.strftime('%FT%TZ')) if whole
        @io.close
      end

      private

      def write(*objects)
        text = objects.map { |members| Lines.line(members) }.join
        @lock.synchronize do
          @io.write(text)
          @io.fdatasync
        end
      rescue SystemCallError => e
        raise Failure.new("#{file}: the journal cannot be written: #{e.class.new.message}", Failure::IO), cause: nil
      end
    end
  end
end
