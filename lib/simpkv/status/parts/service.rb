# frozen_string_literal: true

require 'simpkv/status/part'

module Simpkv
  module Status
    module Parts
      # What the service tells of itself, its certificates among it.
      class Service < Part
        RANK = 80
        WORDS = 'service'

        def self.alert(part, alerts)
          alerts.most('certificates of the service', 'service') do
            part['certificates'].each do |each|
              whose = "#{each['subject']} ('#{each['option']}' of the service)"
              alerts.certificate('service', whose, *each.values_at('days', 'expires'))
            end
          end
        end
      end
    end
  end
end
