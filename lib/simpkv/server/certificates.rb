# frozen_string_literal: true

require 'openssl'

module Simpkv
  module Server
    # Client certificates. The TLS library has checked that a named CA has signed the certificate of a connection. This
    # class checks each request again, because a certificate can expire or be revoked while its connection lasts.
    # Thread-safe.
    class Certificates
      # No certname looks like a local caller in a log.
      CERTNAME = %r{\A[ -~&&[^:/]]+\z}n.freeze
      # The types of ASN.1 whose bytes are ASCII, or extend it. Two bytes of others could be one character.
      ENCODINGS = [OpenSSL::ASN1::UTF8STRING, OpenSSL::ASN1::PRINTABLESTRING, OpenSSL::ASN1::IA5STRING].freeze
      private_constant :CERTNAME, :ENCODINGS

      # @param options [Hash{String => Object}] of the section `server`: `tls_ca` and `tls_crl`
      # @raise [ConfigError] a file cannot be read
      def initialize(options)
        reload(options)
      end

      # Reads the files again.
      #
      # @param options [Hash{String => Object}] as for {#initialize}
      # @return [void]
      # @raise [ConfigError] a file cannot be read; those that were read before stay
      def reload(options)
        authorities, lists = options.values_at('tls_ca', 'tls_crl')
        @store = authorities && store(authorities, lists)
      end

      # @param certificate [OpenSSL::X509::Certificate, String, nil] of the connection
      # @return [String] its common name
      # @raise [DeniedError] there is none, or it is not valid now
      def certname(certificate)
        raise DeniedError, 'a client certificate is needed' if certificate.nil? || @store.nil?

        certificate = OpenSSL::X509::Certificate.new(certificate)
        context = OpenSSL::X509::StoreContext.new(@store, certificate)
        raise DeniedError, "the client certificate is not valid: #{context.error_string}" unless context.verify

        common_name(certificate.subject)
      end

      private

      def common_name(subject)
        names = subject.to_a.select { |type, _, _| type == 'CN' }
        _, name, encoding = names.first
        return name if names.one? && ENCODINGS.include?(encoding) && name.match?(CERTNAME) && name != Caller::LOCAL

        raise DeniedError, 'the client certificate must have one common name, of printable ASCII without : and /'
      end

      def store(authorities, lists)
        store = OpenSSL::X509::Store.new
        store.purpose = OpenSSL::X509::PURPOSE_SSL_CLIENT
        reading('tls_ca', authorities) { store.add_file(authorities) }
        if lists
          reading('tls_crl', lists) { read_lists(lists).each { |list| store.add_crl(list) } }
          store.flags = OpenSSL::X509::V_FLAG_CRL_CHECK | OpenSSL::X509::V_FLAG_CRL_CHECK_ALL
        end
        store
      end

      # @return [Array<OpenSSL::X509::CRL>] those of the file; a CA and the CAs above it have one each
      def read_lists(file)
        texts = File.read(file).scan(/-----BEGIN X509 CRL-----.*?-----END X509 CRL-----/m)
        raise OpenSSL::X509::CRLError, 'it has no revocation list' if texts.empty?

        texts.map { |text| OpenSSL::X509::CRL.new(text) }
      end

      def reading(option, file)
        yield
      rescue SystemCallError, OpenSSL::OpenSSLError => e
        raise ConfigError, "'#{option}' of 'server': #{file} cannot be read: #{e.message}", cause: nil
      end
    end
  end
end
