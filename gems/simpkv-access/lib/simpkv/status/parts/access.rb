# frozen_string_literal: true

require 'simpkv/counted'
require 'simpkv/status/part'

module Simpkv
  module Status
    module Parts
      # What differs in a directory from the declared access rights: see {Drift}.
      class Access < Part
        RANK = 50
        PERIOD = 900
        WORDS = 'access rights'
        TITLE = 'Access rights'
        METRICS = :state

        class << self
          def alert(part, alerts)
            differences = part['differences'].to_i + part['conflicts'].to_i
            return if differences.zero?

            alerts.add('warning', 'access', 'The directory differs from the declared access rights: ' \
                                            "#{Counted.of(differences, 'difference')}.")
          end

          def lines(part, _screen)
            return ["none declared ('access')"] unless part['configured']

            ["#{part['differences']} differences, #{part['conflicts']} conflicts, #{part['warnings']} warnings"]
          end

          def performance(part, nagios)
            part.key?('differences') ? [nagios.datum('access_differences', part['differences'])] : []
          end

          def metrics(page, part)
            page.gauge(:simpkv_access_differences,
                       'Differences between the directory and the declared access rights.', part['differences'])
            page.gauge(:simpkv_access_conflicts, 'Conflicts, for which simpkv access apply refuses.', part['conflicts'])
          end
        end

        # @return [Hash] `configured`, and see {Drift.of}
        def read
          return { 'configured' => false } unless @site.options['access']

          require 'simpkv/status/drift'
          access = Simpkv::Access::Site.new(@site.options, @site.vardirs, @site.warn)
          { 'configured' => true }.merge(Drift.of(access))
        end
      end
    end
  end
end
