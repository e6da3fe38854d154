# frozen_string_literal: true

require 'digest'

module Simpkv
  class Estate
    # The fingerprints of the files of keys that the backends of a site name (`encryption_keys`). A fingerprint is a
    # hash of the names of the keys in their order, and no key goes into it: each encrypted document shows the name of
    # its key. The names have a random part, so that files with the same names have the same keys, unless somebody has
    # written them by hand.
    module KeyFingerprints
      # The digits of a fingerprint.
      DIGITS = 16
      FORM = /\A\h{#{DIGITS}}\z/.freeze
      private_constant :DIGITS, :FORM

      # @param backends [Hash{String => Hash}] the options of the backends, by name
      # @return [Hash{String => String}] by the name of a backend with keys, the fingerprint of its file. Without those
      #   whose file cannot be read
      def self.of(backends)
        backends.map { |name, options| [name, options.is_a?(Hash) && fingerprint(options['encryption_keys'])] }
                .select(&:last).to_h
      end

      # @param file [Object]
      # @return [String, nil] nil if this is no file of keys that can be read
      def self.fingerprint(file)
        return unless file.is_a?(String)

        Digest::SHA256.hexdigest(Native::Keyring.new(file).kids.join("\n"))[0, DIGITS]
      rescue Error
        nil
      end
      private_class_method :fingerprint

      # @param prints [Object] what somebody has stored
      # @return [Boolean] whether it has the form of {of}
      def self.valid?(prints)
        prints.is_a?(Hash) && prints.keys.all?(String) &&
          prints.values.all? { |print| print.is_a?(String) && print.match?(FORM) }
      end
    end
  end
end
