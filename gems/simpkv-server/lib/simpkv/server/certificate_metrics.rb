# frozen_string_literal: true

require 'simpkv/status/exposition'

module Simpkv
  module Server
    # When the certificates and revocation lists that the service uses are not valid any more.
    class CertificateMetrics
      # @param certificates [Certificates]
      def initialize(certificates)
        @certificates = certificates
      end

      # @return [String] in the text format of Prometheus
      def text
        page = Status::Exposition.new
        @certificates.ends.each do |option, subject, time|
          page.gauge(:simpkv_service_certificate_expiry_timestamp_seconds,
                     'When a certificate of the service, or a CA of clients, expires.', time.to_i,
                     option: option, subject: subject)
        end
        @certificates.updates.each do |issuer, time|
          page.gauge(:simpkv_service_crl_next_update_timestamp_seconds,
                     'When a revocation list is outdated, so that all certificates of its CA are refused.', time.to_i,
                     issuer: issuer)
        end
        page.text
      end
    end
  end
end
