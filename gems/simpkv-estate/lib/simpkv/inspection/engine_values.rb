# frozen_string_literal: true

module Simpkv
  module Inspection
    # Makes data readable for the engine of the inspection rules. It reads integers of 64 bits, and no names with NUL.
    module EngineValues
      class << self
        # @param data [Object] plain data
        # @return [Object] a copy with floating-point numbers in place of larger integers, and without members whose
        #   names have a NUL: no rule can name them
        def of(data)
          case data
          when Hash then data.reject { |name, _| name.include?("\0") }.transform_values { |value| of(value) }
          when Array then data.map { |value| of(value) }
          when Integer then number(data)
          else data
          end
        end

        private

        def number(integer)
          integer.bit_length > 63 ? integer.to_f : integer
        end
      end
    end
  end
end
