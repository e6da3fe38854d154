# frozen_string_literal: true

require 'simpkv/document/json_pointer'

module Simpkv
  module Termini
    # Wraps the values of parameters that the member `sensitive` of a declared record names, and unwraps them. For
    # Puppet they are Sensitive, also as a part of another value.
    module SensitiveParameters
      SENSITIVE = Puppet::Pops::Types::PSensitiveType::Sensitive
      private_constant :SENSITIVE

      class << self
        # @param record [Hash] see {Estate::Nodes}
        # @return [Hash] a copy
        def wrap(record)
          paths = (record['sensitive'] || []).map { |path| JsonPointer.parts(path) }
          return record if paths.empty?

          classes = below(paths, 'classes')
          record.merge('parameters' => members(record['parameters'], below(paths, 'parameters')),
                       'classes' => with_members(record['classes'], classes))
        end

        # @param record [Hash] see {Estate::Nodes}, with objects of Puppet as values
        # @return [Hash] a copy without Sensitive values, which `sensitive` names
        def unwrap(record)
          paths = []
          plain = plain(record, []) { |path| paths << JsonPointer.of(path) }
          paths.empty? ? plain : plain.merge('sensitive' => paths.sort)
        end

        private

        def plain(value, path, &found)
          case value
          when SENSITIVE
            yield path
            value.unwrap
          when Hash then value.to_h { |name, member| [name, plain(member, [*path, name.to_s], &found)] }
          when Array then value.each_with_index.map { |member, index| plain(member, [*path, index.to_s], &found) }
          else value
          end
        end

        # @param classes [Hash, Array, nil]
        # @return [Hash, Array, nil] names stay as they are
        def with_members(classes, paths)
          return classes unless classes.is_a?(Hash)

          classes.to_h { |name, parameters| [name, members(parameters, below(paths, name))] }
        end

        # @param paths [Array<Array<String>>] what is left of the pointers; an empty one is for the whole value
        # @return [Array<Array<String>>] what is left of them for a member
        def below(paths, name)
          paths.select { |path| path.empty? || path.first == name }.map { |path| path.drop(1) }
        end

        def members(value, paths)
          case value
          when Hash then value.to_h { |name, member| [name, value(member, below(paths, name))] }
          when Array then value.each_with_index.map { |member, index| value(member, below(paths, index.to_s)) }
          else value
          end
        end

        def value(value, paths)
          return value if paths.empty?

          paths.any?(&:empty?) ? SENSITIVE.new(value) : members(value, paths)
        end
      end
    end
  end
end
