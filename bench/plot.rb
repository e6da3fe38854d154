# frozen_string_literal: true

# Draws docs/plots/*.svg from the tables in bench/results: how costs grow. Plain Ruby, no gems.
require 'cgi'
require 'fileutils'

# A drawing of some lines over one pair of axes, both logarithmic.
class Plot
  WIDTH = 720
  HEIGHT = 420
  LEFT = 70
  RIGHT = 190 # room for the names
  TOP = 45
  BOTTOM = 55
  COLORS = %w[#444444 #0072b2 #009e73 #d55e00 #cc79a7 #e69f00].freeze
  TICKS = [1, 2, 3, 5, 7].product((-3..8).to_a).map { |digit, power| digit * (10**power.to_r) }.map(&:to_f).sort.freeze

  # @param title [String]
  # @param axes [Array(String, String)] what is drawn along x and y
  # @param lines [Hash{String => Array<Array(Numeric, Numeric)>}] points, by name
  def initialize(title, axes, lines)
    @title = title
    @axes = axes
    @lines = lines
    points = lines.values.flatten(1)
    @x_range = points.map(&:first).minmax
    @y_range = [points.map(&:last).min * 0.8, points.map(&:last).max * 1.25]
  end

  # @return [String]
  def svg
    [%(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 #{WIDTH} #{HEIGHT}" font-family="sans-serif">),
     %(<rect width="#{WIDTH}" height="#{HEIGHT}" fill="white"/>), text(LEFT, 24, @title, size: 15), *x_axis, *y_axis,
     *@lines.each_with_index.flat_map { |(name, points), number| line(name, points, number) }, '</svg>', ''].join("\n")
  end

  private

  def x(value)
    LEFT + (share(value, @x_range) * (WIDTH - LEFT - RIGHT))
  end

  def y(value)
    HEIGHT - BOTTOM - (share(value, @y_range) * (HEIGHT - TOP - BOTTOM))
  end

  # How far along the range it is, from 0 to 1.
  def share(value, range)
    low, high = range.map { |each| Math.log(each) }
    (Math.log(value) - low) / (high - low)
  end

  def x_axis
    marks = @lines.values.flatten(1).map(&:first).uniq.sort
    [rule(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM),
     *marks.map { |mark| text(x(mark), HEIGHT - BOTTOM + 18, readable(mark), anchor: 'middle') },
     text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, @axes.first, anchor: 'middle')]
  end

  def y_axis
    marks = TICKS.select { |tick| tick.between?(*@y_range) }
    [text(8, TOP - 6, @axes.last),
     *marks.flat_map do |mark|
       [rule(LEFT, y(mark), WIDTH - RIGHT, y(mark)), text(LEFT - 8, y(mark) + 4, readable(mark), anchor: 'end')]
     end]
  end

  def line(name, points, number)
    color = COLORS[number]
    path = points.map { |at, value| format('%<x>.1f,%<y>.1f', x: x(at), y: y(value)) }
    [%(<polyline points="#{path.join(' ')}" fill="none" stroke="#{color}" stroke-width="2"/>),
     *path.map { |point| %(<circle cx="#{point.split(',')[0]}" cy="#{point.split(',')[1]}" r="3" fill="#{color}"/>) },
     %(<rect x="#{WIDTH - RIGHT + 14}" y="#{TOP + (number * 20)}" width="12" height="3" fill="#{color}"/>),
     text(WIDTH - RIGHT + 32, TOP + 5 + (number * 20), name)]
  end

  def rule(from_x, from_y, to_x, to_y)
    format('<line x1="%<a>.1f" y1="%<b>.1f" x2="%<c>.1f" y2="%<d>.1f" stroke="#dddddd"/>',
           a: from_x, b: from_y, c: to_x, d: to_y)
  end

  def text(at_x, at_y, words, anchor: 'start', size: 12)
    format('<text x="%<x>.1f" y="%<y>.1f" text-anchor="%<anchor>s" font-size="%<size>d">%<words>s</text>',
           x: at_x, y: at_y, anchor: anchor, size: size, words: CGI.escapeHTML(words))
  end

  def readable(number)
    number = number.to_i if number == number.to_i
    number.to_s.gsub(/\d(?=(\d{3})+\z)/, '\\&,')
  end
end

RESULTS = File.join(__dir__, 'results')
PLOTS = File.expand_path('../docs/plots', __dir__)
UNITS = { 'B' => 1, 'KB' => 1024 }.freeze

# The rows of a table whose title matches, as lines: what the block makes of the match and of the microseconds.
def lines(result, title)
  rows = File.read(File.join(RESULTS, "#{result}.md")).scan(/^\| ([^|]+) \| ([^|]+) \| ([\d.]+) us \|/)
  rows.each_with_object({}) do |(row_title, name, median), found|
    match = title.match(row_title)
    (found[name] ||= []) << yield(match, Float(median)) if match
  end
end

PLOTTED = {
  'keys' => ['A list by the number of keys, slapd', ['keys', 'us a key'],
             -> { lines('lists', /^list of (\d+) keys, slapd$/) { |found, us| [found[1].to_i, us / found[1].to_i] } }],
  'sizes' => ['A get by the size of the value, slapd', %w[bytes us],
              -> { lines('sizes', /^get of (\d+) (K?B)$/) { |found, us| [found[1].to_i * UNITS[found[2]], us] } }],
  'threads' => ['Gets on several threads, slapd', %w[threads gets/s], lambda do
    lines('threads', /^get on (\d+) threads, slapd$/) { |found, us| [found[1].to_i, found[1].to_i * 1e6 / us] }
  end],
  # From nothing on would have no place on a logarithmic axis.
  'delay' => ['A get by what the network adds, slapd', ['ms a round trip', 'us'],
              -> { lines('distance', /^get at (0\.\d+|[1-9]) ms$/) { |found, us| [found[1].to_f, us] } }]
}.freeze

FileUtils.mkdir_p(PLOTS)
PLOTTED.each do |name, (title, axes, points)|
  File.write(File.join(PLOTS, "#{name}.svg"), Plot.new(title, axes, points.call).svg)
end
