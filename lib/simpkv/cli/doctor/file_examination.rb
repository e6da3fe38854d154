# frozen_string_literal: true

require 'simpkv/cli/doctor/examination'

module Simpkv
  module Cli
    # Checks a backend of type file.
    class FileExamination < Examination
      # @return [void]
      def perform
        return unless there? && opens? && safe?

        look_for_leftovers
        look_for_temporary_files
        look_at_keys
        @write ? try_writing : findings.unknown('writing', 'not tried (--read-only)')
      end

      private

      def root
        backend.place.path
      end

      def there?
        return true if File.stat(root).directory?

        findings.problem('folder', "#{root} is not a folder", "correct 'root_path'")
      rescue ConfigError => e
        findings.problem('folder', e.message, "compare what they hold and when it was written ('ls -lR'), then do that")
      rescue Errno::ENOENT
        findings.problem('folder', "#{root} is not there",
                         "'#{simpkv('init')}' makes it, and so does the first put; or correct 'root_path'")
      rescue SystemCallError => e
        findings.problem('folder', "#{root} cannot be reached: #{e.class.new.message}", access_fix)
      end

      def opens?
        findings.ok('folder', root) if backend.store
      rescue Simpkv::Error => e
        findings.problem('folder', e.message, fix_for(e))
      end

      def safe?
        mode = File.stat(root).mode
        return true if mode.nobits?(0o007)

        findings.warning('rights', format('%<root>s is open to every local user (mode %<mode>04o)',
                                          root: root, mode: mode & 0o7777), "chmod o-rwx '#{root}'")
      end

      def look_for_temporary_files
        files = Backend::FilePlace.enum_for(:each_leftover, root, roots).to_a
        return if files.empty?

        findings.warning('temporary files', "killed writers have left #{named(files)}",
                         'the next put of a key deletes its file; so does, for all keys: ' \
                         "find '#{root}' -name '.skv~*' -type f -exec flock -n {} rm {} ';'")
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
        findings.problem('writing', e.message, fix_for(e))
      end

      def fix_for(error)
        return "make room in the file system of #{root}" if error.is_a?(FullError)
        return access_fix unless error.fault == :read_only

        "mount the file system of #{root} for writing; 'doctor --read-only' is for a store that is only read"
      end

      def access_fix
        stat = File.stat(root)
        format("run it as the user '%<owner>s', who owns %<root>s (mode %<mode>04o), or give this user rights there",
               owner: backend.place.owner, root: root, mode: stat.mode & 0o7777)
      rescue SystemCallError
        "run it as the user whose keys these are, or let this user into the folders above #{root}"
      end
    end
  end
end
