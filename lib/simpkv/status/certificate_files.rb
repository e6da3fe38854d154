# frozen_string_literal: true

module Simpkv
  module Status
    # When the certificates in files expire.
    module CertificateFiles
      DAY = 86_400
      # A file with more CAs is that of the system: some of them have always expired.
      CAS_MAX = 10
      private_constant :DAY, :CAS_MAX

      # @param file [String] in PEM
      # @return [Array<Array(String, Time)>] of each certificate, its subject and when it expires
      # @raise [SystemCallError, OpenSSL::OpenSSLError]
      def self.ends(file)
        require 'openssl' # Most sites name no file, and it is half of what `simpkv status` loads.
        texts = File.read(file).scan(/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----.*?-----END [^-]*-----/m)
        texts.map { |text| OpenSSL::X509::Certificate.new(text) }.map do |certificate|
          [certificate.subject.to_s(OpenSSL::X509::Name::RFC2253), certificate.not_after]
        end
      end

      # @param backends [Array<Backend>]
      # @return [Array<Hash{String => Object}>] of each certificate in `tls_cert` and `tls_cacert` of the backends:
      #   `backend`, `option`, `subject`, `expires` and the whole `days` until then
      # @raise [InvalidError] a file cannot be read
      def self.of(backends)
        backends.flat_map do |backend|
          certificates = client(backend) + authorities(backend)
          certificates.map do |option, subject, time|
            { 'backend' => backend.name, 'option' => option, 'subject' => subject, 'expires' => time.utc.iso8601,
              'days' => ((time - Time.now) / DAY).floor }
          end
        end
      end

      # The certificates after the first one are those of the CAs above it.
      def self.client(backend)
        named(backend, 'tls_cert').first(1)
      end

      def self.authorities(backend)
        found = named(backend, 'tls_cacert')
        found.length > CAS_MAX ? [] : found
      end

      def self.named(backend, option)
        file = backend.settings[option]
        return [] unless file

        ends(file).map { |subject, time| [option, subject, time] }
      rescue SystemCallError, OpenSSL::OpenSSLError => e
        raise InvalidError, "'#{option}' of the backend '#{backend.name}': #{file} cannot be read: #{e.message}",
              cause: nil
      end
      private_class_method :client, :authorities, :named
    end
  end
end
