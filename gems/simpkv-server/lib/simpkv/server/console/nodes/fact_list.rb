# frozen_string_literal: true

require 'simpkv/document/json_pointer'

module Simpkv
  module Server
    module Console
      # The facts of a node, as a list of their parts, of which a person looks for some; or other data with parts.
      class FactList
        # - `path`: in words, such as `os.release.major`
        # - `pointer`: see {JsonPointer}
        Part = Struct.new(:path, :pointer, :value)

        # @param facts [Hash]
        def initialize(facts)
          @facts = facts
        end

        # @param text [String] in the path or the value of a part; case does not matter
        # @return [Array<Part>] sorted by path
        def with(text)
          wanted = text.downcase
          parts.select { |part| part.path.downcase.include?(wanted) || part.value.to_s.downcase.include?(wanted) }
               .sort_by(&:path)
        end

        # @param pointer [String]
        # @return [Object] the part of the facts
        # @raise [Problem] 404
        def at(pointer)
          return @facts if pointer.empty?

          missing unless JsonPointer.valid?(pointer)
          JsonPointer.parts(pointer).reduce(@facts) do |data, name|
            missing unless JsonPointer.member?(data, name)
            JsonPointer.member(data, name)
          end
        end

        private

        def missing
          raise Problem.new(404, 'there is no such part')
        end

        def parts
          found = []
          enter(@facts, [], found)
          found
        end

        def enter(value, at, found)
          members = members(value)
          return found << Part.new(at.join('.'), JsonPointer.of(at), value) if members.empty?

          members.each { |name, member| enter(member, [*at, name.to_s], found) }
        end

        # A leaf, and an empty branch, have none.
        def members(value)
          case value
          when Hash then value.to_a
          when Array then value.each_with_index.map { |member, index| [index, member] }
          else []
          end
        end
      end
    end
  end
end
