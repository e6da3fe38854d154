# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Gives a key another name.
      class Mv < Command
        SUMMARY = 'give a key another name'
        SUGGEST_FOR = { 'move' => 'mv', 'rename' => 'mv' }.freeze
        ARGUMENTS = 'KEY NEW_KEY'
        DESCRIPTION = <<~TEXT
          Moves a key within its environment: stores its document, to the byte, under a new name that must not exist,
          reads that back, and deletes the old key if its document is still the same. Readers may see both keys for a
          moment, and never none. If it is killed in between, both keys are there, and the same command finishes the
          move. 65 if the new key exists with another document; 75 if another one has changed the old key meanwhile,
          which then stays, beside the new key with the former value. A change in the very moment between the last
          look at the old key and its deletion is lost.
        TEXT
        EXAMPLES = {
          'simpkv mv app1/password app1/db_password' => 'Another name',
          'simpkv mv -g token app1/token' => 'Into a folder'
        }.freeze

        def run(key, new_key)
          check_key(new_key)
          from = existing(key)
          to = backend.path(new_key)
          raise Failure.new("'#{key}' and '#{new_key}' are one key", Failure::USAGE) if from == to

          document = about(key) { reading.get(from, latest: true) }
          about(new_key) { add(to, document) }
          about(key) { remove(from, document) }
          output.print('from' => key, 'to' => new_key, 'moved' => true) { [] }
        end

        private

        # A new key with this document was made by a move that was killed.
        def add(path, document)
          begin
            backend.store.put(path, document, condition: :absent)
          rescue ExistsError
            raise unless backend.store.get(path, latest: true) == document
          end
          return if backend.store.get(path, latest: true) == document

          raise ConflictError, 'another one has changed the new key meanwhile: the old one stays'
        end

        def remove(path, document)
          return backend.store.delete(path) if backend.store.get(path, latest: true) == document

          raise ConflictError, 'another one has changed it meanwhile: it stays, and the new key has its former value'
        rescue NotFoundError
          nil # Another one has deleted it meanwhile.
        end
      end
    end
  end
end
