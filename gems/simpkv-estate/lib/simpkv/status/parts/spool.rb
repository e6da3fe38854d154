# frozen_string_literal: true

require 'time'
require 'simpkv/counted'
require 'simpkv/status/part'
require 'simpkv/status/site_estate'

module Simpkv
  module Status
    module Parts
      # What waits in the spool of this machine: see {Estate::Spool}.
      class Spool < Part
        RANK = 25
        PERIOD = 15
        WORDS = 'spool'
        TITLE = 'Spool'
        METRICS = :reading

        class << self
          # @param part [Hash] in which something waits
          # @return [String] how much, since when
          def words(part)
            steps, bytes = { 'waiting' => 'step', 'bytes' => 'byte' }.map { |name, noun| Counted.of(part[name], noun) }
            "#{steps} of runs (#{bytes}) since #{part['oldest']}"
          end

          def alert(part, alerts)
            return unless part['waiting'].to_i.positive?

            alerts.add('warning', 'spool', "What runs reported waits for the server of writes: #{words(part)}.")
            return unless part['limit']

            alerts.add('critical', 'spool', "The spool is full ('#{part['limit']}' of 'estate'): catalogs fail while " \
                                            'the server of writes is away.')
          end

          def lines(part, _screen)
            return ["none ('spool')"] unless part['configured']
            return ['empty'] if part['waiting'].zero?

            ["#{words(part)} wait#{". It is full: '#{part['limit']}'" if part['limit']}"]
          end

          def performance(part, nagios)
            part['configured'] ? %w[waiting bytes].map { |name| nagios.datum("spool_#{name}", part[name]) } : []
          end
        end

        # @return [Hash] `configured`, and see {Estate::Spool#summary}
        def read
          spool = self.spool
          spool ? { 'configured' => true }.merge(spool.summary) : { 'configured' => false }
        end

        def measure(page)
          summary = spool&.summary or return true

          page.gauge(:simpkv_spool_waiting, 'Steps of runs that wait for the server of writes.', summary['waiting'])
          page.gauge(:simpkv_spool_bytes, 'Their bytes.', summary['bytes'])
          page.gauge(:simpkv_spool_oldest_timestamp_seconds, 'When the oldest of them was left.',
                     summary['oldest'] && Time.iso8601(summary['oldest']).to_i)
          page.gauge(:simpkv_spool_full, 'Whether a limit of the spool is reached.', summary['limit'] ? 1 : 0)
          true
        rescue Error, ConfigError
          false
        end

        private

        def spool
          SiteEstate.new(@site).estate(@caller).spool
        end
      end
    end
  end
end
