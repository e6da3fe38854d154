# frozen_string_literal: true

require 'simpkv/cli/examination'

module Simpkv
  module Cli
    # Looks for what is wrong with a backend of type file.
    class FileExamination < Examination
      # @return [void]
      def perform
        return unless there? && safe? && opens?

        look_for_leftovers
        look_at_keys
        @write ? try_writing : findings.unknown('writing', 'not tried (--read-only)')
      end

      private

      def root
        backend.root_path
      end

      def there?
        return findings.ok('folder', root) if File.directory?(root)
        return findings.problem('folder', "#{root} is no folder", "correct 'root_path'") if File.exist?(root)

        findings.problem('folder', "#{root} is not there",
                         "'simpkv init' makes it, and so does the first put; or correct 'root_path'")
      end

      def safe?
        mode = File.stat(root).mode
        return true if mode.nobits?(0o007)

        findings.warning('rights', format('%<root>s is open to every local user (mode %<mode>04o)',
                                          root: root, mode: mode & 0o7777), "chmod o-rwx '#{root}'")
      end

      def opens?
        backend.store && true
      rescue Simpkv::Error => e
        findings.problem('folder', e.message, 'run as the user whose keys these are, or give this one rights')
      end

      def try_writing
        with_scratch do |folder|
          document = Codec.encode('x')
          backend.store.put("#{folder}/key", document)
          same = backend.store.get("#{folder}/key") == document
          next findings.ok('writing', 'a key was stored, read and deleted') if same

          findings.problem('writing', 'a key did not come back as it was stored', 'look at the file system')
        end
      rescue Simpkv::Error => e
        findings.problem('writing', e.message, 'make room, or give this user rights')
      end
    end
  end
end
