# frozen_string_literal: true

require 'openssl'

module Simpkv
  module Server
    # Checks client certificates with the CAs and revocation lists of one moment. To read and verify a certificate takes
    # as long as a third of a request, and a client sends many over a connection: a certificate that was valid counts as
    # valid for a second, as long as it does not expire meanwhile. Thread-safe.
    class CertificateCheck
      # No certname looks like a local caller in a log.
      CERTNAME = %r{\A[ -~&&[^:/]]+\z}n.freeze
      # The types of ASN.1 whose bytes are ASCII, or extend it. Two bytes of others could be one character.
      ENCODINGS = [OpenSSL::ASN1::UTF8STRING, OpenSSL::ASN1::PRINTABLESTRING, OpenSSL::ASN1::IA5STRING].freeze
      # The number of certificates that are remembered, and the seconds.
      MOST = 1000
      SECONDS = 1

      Known = Struct.new(:name, :until)
      private_constant :CERTNAME, :ENCODINGS, :MOST, :SECONDS, :Known

      # @param store [OpenSSL::X509::Store]
      def initialize(store)
        @store = store
        @known = {}
        @mutex = Mutex.new
      end

      # @param certificate [OpenSSL::X509::Certificate, String] of a connection
      # @return [String] its common name
      # @raise [DeniedError] it is not valid
      def certname(certificate)
        bytes = certificate.is_a?(String) ? certificate : certificate.to_der
        known = @mutex.synchronize { @known[bytes] }
        return known.name if known && Clock.now < known.until

        certificate = OpenSSL::X509::Certificate.new(bytes)
        verified(certificate).tap { |name| keep(bytes, name, certificate.not_after - Time.now) }
      end

      private

      def verified(certificate)
        context = OpenSSL::X509::StoreContext.new(@store, certificate)
        raise DeniedError, "the client certificate is not valid: #{context.error_string}" unless context.verify

        common_name(certificate.subject)
      end

      def common_name(subject)
        names = subject.to_a.select { |type, _, _| type == 'CN' }
        _, name, encoding = names.first
        return name if names.one? && ENCODINGS.include?(encoding) && name.match?(CERTNAME) && name != Caller::LOCAL

        raise DeniedError, 'the client certificate must have one common name, of printable ASCII without : and /'
      end

      # @param left [Float] the seconds until it expires
      def keep(bytes, name, left)
        @mutex.synchronize do
          @known.clear if @known.length >= MOST
          @known[bytes] = Known.new(name, Clock.now + [SECONDS, left].min)
        end
      end
    end
  end
end
