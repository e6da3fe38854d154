# frozen_string_literal: true

require 'shellwords'
require 'simpkv/cli/doctor/examination'
require 'simpkv/cli/encryption/encryption_key_file'
require 'simpkv/cli/encryption/encryption_key_use'

module Simpkv
  module Cli
    # Checks the file of keys of a backend, and which keys its documents need.
    class EncryptionExamination < Examination
      # @param configuration [Configuration] whose other backends may use the same keys
      # @param arguments [Array] see {Examination#initialize}
      def initialize(configuration, *arguments, **more)
        super(*arguments, **more)
        @configuration = configuration
        @file = EncryptionKeyFile.new(settings['encryption_keys'])
      end

      # @return [Boolean] whether the keys can be used
      def keys?
        @kids = @file.kids
        findings.ok('keys', "#{Output.count(@kids.length, 'key')} in #{@file.path}, '#{@kids.first}' encrypts")
        look_at_user if @user
        true
      rescue Simpkv::Error => e
        findings.problem('keys', e.message, fix_for(e))
      end

      # Checks the documents.
      #
      # @return [void]
      def perform
        @states = Hash.new(0)
        @secrets = 0
        EncryptionKeyUse.each(backend.store, roots, {}) do |_, state, document|
          @states[state] += 1
          @secrets += 1 if state == :plain && EncryptedStore.sensitive?(document)
        end
        report_plain
        report_keys_of_documents
        report_unused unless @folder
      rescue Simpkv::Error, Failure
        nil # The examination of the store has reported it.
      end

      private

      def fix_for(error)
        return 'copy it from another compiler, or restore it from a backup' if error.is_a?(InvalidError)

        "chown root #{shell_name} && chgrp #{group} #{shell_name} && chmod 0640 #{shell_name}"
      end

      def shell_name
        @file.path.shellescape
      end

      # @return [String] the group of puppetserver, in which the keys may be read
      def group
        @user ? @user.group.shellescape : 'GROUP'
      end

      def look_at_user
        obstacle = @user.obstacle(@file.path)
        return unless obstacle

        right = obstacle == @file.path ? 'g=r' : 'g+x'
        findings.problem('keys', "'encryption_keys' #{@file.path} cannot be read by the user #{@user.name}",
                         "chgrp #{group} #{obstacle.shellescape} && chmod #{right} #{obstacle.shellescape}")
      end

      def rekey
        simpkv('rekey')
      end

      # `encrypted_only` makes plain documents errors, which the examination of the store names.
      def report_plain
        return report_encrypted if settings['encrypt'] == 'none'

        all = settings['encrypt'] == 'all'
        count = all ? @states[:plain] : @secrets
        return if count.zero? || settings['encrypted_only']

        kind = all ? 'document' : 'document with a Sensitive'
        findings.warning('encryption', "#{count} plain #{kind.sub('document', count == 1 ? 'document' : 'documents')}",
                         rekey)
      end

      def report_encrypted
        count = @states.sum { |state, number| state.is_a?(String) ? number : 0 }
        return if count.zero?

        findings.warning('encryption', "#{Output.count(count, 'document')} still encrypted, with 'encrypt' none", rekey)
      end

      def report_keys_of_documents
        used = @states.select { |state, _| state.is_a?(String) }
        used.reject { |kid, _| @kids.include?(kid) }.sort.each do |kid, count|
          findings.problem('keys', "#{Output.count(count, 'document')} encrypted with '#{Output.name(kid)}', a key " \
                                   "that #{@file.path} lacks", 'restore the key from a backup of the file')
        end
        return if settings['encrypt'] == 'none'

        old = used.slice(*@kids.drop(1))
        old.each do |kid, count|
          findings.warning('keys', "#{Output.count(count, 'document')} encrypted with the old key '#{kid}'", rekey)
        end
      end

      def report_unused
        unused = @kids.drop(1).reject { |kid| @states.key?(kid) }
        return if unused.empty?

        counts, _, unknown = EncryptionKeyUse.count(@configuration, @file)
        return if unknown.any?

        unused.reject { |kid| counts.key?(kid) }.each do |kid|
          findings.warning('keys', "no document needs the key '#{kid}'",
                           "#{simpkv('keys', 'activate', kid)} if it is new, or #{simpkv('keys', 'retire', kid)}")
        end
      end
    end
  end
end
