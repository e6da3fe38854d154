# frozen_string_literal: true

require 'digest'
require 'securerandom'
require 'simpkv'
require 'tmpdir'

module Simpkv
  module Access
    # Reads the passwords that declarations refer to: `file:/PATH`, or `key:BACKEND/PATH`. No message has a password.
    class Passwords
      # The longest password that the core reads from the file of `admin_pw_file`, in bytes.
      LONGEST = 4096

      # A random password takes a character of each in turn. So it has no repetition, no sequence, and no three
      # characters of a user's entry: servers refuse these.
      SIGNS = %w[+ ! ~ ^].freeze
      CATEGORIES = [[*'A'..'Z'], [*'0'..'9'], SIGNS, [*'a'..'z'], SIGNS].freeze
      private_constant :LONGEST, :SIGNS, :CATEGORIES

      # @return [String] a password that nobody guesses, and that servers with rules for passwords accept
      def self.random
        Array.new(16) { CATEGORIES.map { |category| category.sample(random: SecureRandom) } }.join
      end

      # @param reference [String]
      # @return [String, nil] a warning about a file that every local user can read
      def self.warning(reference)
        kind, file = reference.split(':', 2)
        LdapAccess.open_file(file, file)&.join(': ') if kind == 'file' && File.file?(file)
      end

      # @yieldparam name [String] of a backend
      # @yieldreturn [Store] its store
      def initialize(&store)
        @store = store
        @stores = {}
      end

      # @param reference [String]
      # @return [String] the password, without the newline at its end
      # @raise [InvalidError] it cannot be read; the message names the file or the key
      def read(reference)
        kind, place = reference.split(':', 2)
        text = kind == 'file' ? in_file(place) : in_key(place)
        password = text.b.sub(/\r?\n\z/, '').force_encoding(Encoding::UTF_8)
        problem = problem(password)
        problem ? raise(InvalidError, "#{place} #{problem}") : password
      end

      # Makes a file only for the password of a key, so that a process that is killed leaves no other copy.
      #
      # @param reference [String]
      # @yieldparam file [String] a file with the password
      # @return [Object] the result of the block
      # @raise [InvalidError] as {#read}
      def with_file(reference)
        password = read(reference)
        kind, file = reference.split(':', 2)
        return yield(file) if kind == 'file'

        Dir.mktmpdir('simpkv') do |folder|
          file = File.join(folder, 'password')
          File.write(file, password, perm: 0o600)
          yield file
        end
      end

      # @param reference [String]
      # @return [String, nil] a text that differs after a change of the password's file, and does not tell its length;
      #   nil for a key, which is read each time, and for a file that cannot be read
      def stamp(reference)
        kind, file = reference.split(':', 2)
        return unless kind == 'file'

        stat = File.stat(file)
        Digest::SHA256.hexdigest([reference, stat.ino, stat.size, stat.mtime.strftime('%s.%N')].join(' '))
      rescue SystemCallError
        nil
      end

      private

      # @return [String, nil]
      def problem(password)
        # A server takes a bind with an empty password for one without identity.
        return 'is empty' if password.empty?
        return "is longer than #{LONGEST} bytes" if password.bytesize > LONGEST

        'is not text' if !password.valid_encoding? || password.include?("\0")
      end

      def in_file(file)
        raise InvalidError, "#{file} is not a file" unless File.file?(file)

        # A longer file is refused, and need not be read whole.
        File.binread(file, LONGEST + 3).to_s
      rescue SystemCallError => e
        raise InvalidError, "#{file} cannot be read: #{e.class.new.message}", cause: nil
      end

      def in_key(place)
        backend, path = place.split('/', 2)
        document = (@stores[backend] ||= @store.call(backend)).get(path)
        raise InvalidError, "the key #{place} has expired" if Versions.expired?(document)

        value = RichData.read(document)[:value]
        return value if value.is_a?(String)

        raise InvalidError, "the value of the key #{place} is not a String"
      rescue ConfigError => e
        raise InvalidError, e.message, cause: nil
      rescue NotFoundError, IsFolderError
        raise InvalidError, "there is no key #{place}", cause: nil
      rescue MalformedError
        raise InvalidError, "the key #{place} cannot be read: its document is malformed", cause: nil
      end
    end
  end
end
