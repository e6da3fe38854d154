# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Stores a value.
      class Put < Command
        ARGUMENTS = 'KEY [VALUE]'
        DESCRIPTION = <<~TEXT
          Stores a value: the argument, or what is in a file or comes from standard input, to the byte. It is text, unless
          an option says otherwise. An argument can be seen in the list of processes, and stays in the shell's history:
          passwords are better read from standard input. The metadata that were stored with the key are replaced.
        TEXT
        EXAMPLES = {
          "simpkv put app1/owner 'the DBAs'" => 'Text',
          'pwgen -s 32 1 | tr -d "\n" | simpkv put app1/db_password -' => 'From standard input',
          'simpkv put host1/keytab --binary --file krb5.keytab' => 'Bytes of a file',
          "simpkv put app1/ports --json '[80, 443]' --metadata '{\"owner\": \"dba\"}'" => 'JSON, and metadata'
        }.freeze

        def run(key, value = nil)
          check(key)
          document = Codec.encode(converted(given(value)), metadata)
          store = backend.store(create: true)
          first = new_environment?
          written = about(key) { store.put(backend.path(key), document) }
          warn "simpkv: #{backend.title}: '#{key}' is the first key of the environment '#{named_environment}'" if first
          output.print('key' => key, 'written' => written) { written ? [] : ["'#{key}' was so already"] }
        end

        private

        def define(parser)
          parser.on('-f', '--file FILE', 'the value is in a file; - is standard input') { |file| @file = file }
          parser.on('--binary', 'it is bytes: a Binary for manifests') { @kind = :binary }
          parser.on('--json', 'it is JSON') { @kind = :json }
          parser.on('-m', '--metadata JSON', 'a Hash to store with it') { |json| @metadata = json }
        end

        def check(key)
          Native.key_check(key, backend.case_sensitive?)
          return unless backend.path(key) == backend.path('')

          raise Failure.new("'#{key}' is a folder, not a key", Failure::USAGE)
        rescue InvalidError, TooLargeError => e
          raise Failure.new(e.message, Failure::USAGE)
        end

        def given(value)
          if value.nil? == @file.nil?
            raise Failure.new('either VALUE or --file FILE is needed (- reads standard input)', Failure::USAGE)
          end

          source = @file || value
          return $stdin.binmode.read if source == '-'

          @file ? File.binread(@file) : value.b
        rescue Errno::ENOENT
          raise Failure.new("there is no file '#{@file}'", Failure::NO_INPUT)
        end

        def converted(bytes)
          return bytes if @kind == :binary
          return from_json(bytes) if @kind == :json

          text = bytes.force_encoding(Encoding::UTF_8)
          return text if text.valid_encoding?

          raise Failure.new('the value is not UTF-8 text: store it with --binary', Failure::DATA)
        end

        # Neither does simpkv::put.
        def from_json(bytes)
          found = parsed(bytes, 'the value')
          return found unless found.nil?

          raise Failure.new('the value is null, which is not stored: simpkv rm deletes the key', Failure::DATA)
        end

        def metadata
          found = @metadata ? parsed(@metadata, '--metadata') : {}
          return found if found.is_a?(Hash)

          raise Failure.new("--metadata is not a Hash, as in '{\"owner\": \"dba\"}'", Failure::USAGE)
        end

        # A parser's message quotes the value.
        def parsed(text, what)
          Native.parse(text.dup.force_encoding(Encoding::UTF_8))
        rescue MalformedError
          raise Failure.new("#{what} is not JSON", Failure::DATA), cause: nil
        end
      end
    end
  end
end
