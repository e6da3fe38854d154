# frozen_string_literal: true

require 'openssl'
require 'simpkv/server/certificate_check'
require 'simpkv/status/certificate_files'

module Simpkv
  module Server
    # Client certificates. The TLS library has checked that a named CA has signed the certificate of a connection. This
    # class checks it again while requests come, because it can expire or be revoked while its connection lasts.
    # Thread-safe.
    class Certificates
      # @return [Array<Array(String, String, Time)>] of each CA, and of the certificate of the service: the option that
      #   names its file, its subject, and when it expires
      attr_reader :ends

      # @return [Array<Array(String, Time)>] of each revocation list, its CA and when it is outdated
      attr_reader :updates

      # @param options [Hash{String => Object}] of the section `server`: `tls_cert`, `tls_ca` and `tls_crl`
      # @raise [ConfigError] a file cannot be read
      def initialize(options)
        # Puma reads it once.
        @own = ends_of(options, 'tls_cert')
        reload(options)
      end

      # Reads the files again.
      #
      # @param options [Hash{String => Object}] as for {#initialize}
      # @return [void]
      # @raise [ConfigError] a file cannot be read; those that were read before stay
      def reload(options)
        authorities, lists = options.values_at('tls_ca', 'tls_crl')
        crls = lists && reading('tls_crl', lists) { read_lists(lists) }
        ends = @own + ends_of(options, 'tls_ca')
        @check = authorities && CertificateCheck.new(store(authorities, crls))
        @ends = ends
        @updates = crls.to_a.map { |crl| [crl.issuer.to_s(OpenSSL::X509::Name::RFC2253), crl.next_update] }
      end

      # @param certificate [OpenSSL::X509::Certificate, String, nil] of the connection
      # @return [String] its common name
      # @raise [DeniedError] there is none, or it is not valid now
      def certname(certificate)
        raise DeniedError, 'a client certificate is needed' if certificate.nil? || @check.nil?

        @check.certname(certificate)
      end

      private

      # @param crls [Array<OpenSSL::X509::CRL>, nil] nil if revocation is not checked
      def store(authorities, crls)
        store = OpenSSL::X509::Store.new
        store.purpose = OpenSSL::X509::PURPOSE_SSL_CLIENT
        reading('tls_ca', authorities) { store.add_file(authorities) }
        return store unless crls

        crls.each { |crl| store.add_crl(crl) }
        store.flags = OpenSSL::X509::V_FLAG_CRL_CHECK | OpenSSL::X509::V_FLAG_CRL_CHECK_ALL
        store
      end

      # @return [Array<OpenSSL::X509::CRL>] those of the file; a CA and the CAs above it have one each
      def read_lists(file)
        texts = blocks(file, 'X509 CRL')
        raise OpenSSL::X509::CRLError, 'it has no revocation list' if texts.empty?

        texts.map { |text| OpenSSL::X509::CRL.new(text) }
      end

      # @return [Array<Array(String, String, Time)>] see {#ends}
      def ends_of(options, option)
        file = options[option]
        return [] unless file

        reading(option, file) { Status::CertificateFiles.ends(file).map { |subject, time| [option, subject, time] } }
      end

      # @return [Array<String>] the blocks of PEM with that title
      def blocks(file, title)
        File.read(file).scan(/-----BEGIN #{title}-----.*?-----END #{title}-----/m)
      end

      def reading(option, file)
        yield
      rescue SystemCallError, OpenSSL::OpenSSLError => e
        raise ConfigError, "'#{option}' of 'server': #{file} cannot be read: #{e.message}", cause: nil
      end
    end
  end
end
