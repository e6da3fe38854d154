# frozen_string_literal: true

require 'simpkv/status/certificate_files'
require 'simpkv/status/part'

module Simpkv
  module Status
    module Parts
      # The certificates that backends name: see {CertificateFiles}.
      class Certificates < Part
        RANK = 60
        PERIOD = 900
        WORDS = 'certificates of backends'
        TITLE = 'Certificates of backends'

        def self.alert(part, alerts)
          alerts.certificates('certificates of backends', 'certificates', part) do |each|
            "the backend '#{each['backend']}'"
          end
        end

        def self.lines(part, screen)
          return ['none'] if part['certificates'].empty?

          rows = part['certificates'].map do |each|
            [*each.values_at('backend', 'option', 'subject'), screen.unit(each['days'], 'days')]
          end
          screen.table(%w[backend option subject left], rows)
        end

        # @return [Hash] `certificates`: see {CertificateFiles.of}
        def read
          { 'certificates' => CertificateFiles.of(backends) }
        end
      end
    end
  end
end
