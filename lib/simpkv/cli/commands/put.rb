# frozen_string_literal: true

require 'simpkv/cli/write_command'

module Simpkv
  module Cli
    module Commands
      # Stores a value.
      class Put < WriteCommand
        SECTION = :keys
        SUMMARY = 'store a value'
        SUGGEST_FOR = { 'set' => 'put', 'store' => 'put' }.freeze
        ARGUMENTS = 'KEY [VALUE]'
        DESCRIPTION = <<~TEXT
          Stores a value: the argument, the content of a file, or standard input, byte for byte. The value is text
          unless an option says otherwise. An empty file or standard input is an error, because it often comes from a
          failed command; '' as VALUE stores an empty text.

          Give passwords on standard input, with --chomp if they end with a newline: other users can see arguments in
          the list of processes, and the shell keeps them in its history. With --sensitive, manifests get a Sensitive;
          the store holds it in plain text unless the backend is encrypted. A key that holds a Sensitive stays
          Sensitive, unless --no-sensitive is given.

          The new metadata replace the stored ones, unless --keep-metadata is given. With --history, or the option
          history of the backend, the replaced value becomes version -1 (simpkv log, simpkv restore). Otherwise, the
          new value also removes earlier values and the expiry time. With --expires-after, the key expires after this
          time. A put of an equal value renews the time if less than half of it is left. With --unless-earlier, the
          command changes nothing and exits with 75 if the key has an earlier value: of two rotations that begin at
          the same time, only one stores a value.
        TEXT
        EXAMPLES = {
          "simpkv put app1/owner 'the DBAs'" => 'Text',
          'simpkv put app1/db_password --sensitive --chomp - < password.txt' =>
            'A Sensitive from a file, without the newline at its end',
          'simpkv put host1/keytab --binary --file krb5.keytab' => 'Bytes of a file',
          "simpkv put app1/ports --json '[80, 443]' --metadata '{\"owner\": \"dba\"}'" => 'JSON, and metadata',
          "simpkv put app1/ports --json '[443]' --keep-metadata" => 'Another value with the same metadata',
          'simpkv put app1/db_password --expires-after 90d --history 1 --chomp - < password.txt' =>
            'A password for 90 days; the former one stays as version -1'
        }.freeze

        def run(key, value = nil)
          check_key(key)
          value = wanted(value)
          path = backend.path(key)
          written = about(key) do
            noting_environment(key) do |store|
              store = versioned(store)
              next store.put(path, document(value, nil)) unless @keep || @unless_earlier || @sensitive.nil?

              in_place(store, path, value)
            end
          end
          tell_secret(key)
          output.print('key' => key, 'written' => written) { written ? [] : ["'#{key}' is unchanged"] }
        end

        private

        def define(parser)
          super
          parser.on('--unless-earlier', 'store nothing if the key keeps an earlier value') { @unless_earlier = true }
        end

        # Stores a value whose document depends on the stored one.
        def in_place(store, path, value)
          replace(store, path) do |stored|
            refuse_earlier(stored)
            document(value, stored)
          end
        rescue MalformedError => e
          raise if @keep || @unless_earlier

          raise MalformedError, "#{e.message}. It may have been a Sensitive: put with --sensitive or " \
                                '--no-sensitive replaces it'
        rescue DeniedError => e
          raise if @keep || readable?(store, path)

          put_unread(store, path, value, e)
        end

        def refuse_earlier(stored)
          return unless @unless_earlier && stored && Versions.count(stored).positive?

          raise ConflictError, 'it keeps an earlier value, perhaps of a rotation that is under way: nothing was ' \
                               'stored. simpkv forget removes that value'
        end

        def readable?(store, path)
          stored(store, path)
          true
        rescue DeniedError
          false
        end

        # Adds a key, but replaces none: the stored value, which cannot be read, may be a Sensitive.
        def put_unread(store, path, value, error)
          store.put(path, document(value, nil), condition: :absent)
        rescue ExistsError
          raise error
        end
      end
    end
  end
end
