# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/value'

module Simpkv
  module Cli
    module Commands
      # Renames a key.
      class Mv < Command
        SECTION = :keys
        SUMMARY = 'rename a key'
        SUGGEST_FOR = { 'move' => 'mv', 'rename' => 'mv' }.freeze
        ARGUMENTS = 'KEY NEW_KEY'
        DESCRIPTION = <<~TEXT
          Moves a key within its environment. Stores its document, byte for byte, under a new name that must not exist,
          or must have expired, reads it back, and deletes the old key if its document is unchanged. Other clients may
          see both keys for a moment, but never neither. After a kill both keys can exist, and the same command
          completes the move. Exits with 65 if the new key exists with another document. Exits with 75 if another client
          has changed the old key meanwhile: the old key then stays beside the new key, which has the former value.
        TEXT
        EXAMPLES = {
          'simpkv mv app1/password app1/db_password' => 'Another name',
          'simpkv mv -g token app1/token' => 'Into a folder'
        }.freeze

        def run(key, new_key)
          check_key(new_key)
          from = existing(key)
          to = backend.path(new_key)
          raise Failure.new("'#{key}' and '#{new_key}' are the same key", Failure::USAGE) if from == to

          document = about(key) { reading.get(from, latest: true) }
          about(new_key) { add(to, document) }
          about(key) { remove(from, document) }
          output.print('from' => key, 'to' => new_key, 'moved' => true) { [] }
        end

        private

        def add(path, document)
          backend.check_agreement([path])
          begin
            backend.store.put(path, document, condition: :absent)
          rescue ExistsError
            stored = backend.store.get(path, latest: true)
            # A killed move has stored a new key with this document.
            raise unless stored == document || Value.expired?(stored)

            backend.store.put(path, document, condition: :expect, expect: stored)
          end
          return if backend.store.get(path, latest: true) == document

          raise ConflictError, 'another client has changed the new key meanwhile: the old key stays'
        end

        def remove(path, document)
          return if backend.store.delete(path, expect: document)
          # Another client has deleted it meanwhile.
          return unless backend.store.get(path, latest: true, required: false)

          raise ConflictError, 'another client has changed it meanwhile: it stays, and the new key has its former value'
        end
      end
    end
  end
end
