# frozen_string_literal: true

require 'simpkv/unsafe_characters'

module Simpkv
  module Audit
    # Makes the lines of an audit log, a JSON object each. They name a key, and never have a value.
    class Line
      # Texts that JSON writes unchanged.
      PLAIN = %r{\A[\w.:/@=,+ -]*\z}.freeze
      # Bytes of a line beside the texts in it.
      FRAME = 400
      private_constant :PLAIN, :FRAME

      class << self
        # @param value [String] of any bytes
        # @return [String] as JSON
        def text(value)
          value = utf8(value)
          return %("#{value}") if value.match?(PLAIN)

          UnsafeCharacters.escaped_in_json(Native.generate(value))
        end

        # @param value [String] of any bytes
        # @return [String] UTF-8, with U+FFFD for other bytes
        def utf8(value)
          return value if value.encoding == Encoding::UTF_8 && value.valid_encoding?

          value.dup.force_encoding(Encoding::UTF_8).scrub
        end

        # @param count [Integer] of lines
        # @return [String] the line about lines that could not be written
        def lost(count)
          %({"time":"#{now}","operation":"audit","pid":#{Process.pid},"outcome":"lost","count":#{count}}\n)
        end

        # @return [String] the time now: UTC, with microseconds
        def now
          microseconds = Process.clock_gettime(Process::CLOCK_REALTIME, :microsecond)
          second, fraction = microseconds.divmod(1_000_000)
          known, text = @second
          unless known == second
            text = Time.at(second).utc.strftime('%Y-%m-%dT%H:%M:%S')
            @second = [second, text].freeze
          end
          "#{text}.#{fraction.to_s.rjust(6, '0')}Z"
        end
      end

      # @param backend [String] `<type>/<id>`
      # @param identity [String] as which the process uses the store
      # @param user [String] that runs it
      # @param node [String, #call] returns the node that operations are for
      def initialize(backend, identity, user, node)
        @before = %("backend":#{Line.text(backend)},)
        @after = %("identity":#{Line.text(identity)},"user":#{Line.text(user)},)
        @node = node.is_a?(String) ? Line.text(node) : node
      end

      # @param path [String] in the store
      # @return [Integer] a bound of the size of its line, in bytes
      def size(path)
        FRAME + @before.bytesize + @after.bytesize + (6 * string(path).bytesize)
      end

      # @param operation [String]
      # @param path [String] of a key or folder in the store
      # @param outcome [String]
      # @param duration_us [Integer]
      # @param more [String] further members, each with a comma before it
      # @return [String] with a newline at its end
      def of(operation, path, outcome, duration_us, more = '')
        # Before Ruby 3, such a String is frozen.
        +%({"time":"#{Line.now}","operation":"#{operation}",#{about(path)}"node":#{node},#{@after}) <<
          %("pid":#{Process.pid},"outcome":"#{outcome}"#{more},) <<
          %("duration_us":#{duration_us}}\n)
      end

      # @param path [String] of a key or folder in the store
      # @return [String] the part of a line that names the backend and the key
      def about(path)
        environment, key = place(Line.utf8(string(path)))
        environment = environment ? Line.text(environment) : 'null'
        %(#{@before}"environment":#{environment},"key":#{Line.text(key)},)
      end

      private

      # @return [Array(String, String)] the environment, nil for global keys, '' above all environments; and the key
      def place(path)
        root, environment, key = path.split('/', 3)
        case root
        when 'environments' then environment ? [environment, key || ''] : ['', '']
        when 'globals' then [nil, key ? "#{environment}/#{key}" : environment || '']
        else ['', path]
        end
      end

      def node
        @node.is_a?(String) ? @node : Line.text(@node.call)
      end

      # The store refuses a key that is no String, and the line has an empty one.
      def string(path)
        String.try_convert(path) || ''
      end
    end
  end
end
