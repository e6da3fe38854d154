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
          alerts.certificates('certificates of the service', 'service', part) { 'the service' }
        end
      end
    end
  end
end
