# frozen_string_literal: true

require 'securerandom'

module Simpkv
  module Cli
    # A file of keys, a JWK Set, which the option `encryption_keys` names. Each change replaces the file atomically, so
    # that running compilers read the old or the new one. A replaced file keeps its owner, group and mode.
    class EncryptionKeyFile
      NEW_MODE = 0o600
      private_constant :NEW_MODE

      # @return [String]
      attr_reader :path

      # @param path [String] an absolute path; a link is followed
      def initialize(path)
        @path = File.symlink?(path) ? File.realdirpath(path) : path
      rescue SystemCallError
        @path = path
      end

      # @return [Boolean]
      def there?
        File.exist?(path)
      end

      # @return [Array<String>] the names of the keys; the first encrypts
      # @raise [InvalidError, DeniedError] the file cannot be used
      def kids
        Native::Keyring.new(path).kids
      end

      # Adds a key. The first key of a new file encrypts from now on; another one does after {#activate}.
      #
      # @return [String] its name
      # @raise [Error, SystemCallError]
      def generate
        change do |keys|
          kid = new_name(keys)
          secret = [SecureRandom.bytes(32)].pack('m0').tr('+/', '-_').delete('=')
          keys << { 'kty' => 'oct', 'alg' => 'A256GCM', 'use' => 'enc', 'kid' => kid, 'k' => secret }
          kid
        end
      end

      # Has a key encrypt from now on.
      #
      # @param kid [String]
      # @return [Boolean] whether it did not do so before
      # @raise [Failure] there is no such key
      def activate(kid)
        change do |keys|
          key = find(keys, kid)
          next false if keys.first.equal?(key)

          keys.unshift(keys.delete(key)) && true
        end
      end

      # Removes a key.
      #
      # @param kid [String]
      # @return [void]
      # @raise [Failure] there is no such key
      def retire(kid)
        change { |keys| keys.delete(find(keys, kid)) }
      end

      # @param kid [String]
      # @return [void]
      # @raise [Failure] there is no such key
      def check(kid)
        find(kids.map { |name| { 'kid' => name } }, kid)
      end

      private

      def find(keys, kid)
        keys.find { |key| key['kid'] == kid } ||
          raise(Failure.new("#{path} has no key '#{kid}': it has #{keys.map { |key| key['kid'] }.join(', ')}",
                            Failure::NO_INPUT))
      end

      def new_name(keys)
        loop do
          kid = "#{Time.now.utc.strftime('%F')}-#{SecureRandom.hex(2)}"
          return kid if keys.none? { |key| key['kid'] == kid }
        end
      end

      # @yieldparam keys [Array<Hash>] to be changed
      # @return [Object] what the block returns
      def change
        raise Failure.new("#{path} is a link that leads nowhere", Failure::CANNOT_CREATE) if File.symlink?(path)

        # Two commands at once would lose the key of one.
        File.open(File.dirname(path)) do |folder|
          folder.flock(File::LOCK_EX)
          set = there? ? read : { 'keys' => [] }
          before = set['keys'].dup
          yield(set['keys']).tap { replace(set, folder) unless set['keys'] == before }
        end
      end

      # The core checks the file, and explains what is wrong with it.
      def read
        kids
        Native.parse(File.read(path, encoding: Encoding::UTF_8))
      end

      def replace(set, folder)
        temporary = "#{path}.#{Process.pid}.new"
        File.open(temporary, File::WRONLY | File::CREAT | File::EXCL, NEW_MODE) do |file|
          keep_owner(file) if there?
          file.write("#{Native.generate(set)}\n")
          file.fsync
        end
        Native::Keyring.new(temporary)
        File.rename(temporary, path)
        temporary = nil
        folder.fsync
      ensure
        File.unlink(temporary) if temporary && File.exist?(temporary)
      end

      def keep_owner(file)
        old = File.stat(path)
        file.chown(old.uid, old.gid) unless [old.uid, old.gid] == [file.stat.uid, file.stat.gid]
        file.chmod(old.mode & 0o777)
      end
    end
  end
end
