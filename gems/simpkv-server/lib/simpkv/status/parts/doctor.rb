# frozen_string_literal: true

require 'simpkv/counted'
require 'simpkv/status/part'

module Simpkv
  module Status
    module Parts
      # The findings of doctor, which the service runs: see {Server::DoctorProcess}.
      class Doctor < Part
        RANK = 70
        WORDS = 'findings of doctor'

        def self.alert(part, alerts)
          problems, warnings, unknown = part['counts'].values_at('problem', 'warning', 'unknown')
          add('critical', 'finds', problems, 'problem', alerts)
          add('warning', 'has', warnings, 'warning', alerts)
          add('warning', 'could not examine', unknown, 'subject', alerts)
        end

        def self.add(level, verb, number, noun, alerts)
          return if number.zero?

          alerts.add(level, 'doctor', "simpkv doctor #{verb} #{Counted.of(number, noun)}.")
        end
        private_class_method :add
      end
    end
  end
end
