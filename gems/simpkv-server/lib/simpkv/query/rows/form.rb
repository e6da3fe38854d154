# frozen_string_literal: true

require 'simpkv/errors'

module Simpkv
  module Query
    class Rows
      # Checks of parts of documents. Each returns the part, or raises {MalformedError} without its value.
      module Form
        REFERENCE = /\A([^\[]+)\[(.*)\]\z/m.freeze
        private_constant :REFERENCE

        class << self
          # @param value [Object]
          # @param what [String] for the message, such as `the facts of 'web1'`
          # @return [Hash] an empty one for nil
          def hash(value, what)
            check(value.nil? ? {} : value, Hash, what)
          end

          # @return [Array] an empty one for nil
          def list(value, what)
            check(value.nil? ? [] : value, Array, what)
          end

          # @return [Array<Hash>] an empty one for nil
          def hashes(value, what)
            list(value, what).each { |member| check(member, Hash, what) }
          end

          # @return [String, nil]
          def text(value, what)
            value.nil? ? nil : check(value, String, what)
          end

          # @return [String]
          def name(value, what)
            check(value, String, what)
          end

          # @return [Integer, nil] nil for another value as well
          def integer(value)
            value if value.is_a?(Integer) && value.between?(0, 0x7fffffff)
          end

          # @return [Integer, nil] for a boolean column; nil for another value as well
          def flag(value)
            case value
            when true then 1
            when false then 0
            end
          end

          # @param value [Object] a reference to a resource, such as File[/etc/motd]
          # @return [Array(String, String), nil] type and title; nil for another value
          def reference(value)
            REFERENCE.match(value)&.captures if value.is_a?(String)
          end

          private

          def check(value, type, what)
            return value if value.is_a?(type)

            raise MalformedError, "#{what} cannot be read: they have another form than simpkv writes"
          end
        end
      end
      private_constant :Form
    end
  end
end
