# frozen_string_literal: true

module Simpkv
  module Audit
    # Makes the lines of an audit log, a JSON object each. They name a key, and never have a value.
    class Line
      # Texts that JSON has as they are.
      PLAIN = %r{\A[\w.:/@=,+ -]*\z}.freeze
      # Characters that a terminal takes for commands, that change the direction or the lines of a text, or that nobody
      # sees: control and format characters, spaces, fillers, selectors of variations, and tags.
      UNSAFE = /[\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f]|
                [\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{13430}-\u{1345f}]|
                [\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/x.freeze
      # Bytes of a line beside the texts in it.
      FRAME = 400
      private_constant :PLAIN, :UNSAFE, :FRAME

      class << self
        # @param value [String] of any bytes
        # @return [String] as JSON
        def text(value)
          value = utf8(value)
          return %("#{value}") if value.match?(PLAIN)

          Native.generate(value).gsub(UNSAFE) { |character| escaped(character) }
        end

        # @return [String] the character as JSON escapes it: beyond U+FFFF, as two units of UTF-16
        def escaped(character)
          character.encode(Encoding::UTF_16BE).unpack('n*').map { |unit| format('\\u%04x', unit) }.join
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
        environment, key = place(Line.utf8(string(path)))
        environment = environment ? Line.text(environment) : 'null'
        # Before Ruby 3, such a String is frozen.
        +%({"time":"#{Line.now}","operation":"#{operation}",#{@before}"environment":#{environment},) <<
          %("key":#{Line.text(key)},"node":#{node},#{@after}"pid":#{Process.pid},"outcome":"#{outcome}"#{more},) <<
          %("duration_us":#{duration_us}}\n)
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
