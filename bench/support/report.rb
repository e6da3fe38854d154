# frozen_string_literal: true

require 'etc'
require_relative 'side_by_side'

# What a part of the benchmarks prints, in Markdown: rows, bars and whether they are met, and what it ran on.
class Report
  # @param title [String]
  def initialize(title)
    @title = title
    @rows = []
    @bars = []
    @notes = []
  end

  # Says on stderr that the case is done: others take long.
  #
  # @param rows [Array<SideBySide::Row>] one case
  # @return [Array<SideBySide::Row>] the same
  def add(rows)
    warn "  #{rows.first.title}"
    @rows.concat(rows)
    rows
  end

  # @param lines [Array<String>] a table of another kind
  def note(*lines)
    @notes.concat(lines)
  end

  # A bar is a ratio in one run.
  #
  # @param name [String] what is compared
  # @param bar [Numeric] what is wanted at least
  # @param measured [Numeric]
  def at_least(name, bar, measured)
    @bars << [name, ">= #{bar}", measured, measured >= bar]
  end

  # As {#at_least}.
  def at_most(name, bar, measured)
    @bars << [name, "<= #{bar}", measured, measured <= bar]
  end

  # @param rows [Array<SideBySide::Row>] of one case
  # @return [SideBySide::Row] that of a contestant
  def self.row(rows, name)
    rows.find { |row| row.name == name } || raise("there is no row of #{name}")
  end

  # How many times as fast one is as another.
  def self.ratio(rows, name, other)
    row(rows, other).median / row(rows, name).median
  end

  # @param part [String] the argument of bin/bench
  # @param versions [Hash{String => String}]
  def print(part, versions)
    puts "# #{@title}", ''
    puts table, '' if @rows.any?
    puts @notes, '' if @notes.any?
    puts bars, '' if @bars.any?
    puts circumstances("bin/bench #{part}", versions)
  end

  private

  def table
    lines = ['| case | contestant | median | spread | ratio | processor | operations |',
             '|---|---|---:|---:|---:|---:|---:|']
    lines + @rows.map do |row|
      format('| %<title>s | %<name>s | %<median>.2f us | %<spread>.0f %% | %<ratio>.2f | ' \
             '%<processor>s | %<operations>d |',
             row.to_h.merge(median: row.median * 1e6, spread: row.spread * 100,
                            processor: row.processor ? format('%.2f us', row.processor * 1e6) : ''))
    end
  end

  def bars
    ['| bar | wanted | measured | met |', '|---|---:|---:|---|',
     *@bars.map do |name, bar, measured, met|
       format('| %<name>s | %<bar>s | %<measured>.2f | %<met>s |',
              name: name, bar: bar, measured: measured, met: met ? 'yes' : 'no')
     end]
  end

  def circumstances(command, versions)
    lines = ["- command: `#{command}`",
             "- versions: #{versions.map { |name, version| "#{name} #{version}" }.join(', ')}",
             "- machine: #{Etc.uname.values_at(:sysname, :release, :machine).join(' ')}, #{Etc.nprocessors} cores"]
    return lines if @rows.empty?

    [*lines, '- contestants take turns in blocks of at most 500 operations, 80 each unless operations take long;',
     '  the median of the blocks, and as spread their middle half over it; processor: what the contestant itself took']
  end
end
