# frozen_string_literal: true

require 'digest'

module Simpkv
  module Ssh
    # A public key of a line of authorized_keys, as it is stored.
    #
    # type::    [String] such as `ssh-ed25519`
    # key::     [String] base64
    # options:: [Array<String>] such as `no-pty` and `from="192.0.2.0/24,198.51.100.1"`
    # comment:: [String] '' if there is none
    PublicKey = Struct.new(:type, :key, :options, :comment)

    # See above.
    class PublicKey
      # The types that the module sshkeys_core can manage. The Puppet type Simpkv::Authorized_key has the same list.
      MANAGED_TYPES = %w[
        ssh-dss ssh-rsa ecdsa-sha2-nistp256 ecdsa-sha2-nistp384 ecdsa-sha2-nistp521 ssh-ed25519
        sk-ecdsa-sha2-nistp256@openssh.com sk-ssh-ed25519@openssh.com ssh-rsa-cert-v01@openssh.com
        ssh-ed25519-cert-v01@openssh.com ssh-dss-cert-v01@openssh.com ecdsa-sha2-nistp256-cert-v01@openssh.com
        ecdsa-sha2-nistp384-cert-v01@openssh.com ecdsa-sha2-nistp521-cert-v01@openssh.com
      ].freeze

      # The number of fields after the name of the type. Each is a length and so many bytes (RFC 4253, PROTOCOL.u2f).
      FIELDS = {
        'ssh-dss' => 4, 'ssh-rsa' => 2, 'ssh-ed25519' => 1, 'sk-ssh-ed25519@openssh.com' => 2,
        'ecdsa-sha2-nistp256' => 2, 'ecdsa-sha2-nistp384' => 2, 'ecdsa-sha2-nistp521' => 2,
        'sk-ecdsa-sha2-nistp256@openssh.com' => 3
      }.freeze

      MEMBERS = %w[type key options comment].freeze
      SLUG_LENGTH = 60
      private_constant :FIELDS, :MEMBERS, :SLUG_LENGTH

      # @param value [Object] the value of a stored document; 'options' and 'comment' may be missing
      # @return [PublicKey, nil] nil if the value is no key
      def self.from(value)
        return unless value.is_a?(Hash) && (value.keys - MEMBERS).empty?

        key = new(*{ 'options' => [], 'comment' => '' }.merge(value).values_at(*MEMBERS))
        key if key.valid?
      end

      # Checks that the data of a key are complete and of its type. Certificates, and types that are unknown here, need
      # only begin with the name of their type.
      #
      # @param type [String]
      # @param key [String] base64
      # @return [String, nil] the problem, as the end of a sentence that begins with `it`; nil for none
      def self.problem(type, key)
        bytes = decoded(key)
        return 'has key data that are not base64' if bytes.nil?

        count = FIELDS[type]
        return if bytes.start_with?(field(type)) && (count.nil? || fields(bytes) == count + 1)

        'has key data that are incomplete or of another type'
      end

      # @param key [String]
      # @return [String, nil] its bytes; nil if it is not base64
      def self.decoded(key)
        key.unpack1('m0')
      rescue ArgumentError
        nil
      end

      def self.field(text)
        [text.bytesize, text].pack('Na*')
      end

      # @return [Integer, nil] the number of fields; nil if the last one is incomplete
      def self.fields(bytes)
        place = 0
        count = 0
        while place < bytes.bytesize
          length = bytes.byteslice(place, 4).unpack1('N')
          return if length.nil?

          place += 4 + length
          count += 1
        end
        count if place == bytes.bytesize
      end
      private_class_method :field, :fields

      # @return [Boolean] whether all members have their types, and the data are a key of that type
      def valid?
        options.is_a?(Array) && [type, key, comment, *options].all?(String) && PublicKey.problem(type, key).nil?
      end

      # @return [Hash{String => Object}] the value of its document
      def to_value
        MEMBERS.zip(to_a).to_h
      end

      # @return [String] the name under which an import stores it. It consists of the comment and of a digest of all
      #   members: different lines have different names, and equal lines have the same name
      def name
        slug = comment.downcase.gsub(/[^a-z0-9._-]+/, '-').sub(/\A[.-]+/, '')[0, SLUG_LENGTH].sub(/[.-]+\z/, '')
        "#{slug.empty? ? 'key' : slug}-#{Digest::SHA256.hexdigest(Native.generate(to_a))[0, 12]}"
      end

      # @return [String] as `ssh-keygen -l` prints it: `SHA256:` and base64 without padding
      def fingerprint
        "SHA256:#{[Digest::SHA256.digest(PublicKey.decoded(key))].pack('m0').delete('=')}"
      end

      # @return [Boolean] whether the module sshkeys_core can manage a key of this type
      def managed?
        MANAGED_TYPES.include?(type)
      end
    end
  end
end
