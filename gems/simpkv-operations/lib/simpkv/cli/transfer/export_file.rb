# frozen_string_literal: true

require 'digest/sha2'
require 'simpkv/cli/transfer/lines'

module Simpkv
  module Cli
    # A file of keys and documents, one line each:
    #
    #     {"simpkv":"export","version":1,"from":"ldap/site","created":"2026-11-22T06:00:00Z"}
    #     {"path":"environments/production/app1/token","document":"{\"value\":...}"}
    #     {"keys":1,"sha256":"<that of all bytes above>"}
    #
    # With the member `raw` and version 2, documents are as they were stored in the backend `from`, and encrypted ones
    # can be read only there.
    #
    # The order is arbitrary. `document64` is a document that is not UTF-8, in base64. A transfer reads the whole file
    # before it stores anything, so that nothing of a damaged file is stored.
    class ExportFile
      # Bytes. No store accepts a document that needs a longer line.
      LINE_MAX = 1 << 29
      NO_EXPORT = 'this is no export of simpkv, or one for other programs (--format), or of a newer version'
      private_constant :LINE_MAX, :NO_EXPORT

      # Writes an export. Writes nothing if the block raises before the first key.
      #
      # @param stream [IO]
      # @param from [ChosenBackend]
      # @yieldparam add [Proc] to be called with each path and document
      # @return [Integer] the number of keys
      def self.write(stream, from)
        digest = Digest::SHA256.new
        keys = 0
        put = lambda do |members|
          line = Lines.line(members)
          digest << line
          stream.write(line)
        end
        header = header(from)
        yield(lambda do |path, document|
          put.call(header) if keys.zero?
          put.call('path' => path, **Lines.member('document', document))
          keys += 1
        end)
        put.call(header) if keys.zero?
        stream.write(Lines.line('keys' => keys, 'sha256' => digest.hexdigest))
        keys
      end

      # A simpkv that knows no encryption refuses version 2.
      def self.header(from)
        form = from.raw? ? { 'version' => 2, 'raw' => true } : { 'version' => 1 }
        { 'simpkv' => 'export', **form, 'from' => from.title, 'created' => Time.now.utc.strftime('%FT%TZ') }
      end
      private_class_method :header

      # @return [String]
      attr_reader :title

      # @param stream [File] that can seek
      # @param title [String] its name
      # @param target [ChosenBackend] in which its keys will be stored
      def initialize(stream, title, target)
        @io = stream.binmode
        @title = title
        @target = target
      end

      # @param roots [Array<String>] only what is below these
      # @yieldparam path [String]
      # @yieldparam document [String]
      # @return [void]
      # @raise [Failure] the file is damaged, or is no export
      def each(roots, _errors)
        prefixes = roots.map { |root| "#{root}/" }
        @places = {}
        digest = Digest::SHA256.new
        @io.rewind
        ended = false
        each_line do |line, number, offset|
          damaged(number, 'there is more behind the last line') if ended
          ended = take(line, number, offset, digest) do |path, document|
            yield path, document if path.start_with?(*prefixes)
          end
          digest << line
        end
        damaged(nil, 'the last line, with the checksum, is missing') unless ended
      end

      # Thread-safe.
      #
      # @param paths [Array<String>] paths that {each} has yielded
      # @return [Hash{String => String}] their documents
      def read_many(paths)
        paths.to_h do |path|
          offset, size = @places.fetch(path)
          [path, Lines.document(Lines.parse(@io.pread(size, offset).force_encoding(Encoding::UTF_8)), 'document')]
        end
      end

      private

      def each_line
        offset = 0
        @io.each_line("\n", LINE_MAX).with_index(1) do |line, number|
          damaged(number, 'it is too long') if line.bytesize == LINE_MAX && !line.end_with?("\n")
          yield line, number, offset
          offset += line.bytesize
        end
      end

      # @return [Boolean] whether it is the last line
      def take(line, number, offset, digest)
        members = parsed(line, number)
        return begun(members) if number == 1
        return checked(members, number, digest) if members.key?('sha256')

        path = Lines.path(members)
        damaged(number, "'#{path}' is there a second time") if @places.key?(path)
        @places[path] = [offset, line.bytesize]
        yield path, Lines.document(members, 'document') || raise(MalformedError, "'document' is missing")
        false
      rescue MalformedError => e
        damaged(number, e.message)
      end

      # The messages of the parser would quote the line.
      def parsed(line, number)
        Lines.parse(line.dup.force_encoding(Encoding::UTF_8))
      rescue MalformedError
        damaged(number, number == 1 ? NO_EXPORT : 'it is not a JSON object')
      end

      def begun(members)
        known = members['simpkv'] == 'export' && members['version'] == (members['raw'] ? 2 : 1)
        damaged(1, NO_EXPORT) unless known

        why = mix_up(members['raw'], members['from'])
        why ? damaged(1, why) : false
      end

      # @return [String, nil] why the documents could not be read in the target
      def mix_up(raw, from)
        return if !raw && !@target.raw?
        return 'this export has plain documents (made without --raw): import it without --raw' unless raw

        made = "this export has the documents as they were stored in the backend '#{from}' (made with --raw)"
        return "#{made}: import it with --raw" unless @target.raw?

        "#{made}, and encrypted ones could not be read in '#{@target.title}': export them without --raw" if
          from != @target.title
      end

      def checked(members, number, digest)
        return true if members['sha256'] == digest.hexdigest && members['keys'] == @places.length

        damaged(number, 'the checksum is that of another content: it was changed or cut')
      end

      def damaged(number, why)
        raise Failure.new("#{title}#{", line #{number}" if number}: #{why}. Nothing was stored", Failure::DATA),
              cause: nil
      end
    end
  end
end
