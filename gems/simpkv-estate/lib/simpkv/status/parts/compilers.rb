# frozen_string_literal: true

require 'time'
require 'simpkv/status/compilers'
require 'simpkv/status/part'
require 'simpkv/status/site_estate'

module Simpkv
  module Status
    module Parts
      # The compilers that store their counters in the estate: see {Status::Compilers}.
      class Compilers < Part
        RANK = 20
        PERIOD = 60
        WORDS = 'compilers'
        TITLE = 'Compilers'
        METRICS = :reading

        class << self
          def alert(part, alerts)
            Status::Compilers.warnings(part.fetch('compilers', [])).each do |text|
              alerts.add('warning', 'compilers', text)
            end
          end

          def lines(part, screen)
            compilers = part['compilers']
            return ["none has stored counters within an hour ('compiler_counters')"] if compilers.empty?

            rows = compilers.map do |each|
              keys = each.fetch('keys', {}).map { |backend, print| "#{backend}=#{print}" }
              [each['name'], each['version'] || '-', each['time'], each['failures'], keys.empty? ? '-' : keys.join(' ')]
            end
            screen.table(['compiler', 'simpkv', 'last seen', 'failures', 'keys'], rows)
          end

          def performance(part, nagios)
            [nagios.datum('compilers', part['compilers'].length)]
          end
        end

        # @return [Hash{String => Hash}] the counters of compilers, by their names, as of {#measure}
        attr_reader :counters

        # @return [Hash] `compilers`: see {Status::Compilers.of}
        def read
          { 'compilers' => Status::Compilers.of(estate) }
        rescue Estate::MissingError
          optional? ? { 'compilers' => [] } : raise
        end

        def optional?
          SiteEstate.new(@site).optional?
        end

        def measure(page)
          @counters = {}
          @counters = estate.counters.recent
          @counters.each { |name, counters| add(page, name, counters) }
          true
        rescue Estate::MissingError
          optional?
        rescue Error, ConfigError
          @counters = {}
          false
        end

        private

        def estate
          SiteEstate.new(@site).estate(@caller)
        end

        def add(page, name, counters)
          page.gauge(:simpkv_compiler_counters_timestamp_seconds, 'When a compiler has stored its counters.',
                     Time.iso8601(counters['time']).to_i, compiler: name)
          page.gauge(:simpkv_compiler_info, 'Always 1, with the version of simpkv.', 1, compiler: name,
                                                                                        version: counters['version'])
          counters.fetch('keys', {}).each do |backend, fingerprint|
            page.gauge(:simpkv_compiler_keys_info, 'Always 1, with the fingerprint of the file of keys of a backend.',
                       1, compiler: name, backend: backend, fingerprint: fingerprint)
          end
        end
      end
    end
  end
end
