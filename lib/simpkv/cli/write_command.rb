# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/data_file'
require 'simpkv/cli/revision'
require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    # The base class of put and cas. Reads the value and its metadata from the command line.
    class WriteCommand < Command
      include Versioned

      private

      def define(parser)
        parser.on('-f', '--file FILE', 'the value is in a file; - is standard input') { |file| @file = file }
        parser.on('--binary', 'it is bytes: a Binary for manifests') { @kind = :binary }
        parser.on('--json', 'it is JSON') { @kind = :json }
        parser.on('--chomp', 'leave out one newline at its end') { @chomp = true }
        parser.on('--[no-]sensitive', 'it is a secret: a Sensitive for manifests (as stored)') do |sensitive|
          @sensitive = sensitive
        end
        parser.on('-m', '--metadata DATA', 'a Hash to store with it, in JSON; or NAME=VALUE, repeatable') do |data|
          (@metadata ||= []) << data
        end
        parser.on('--keep-metadata', 'keep the metadata that are stored') { @keep = true }
        define_expiry(parser)
        define_history(parser)
      end

      # @param value [String, nil] the argument
      # @return [Object] the new value
      # @raise [Failure]
      def wanted(value)
        raise Failure.new('--metadata and --keep-metadata exclude each other', Failure::USAGE) if @metadata && @keep
        if value.nil? == @file.nil?
          raise Failure.new('either VALUE or --file FILE is needed (- reads standard input)', Failure::USAGE)
        end

        from = @file || (value if value == DataFile::STREAM)
        converted(from ? content(from) : argument(value), 'the value')
      end

      def argument(value)
        @argument = !value.empty?
        chomped(value.b)
      end

      # @return [String] the bytes of a file
      # @raise [Failure] there are none, for instance because the command before a pipe has failed
      def content(file)
        bytes = chomped(DataFile.bytes(file))
        return bytes unless bytes.empty?

        remedy = ". simpkv #{self.class.title} KEY '' stores an empty text" unless @kind == :json
        raise Failure.new("#{DataFile.title(file)} is empty: nothing was stored#{remedy}", Failure::DATA)
      end

      def chomped(bytes)
        @chomp ? bytes.sub(/\r?\n\z/, '') : bytes
      end

      # @param bytes [String] without the newline that --chomp leaves out
      def converted(bytes, what)
        return bytes if @kind == :binary
        return Value.from_json(bytes, what) if @kind == :json

        Value.utf8(bytes) || raise(Failure.new("#{what} is not UTF-8 text: store it with --binary", Failure::DATA))
      end

      # @param value [Object]
      # @param stored [String, nil] the stored document, also one that has expired
      # @return [String] the new document. If the stored value is a Sensitive, so is the new one, unless --no-sensitive
      #   is given
      # @raise [InvalidError] a part of the stored value is a Sensitive, and no option says what the new value is
      # @raise [UnencodableError] the value or the metadata have a {Placeholder}
      def document(value, stored)
        Placeholder.refuse([value, metadata])
        @secret = secret?(stored)
        kept = live(stored) if @keep
        return Revision.new(kept).with(value, sensitive: @secret) if kept
        return Codec.encode(value, metadata) unless @secret

        RichData.sensitive(value, metadata)
      end

      def secret?(stored)
        return @sensitive unless @sensitive.nil? && stored

        secret = Value.secret(stored)
        return secret == :whole unless secret == :part

        raise InvalidError, 'a part of the stored value is a Sensitive: --sensitive makes the whole new value one, ' \
                            '--no-sensitive stores it as plain data'
      end

      # Says what a user may not expect of a secret that was stored.
      #
      # @param key [String]
      # @return [void]
      def tell_secret(key)
        return unless @secret

        if @sensitive.nil?
          warn "simpkv: '#{key}' was a Sensitive, and the new value is one, too (--no-sensitive: plain data)"
        end
        return unless @argument

        warn 'simpkv: other users can see a secret in the arguments of a command, and the shell keeps it in its ' \
             'history: give it on standard input (- for VALUE), or with --file'
      end

      def metadata
        @metadata.to_a.inject({}) { |all, text| all.merge(members(text)) }
      end

      # @param text [String] JSON, or NAME=VALUE
      # @return [Hash{String => Object}]
      def members(text)
        text = Value.utf8(text) || raise(Failure.new('--metadata is not UTF-8 text', Failure::DATA))
        name, value = text.match(/\A([^={\["]+)=(.*)\z/m)&.captures
        return { name => value } if name

        given = Value.parse(text, '--metadata') if text.match?(/\A\s*[\[{"]/)
        return given if given.is_a?(Hash)

        raise Failure.new("--metadata is neither NAME=VALUE, as in owner=dba, nor a Hash in JSON, as in '{\"owner\": " \
                          "\"dba\"}'", Failure::USAGE)
      end

      # Reads a key and replaces its document if no other client has written since. Begins again otherwise.
      #
      # @yieldparam stored [String, nil] the stored document; nil for none
      # @yieldreturn [String, nil] the new document; nil to keep the stored one
      # @return [Boolean, nil] whether it was written; nil if the stored one stays
      # @raise [ConflictError] other writers were faster each time
      def replace(store, path)
        CompareAndSwap.repeat('others keep changing it: nothing was stored') do
          stored = stored(store, path)
          document = yield(stored)
          next if document.nil?

          CompareAndSwap.attempt do
            store.put(path, document, condition: stored ? :expect : :absent, expect: stored)
          end
        end
      end

      def stored(store, path)
        store.get(path, latest: true)
      rescue NotFoundError
        nil
      end
    end
  end
end
