# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/editor'
require 'simpkv/cli/revision'
require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    module Commands
      # Changes a value in an editor.
      class Edit < Command
        include Versioned

        SECTION = :keys
        SUMMARY = 'change a value in an editor'
        ARGUMENTS = 'KEY'
        DESCRIPTION = <<~TEXT
          Opens the value of a key in the editor of VISUAL or EDITOR, or in vi, and stores it when the editor exits.
          Text and bytes are edited as they are, other values as JSON. The type and the metadata stay, and a Sensitive
          stays Sensitive. The time of expiry stays, and so do as many earlier values as the document has, or as
          --history says. A newline that the editor adds at the end is removed. Nothing is stored if the value is
          unchanged, if the editor fails, or if another client has changed the key meanwhile, which exits with 75. The
          value is in a private file in a private folder, in memory unless TMPDIR is set. The file is overwritten and
          removed at the end. Files that an editor keeps elsewhere, such as undo files, stay.
        TEXT
        EXAMPLES = {
          'simpkv edit app1/motd' => 'In the usual editor',
          "EDITOR='vim -n -i NONE' simpkv edit app1/db_password" => 'Without swap files and registers'
        }.freeze

        def run(key)
          path = existing(key)
          document = about(key) { check_expiry(reading.get(path, latest: true), 'simpkv put stores it anew') }
          revision = about(key) { Revision.new(document) }
          changed = edited(revision)
          written = !changed.nil? && about(key) { store(path, document, changed) }
          output.print('key' => key, 'written' => written) { written ? [] : ["'#{key}' is unchanged"] }
        end

        private

        def define(parser)
          define_history(parser)
        end

        # @return [String, nil] the changed document; nil if it is unchanged
        def edited(revision)
          Editor.open(revision.text, revision.json? ? '.json' : '.txt') do |editor|
            text = editor.edit
            revision.edited(text)
          rescue Failure => e
            retry if text && again?(e)
            raise
          end
        end

        # Lets the user correct the text instead of typing it again.
        def again?(error)
          return false unless $stdin.tty?

          $stderr.print("simpkv: #{error.message}. Edit again? [Y/n] ")
          !$stdin.gets.to_s.strip.downcase.start_with?('n')
        end

        def store(path, document, changed)
          Placeholder.refuse(changed)
          new = successor(changed, document, expires: Versions.expires(document))
          !new.nil? && swap(path, document, new, 'edit it again')
        end
      end
    end
  end
end
