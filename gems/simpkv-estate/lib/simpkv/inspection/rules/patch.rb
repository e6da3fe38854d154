# frozen_string_literal: true

require 'simpkv/document/json_pointer'

module Simpkv
  module Inspection
    class Rules
      # A JSON patch (RFC 6902) of a rule.
      class Patch
        # By operation, the members that it needs.
        MEMBERS = { 'add' => %w[path value], 'remove' => %w[path], 'replace' => %w[path value], 'move' => %w[path from],
                    'copy' => %w[path from], 'test' => %w[path value] }.freeze
        # Fields that a rule may lack. They are shown as null then, so that a client expects to be able to replace them.
        OPTIONAL = %w[/description /scope].freeze
        # Bytes of all copies together: each could double the rule.
        COPIED_MAX = 1024 * 1024
        private_constant :MEMBERS, :OPTIONAL, :COPIED_MAX

        # @param operations [Array<Hash>]
        # @param sensitive [Boolean] whether no operation may read conditions and actions
        def initialize(operations, sensitive)
          @operations = operations
          @sensitive = sensitive
        end

        # @param rule [Hash]
        # @return [Object] a changed copy
        # @raise [InvalidError] an operation is wrong; the message has its number
        # @raise [ConflictError] a `test` does not hold
        def apply(rule)
          raise InvalidError, 'a patch must be a list of operations' unless @operations.is_a?(Array)

          # The rule itself is a part of the data, so that a pointer to it needs no special case.
          @data = { '' => Config.copy(rule) }
          @copied = 0
          @operations.each_with_index do |operation, number|
            perform(operation)
          rescue InvalidError, ConflictError => e
            raise e.reworded("operations[#{number}]: #{e.message}"), cause: nil
          end
          @data['']
        end

        private

        def perform(operation)
          check(operation)
          path, from = operation.values_at('path', 'from')
          value = Config.copy(operation['value'])
          case operation['op']
          when 'add' then add(path, value)
          when 'remove' then remove(path)
          when 'replace' then replace(path, value)
          when 'move' then add(path, remove(from))
          when 'copy' then add(path, copy(from))
          when 'test' then test(path, value)
          end
        end

        def check(operation)
          refuse('it must be a Hash') unless operation.is_a?(Hash)
          members = MEMBERS[operation['op']] || refuse("op: it must be #{MEMBERS.keys.join(' or ')}")
          members.each { |name| check_member(operation, name) }
          check_assigned(operation)
          check_sensitive(operation) if @sensitive
        end

        # Without this, the change would have no effect, and the client would not know.
        def check_assigned(operation)
          op, path, from = operation.values_at('op', 'path', 'from')
          written = [(path unless op == 'test'), (from if op == 'move')].compact
          name = written.map { |pointer| JsonPointer.parts(pointer).first }.find { |field| assigned?(field) }
          refuse("#{name}: nobody but simpkv sets it") if name
        end

        def assigned?(field)
          Definition::ASSIGNED.include?(field)
        end

        def check_member(operation, name)
          refuse("#{name}: it is missing") unless operation.key?(name)
          return if name == 'value' || operation[name] == '' || JsonPointer.valid?(operation[name])

          refuse("#{name}: it must be a JSON pointer, such as /priority")
        end

        # A hidden field can be replaced, and is not in the result. Anything else would tell something of it.
        def check_sensitive(operation)
          op, path, from = operation.values_at('op', 'path', 'from')
          read = { 'copy' => from, 'move' => from, 'test' => path }[op]
          return unless read == '' || (read && hidden?(read)) || (hidden?(path) && path.count('/') > 1)

          refuse('the rule is sensitive: its conditions and actions can only be replaced, each as a whole')
        end

        def hidden?(path)
          Definition::HIDDEN.include?(JsonPointer.parts(path).first)
        end

        def refuse(why)
          raise InvalidError, why
        end

        def missing(path)
          refuse("there is no '#{path}'")
        end

        # @return [Array(Object, String)] the Hash or Array that holds the part, and the part's name there
        def locate(path)
          *parents, name = ['', *JsonPointer.parts(path)]
          holder = parents.inject(@data) do |data, part|
            JsonPointer.member?(data, part) ? JsonPointer.member(data, part) : missing(path)
          end
          [holder, name]
        end

        def existing(path)
          locate(path).tap { |holder, name| missing(path) unless JsonPointer.member?(holder, name) }
        end

        def read(path)
          JsonPointer.member(*existing(path))
        end

        def copy(path)
          value = read(path)
          @copied += Native.generate(value).bytesize
          refuse("the patch copies more than #{COPIED_MAX >> 20} MiB") if @copied > COPIED_MAX
          Config.copy(value)
        end

        def add(path, value)
          holder, name = locate(path)
          case holder
          when Hash then holder[name] = value
          when Array then holder.insert(position(holder, name) || missing(path), value)
          else missing(path)
          end
        end

        # @return [Integer, nil] where to insert
        def position(list, name)
          return list.length if ['-', list.length.to_s].include?(name)

          name.to_i if JsonPointer.member?(list, name)
        end

        def remove(path)
          holder, name = existing(path)
          holder.is_a?(Hash) ? holder.delete(name) : holder.delete_at(name.to_i)
        end

        def replace(path, value)
          return add(path, value) if OPTIONAL.include?(path)

          holder, name = existing(path)
          holder.is_a?(Hash) ? holder.store(name, value) : holder.fill(value, name.to_i, 1)
        end

        def test(path, value)
          raise ConflictError, "'#{path}' has another value" unless read(path) == value
        end
      end
    end
  end
end
