# frozen_string_literal: true

require 'digest/sha2'
require 'simpkv/cli/lines'

module Simpkv
  module Cli
    # What a transfer is about to change, written before it is changed, so that it can be taken back: a line that says
    # which backend it is, one for each key with the document that it had, and one at the end.
    #
    #     {"simpkv":"journal","version":1,"target":{...},"source":"...","began":"..."}
    #     {"path":"globals/a","new":"<SHA-256>","old":null}
    #     {"ended":"..."}
    #
    # The file holds documents, and nobody else may read it. A transfer that goes on adds to it.
    class Journal
      # What was to happen to a key: the document that it had, nil for none, and the SHA-256 of the new one.
      Change = Struct.new(:path, :old, :digest)

      class << self
        # Begins one.
        #
        # @param file [String] which must not be there
        # @param header [Hash] `target` and `source`
        # @return [Journal]
        # @raise [Failure]
        def create(file, header)
          new(File.new(file, File::WRONLY | File::CREAT | File::EXCL, 0o600)).tap { |journal| journal.begin(header) }
        rescue Errno::EEXIST
          raise Failure.new("#{file}: a journal is there already: --resume goes on with it, --rollback takes back " \
                            'what it says, --journal names another file', Failure::CANNOT_CREATE)
        rescue SystemCallError => e
          raise Failure.new("the journal cannot be written: #{e.message}", Failure::CANNOT_CREATE)
        end

        # Goes on with one.
        #
        # @param header [Hash] `target` and `source`, which must be those that it began with
        # @return [Journal]
        # @raise [Failure]
        def resume(file, header)
          # Locked before anything is read or cut: its writer may still be at work.
          io = open_own(file, File::RDWR | File::APPEND)
          journal = new(io)
          found = read_from(io) { nil }
          check(file, found, header)
          # What a kill has left of a line.
          io.truncate(found['size'])
          journal
        end

        # @yieldparam change [Change]
        # @return [Hash] what its first line says, `ended` and `size`: how many bytes of it are whole lines
        # @raise [Failure] it is none, or somebody else's, or being written
        def read(file, &block)
          io = open_own(file, File::RDONLY)
          new(io)
          read_from(io, &block)
        ensure
          io&.close
        end

        # @return [String, nil] the newest journal in the working directory that has not ended, of that transfer
        def unfinished(pattern, header)
          Dir.glob(pattern).sort.reverse.find do |file|
            found = read(file) { nil }
            !found['ended'] && found.slice(*header.keys) == header
          rescue Failure
            false
          end
        end

        # @raise [Failure] it is not that of this transfer
        def check(file, found, header)
          differing = header.keys.reject { |name| found[name] == header[name] }
          return if differing.empty?

          raise Failure.new("#{file}: this is the journal of another transfer: it has another " \
                            "#{differing.join(' and ')}", Failure::USAGE)
        end

        private

        # What it says is done: it must be a file of this user's, which nobody else can change.
        def open_own(file, flags)
          io = File.new(file, flags | File::NOFOLLOW | File::NONBLOCK)
          stat = io.stat
          return io if stat.file? && stat.owned? && stat.mode.nobits?(0o022)

          io.close
          raise Failure.new("#{file}: a journal must be a file that belongs to you, and that nobody else can change",
                            Failure::NO_PERMISSION)
        rescue SystemCallError => e
          raise Failure.new("the journal cannot be read: #{e.message}", Failure::NO_INPUT)
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
        @lock = Mutex.new
        return if @io.flock(File::LOCK_EX | File::LOCK_NB)

        raise Failure.new("#{@io.path}: another process is writing it", Failure::TEMPORARY)
      end

      def begin(header)
        write({ 'simpkv' => 'journal', 'version' => 1, **header, 'began' => Time.now.utc.strftime('%FT%TZ') })
      end

      # Returns when they are on the disk.
      #
      # @param changes [Array<Change>]
      # @return [void]
      def record(changes)
        write(*changes.map do |change|
          { 'path' => change.path, 'new' => change.digest, **Lines.member('old', change.old) }
        end)
      end

      # @param whole [Boolean] whether all is done
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
      end
    end
  end
end
