# frozen_string_literal: true

require 'etc'
require_relative 'side_by_side'

# Prints the results of a benchmark in Markdown: rows, targets, versions and machine.
class Report
  # @param title [String]
  def initialize(title)
    @title = title
    @rows = []
    @targets = []
    @notes = []
  end

  # Adds the rows of a case, and prints its title on stderr as a sign of progress.
  #
  # @param rows [Array<SideBySide::Row>]
  # @return [Array<SideBySide::Row>] the same
  def add(rows)
    warn "  #{rows.first.title}"
    @rows.concat(rows)
    rows
  end

  # @param lines [Array<String>] of another table, or of text
  def note(*lines)
    @notes.concat(lines)
  end

  # Adds a target: a ratio of one run.
  #
  # @param name [String]
  # @param target [Numeric] the least acceptable ratio
  # @param measured [Numeric]
  def at_least(name, target, measured)
    @targets << [name, ">= #{target}", measured, measured >= target]
  end

  # Adds a target, as {#at_least}, with the greatest acceptable ratio.
  def at_most(name, target, measured)
    @targets << [name, "<= #{target}", measured, measured <= target]
  end

  # @param rows [Array<SideBySide::Row>] of one case
  # @return [SideBySide::Row] the row of a contestant
  def self.row(rows, name)
    rows.find { |row| row.name == name } || raise("there is no row of #{name}")
  end

  # @return [Float] the speed of a contestant, as a multiple of the speed of another
  def self.ratio(rows, name, other)
    row(rows, other).median / row(rows, name).median
  end

  # @return [Float] the processor time of a contestant, as a multiple of the processor time of another
  def self.processor_ratio(rows, name, other)
    row(rows, name).processor / row(rows, other).processor
  end

  # @param part [String] the argument of bin/bench
  # @param versions [Hash{String => String}]
  def print(part, versions)
    puts "# #{@title}", ''
    puts table, '' if @rows.any?
    puts @notes, '' if @notes.any?
    puts targets, '' if @targets.any?
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

  def targets
    ['| ratio | target | measured | met |', '|---|---:|---:|---|',
     *@targets.map do |name, target, measured, met|
       format('| %<name>s | %<target>s | %<measured>.2f | %<met>s |',
              name: name, target: target, measured: measured, met: met ? 'yes' : 'no')
     end]
  end

  def circumstances(command, versions)
    lines = ["- command: `#{command}`",
             "- versions: #{versions.map { |name, version| "#{name} #{version}" }.join(', ')}",
             "- machine: #{Etc.uname.values_at(:sysname, :release, :machine).join(' ')}, #{Etc.nprocessors} cores"]
    return lines if @rows.empty?

    [*lines, '- contestants take turns in blocks of at most 500 operations, 80 each unless operations take long;',
     '  median: of the blocks; spread: the middle half of the blocks over the median; processor: processor time of the',
     '  contestant itself']
  end
end
