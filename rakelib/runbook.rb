# frozen_string_literal: true

require 'erb'
require 'yaml'
require_relative 'runbook_sources'

# docs/runbook.md: what to do about each alert, finding of `simpkv doctor`, error, exit code and status of HTTP. The
# rows are in rakelib/runbook.yaml, and {RunbookSources} reads from the code which rows there must be.
module Runbook
  # The sections of the file, and the words in front of the names in headings.
  HEADINGS = { 'alerts' => 'Alert:', 'findings' => 'doctor:', 'errors' => 'Error:', 'exit_codes' => 'Exit code',
               'http' => 'HTTP' }.freeze
  private_constant :HEADINGS

  class << self
    # @return [Hash{String => Hash{String => Hash}}] the rows, by section and name
    def rows
      @rows ||= YAML.safe_load(File.read(File.join(__dir__, 'runbook.yaml'), encoding: 'UTF-8'))
                    .transform_values { |section| section.transform_keys(&:to_s) }
    end

    # @return [String] docs/runbook.md
    def page
      template = File.read(File.join(__dir__, 'runbook.md.erb'), encoding: 'UTF-8')
      ERB.new(template, trim_mode: '-').result(binding)
    end

    # @param section [String]
    # @param name [String] of a row
    # @return [String] the heading of its part of the page
    def heading(section, name)
      "#{HEADINGS.fetch(section)} #{name}"
    end

    # @param section [String]
    # @param name [String] of a row
    # @return [String] the anchor of its heading, as GitHub makes it
    def anchor(section, name)
      heading(section, name).downcase.gsub(/[^\p{Alnum} _-]/, '').tr(' ', '-')
    end

    # @return [Array<String>] the anchors of all rows
    def anchors
      rows.flat_map { |section, named| named.keys.map { |name| anchor(section, name) } }
    end

    # @return [Array<String>] all commands of the page, a line each
    def commands
      rows.values.flat_map(&:values).flat_map { |row| row['command'].to_s.lines(chomp: true) }
    end

    # @param commands [String]
    # @return [String] Markdown for commands to paste
    def code(commands)
      "```sh\n#{commands.strip}\n```"
    end

    # @param word [String] what the text tells
    # @return [String] a paragraph
    def part(word, text)
      wrapped("**#{word}:** #{text}")
    end

    # @return [String] lines of at most 100 columns, which no link spans
    def wrapped(text)
      text.gsub(/\[[^\]]+\]\([^)]+\)/) { |link| link.tr(' ', "\0") }
          .gsub(/(\S.{0,99})(?:\s+|\z)/, "\\1\n").strip.tr("\0", ' ')
    end

    # @param alert [String]
    # @return [String] its summary if it has all labels, with their names in place of values
    def summary(alert)
      text = RunbookSources.alerts.fetch(alert).fetch('annotations').fetch('summary')
      text.gsub(/\{\{ if [^}]*\}\}(.*?)(?:\{\{ else \}\}.*?)?\{\{ end \}\}/, '\1')
          .gsub(/\{\{ \$(?:labels\.)?(\w+).*?\}\}/) { "`#{Regexp.last_match(1)}`" }
    end

    # @param error [String]
    # @return [String] the codes that stand for it, with links
    def codes(error)
      code = RunbookSources.exit_code(error)
      status = RunbookSources.http_status(error)
      "Exit code [#{code}](##{anchor('exit_codes', code)}), HTTP [#{status}](##{anchor('http', status)})."
    end

    # @param names [Array<String>] of errors
    # @return [String] Markdown with their links
    def links(names)
      names.map { |name| "[#{name}](##{anchor('errors', name)})" }.join(', ')
    end
  end
end
