# frozen_string_literal: true

require 'strscan'
require 'simpkv/ssh/public_key'

module Simpkv
  # Public keys of SSH.
  module Ssh
    # The keys of a file authorized_keys, as sshd reads it (sshd(8), AUTHORIZED_KEYS FILE FORMAT). Unlike sshd, it
    # ignores a byte order mark and CR at the end of a line, and refuses options that sshd would refuse at the login.
    #
    #   file = Simpkv::Ssh::AuthorizedKeys.parse(File.binread('authorized_keys'))
    #   file.keys     # => { 1 => #<struct Simpkv::Ssh::PublicKey ...> }
    #   file.broken   # => { 2 => 'it has no key' }
    class AuthorizedKeys
      # The longest line, in bytes. A certificate or an RSA key of 16,384 bits takes less than 8,000 bytes.
      LONGEST_LINE = 65_536

      BLANK = /[ \t]+/.freeze
      WORD = /[^ \t]+/.freeze

      # As sshd: in quotes, only a quote can be escaped, with a backslash, which stands for itself otherwise.
      QUOTED = /"(?>\\"|[^"\\]|\\(?!"))*+"/.freeze
      OPTIONS = /(?>\\"|[^ \t"]|#{QUOTED})++/.freeze
      OPTION = /[A-Za-z0-9_-]+(?:=#{QUOTED})?/.freeze
      TYPE = /\A(?:ssh|ecdsa|sk|webauthn)-[a-z0-9.@-]+\z/.freeze
      private_constant :BLANK, :WORD, :QUOTED, :OPTIONS, :OPTION, :TYPE

      # A line that is no key, comment or blank.
      class BrokenLine < StandardError; end
      private_constant :BrokenLine

      # @return [Hash{Integer => PublicKey}] by the number of the line, from 1
      attr_reader :keys

      # @return [Hash{Integer => String}] for the number of each broken line a sentence about it, which quotes nothing
      attr_reader :broken

      # @param bytes [String] the content of a file
      # @return [AuthorizedKeys]
      def self.parse(bytes)
        new(bytes)
      end

      private_class_method :new

      def initialize(bytes)
        @keys = {}
        @broken = {}
        bytes.b.delete_prefix("\xEF\xBB\xBF".b).each_line("\n").with_index(1) { |line, number| read(line, number) }
      end

      private

      def read(line, number)
        line = line.chomp.sub(/\A[ \t]+/, '')
        return if line.empty? || line.start_with?('#')

        @keys[number] = key(checked(line))
      rescue BrokenLine => e
        @broken[number] = "it #{e.message}"
      end

      # @return [String] the line as UTF-8
      def checked(line)
        raise BrokenLine, "is longer than #{LONGEST_LINE} bytes" if line.bytesize > LONGEST_LINE
        raise BrokenLine, 'has a NUL character' if line.include?("\0")

        text = line.force_encoding(Encoding::UTF_8)
        text.valid_encoding? ? text : raise(BrokenLine, 'is not UTF-8')
      end

      def key(line)
        scanner = StringScanner.new(line)
        options = key_at?(scanner) ? [] : options(scanner)
        type, key = words(scanner)
        raise BrokenLine, 'has no key' unless key

        problem = PublicKey.problem(type, key)
        raise BrokenLine, problem if problem

        PublicKey.new(type, key, options, scanner.rest.strip)
      end

      # @return [Boolean] whether the text begins with a key, or with one that is incomplete
      def key_at?(scanner)
        start = scanner.pos
        type, key = words(scanner)
        scanner.pos = start
        type.to_s.match?(TYPE) || (!key.nil? && PublicKey.problem(type, key).nil?)
      end

      # @return [Array<String, nil>] the next two words
      def words(scanner)
        type = scanner.scan(WORD)
        scanner.skip(BLANK)
        [type, scanner.scan(WORD)]
      end

      def options(scanner)
        text = scanner.scan(OPTIONS).to_s
        raise BrokenLine, 'has no key, or a quote that does not end' unless scanner.skip(BLANK)

        scanner = StringScanner.new(text)
        list = []
        loop do
          list << (scanner.scan(OPTION) || raise(BrokenLine, 'has an option that is not NAME or NAME="VALUE"'))
          return list if scanner.eos?
          raise BrokenLine, 'has an option that is not NAME or NAME="VALUE"' unless scanner.skip(/,/)
        end
      end
    end
  end
end
