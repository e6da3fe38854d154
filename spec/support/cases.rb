# frozen_string_literal: true

require 'json'

# The tables of cases that the C tests read too: ext/core/test/cases/*.tsv, and *.jsonl with one JSON object a line.
module Cases
  FOLDER = File.expand_path('../../ext/core/test/cases', __dir__)
  ESCAPES = { 't' => "\t", 'n' => "\n", 'r' => "\r", '0' => "\0" }.freeze
  private_constant :FOLDER, :ESCAPES

  # @return [Array<Array<String>>] the fields of each line, as check.h describes them
  def self.read(name)
    lines = File.readlines(File.join(FOLDER, name), encoding: 'UTF-8', chomp: true)
    cases = lines.reject { |line| line.empty? || line.start_with?('#') }
    raise "#{name} holds no cases" if cases.empty?

    cases.map { |line| line.split("\t", -1).map { |field| unescape(field) } }
  end

  # @return [Array<Hash>] the objects of a file of JSON lines
  def self.read_json(name)
    File.readlines(File.join(FOLDER, name), encoding: 'UTF-8', chomp: true).map { |line| JSON.parse(line) }
  end

  def self.unescape(field)
    field.b.gsub(/\\(?:x(\h\h)|(.))/m) do
      if ::Regexp.last_match(1)
        ::Regexp.last_match(1).hex.chr
      else
        ESCAPES.fetch(::Regexp.last_match(2),
                      ::Regexp.last_match(2))
      end
    end.force_encoding(Encoding::UTF_8)
  end
  private_class_method :unescape
end
