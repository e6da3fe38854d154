# frozen_string_literal: true

require 'simpkv/cli/state_line'
require 'simpkv/counted'
require 'simpkv/unsafe_characters'

module Simpkv
  module Cli
    # Prints the results of a command: as a table for people, as JSON or YAML for programs.
    class Output
      # @param format [String] table, json or yaml
      def initialize(format)
        @format = format
      end

      # @return [Boolean] whether a program reads it
      def data?
        @format != 'table'
      end

      # @param data [Object] Hashes, Arrays, Strings, numbers, true, false and nil
      # @yieldreturn [Array<String, StateLine>] the lines for people; control characters in them are escaped
      # @return [void]
      def print(data)
        case @format
        when 'json' then puts(json(data))
        when 'yaml' then puts(yaml(data))
        else puts(Array(yield).map { |line| shown(line) })
        end
      end

      # Prints facts, for people a line each.
      #
      # @param facts [Hash{String => Object}] by name
      # @return [void]
      def facts(facts)
        print(facts) { Output.table(facts.map { |name, fact| ["#{name}:", fact] }) }
      end

      # @param name [String] of a key or folder; the name of a file can have any bytes
      # @return [String] the same in UTF-8, without control characters
      def self.name(name)
        text(name).gsub("\n", '\x0A')
      end

      # @param text [String] may hold what agents have sent, such as the escapes of a terminal
      # @return [String] see {UnsafeCharacters.escaped}
      def self.text(text)
        UnsafeCharacters.escaped(text)
      end

      # @param number [Integer]
      # @param noun [String] in the singular
      # @return [String] see {Counted.of}
      def self.count(number, noun)
        Counted.of(number, noun)
      end

      # @param names [Array<String>]
      # @return [String] the first 20, a line each, and the number of the others
      def self.some(names)
        more = "\n  and #{names.length - 20} more" if names.length > 20
        "  #{names.first(20).join("\n  ")}#{more}"
      end

      # @param rows [Array<Array>] of the same length
      # @return [Array<String>] lines, the columns aligned, without control characters
      def self.table(rows)
        rows = rows.map { |row| row.map { |cell| name(cell.to_s) } }
        widths = rows.transpose.map { |column| column.map(&:length).max }
        rows.map { |row| row.zip(widths).map { |cell, width| cell.ljust(width) }.join('  ').rstrip }
      end

      private

      def shown(line)
        text = Output.text(line.to_s)
        line.is_a?(StateLine) && StateLine.colours?($stdout) ? line.coloured(text) : text
      end

      def puts(lines)
        $stdout.puts(lines)
      end

      def json(data)
        require 'json'
        UnsafeCharacters.escaped_in_json(JSON.pretty_generate(data))
      end

      def yaml(data)
        require 'yaml'
        data.to_yaml
      end
    end
  end
end
