# frozen_string_literal: true

# The numbers of docs/large-sites.md: those of bench/results/scale.md, calculated for more nodes, as that page says.
class LargeSites
  FILE = File.expand_path('../bench/results/scale.md', __dir__)
  # Seconds between two runs of a node.
  PERIOD = 1800
  # The runs a second beside which the shares of processors were measured.
  RUNS = 60
  # The number of digits that a calculated number has.
  DIGITS = 2

  # A row of a table: its title, the name of the cost in the results, the amount of the result that is one unit, and
  # what else counts: `:nodes` for a cost of each node, `:runs` for a share of a processor, `:time` for what estates do
  # at once.
  Row = Struct.new(:title, :cost, :unit, :kind)
  ROWS = [
    Row.new('disk of the store, GB', 'kB on the disk a node', 1e6, :nodes),
    Row.new('memory of the server, GB', 'MB of memory (PSS) of the server', 1e3),
    Row.new('processors of the server, for the runs', "% of a processor: the server with #{RUNS} runs a second", 100,
            :runs),
    Row.new('disk of the index, GB', 'kB of the index a node', 1e6, :nodes),
    Row.new('memory of the service, GB', 'MB of memory (PSS) of the service', 1e3),
    Row.new('processors of the service, for the runs', "% of a processor: the service beside #{RUNS} runs a second",
            100, :runs),
    Row.new('minutes until the index is built', 's until the index is built', 60, :time),
    Row.new('minutes of an examination by the service', 's until the service has examined the site', 60, :time),
    Row.new('seconds to find expired nodes', 'ms to find expired nodes', 1e3, :time),
    Row.new('disk of a backup, GB', 'kB of the backup a node', 1e6, :nodes),
    Row.new('minutes of a backup', 's of a backup (export)', 60, :time),
    Row.new('minutes of a restore', 's of a restore (import)', 60, :time),
    Row.new('memory of a restore, GB', 'MB of memory of a restore (import)', 1e3)
  ].freeze

  # @param value [Float]
  # @return [String] the number, rounded up to {DIGITS} digits
  def self.rounded(value)
    return '0' unless value.positive?

    rounded = value.ceil(DIGITS - 1 - Math.log10(value).floor)
    rounded.to_i == rounded ? rounded.to_i.to_s.gsub(/(?<=\d)(?=(\d{3})+\z)/, ',') : rounded.to_s
  end

  # @param text [String] with the tables of the benchmark
  def initialize(text = File.read(FILE, encoding: 'UTF-8'))
    @remark = text[/\A# Scale\n\n(\w.*)\n/, 1]
    tables = text.scan(/^\| (\S+) \|((?: \d+ nodes \|)+) growth \|\n(.*?)\n\n/m)
    @stores = tables.to_h { |store, sizes, rows| [store, costs(sizes.scan(/\d+/).map(&:to_i), rows)] }
  end

  # @return [String, nil] what the results say about the machine
  attr_reader :remark

  # @return [String] the largest numbers of nodes at which all costs of the tables were measured
  def measured
    @stores.map { |store, costs| "#{most(costs)} in #{store}" }.join(', ')
  end

  # @param nodes [Integer]
  # @param estates [Integer] into which they are divided
  # @return [String] the table of what all of them need
  def table(nodes, estates = 1)
    head = ['', *@stores.keys]
    rows = ROWS.map { |row| [row.title, *@stores.each_value.map { |costs| cell(costs, row, nodes, estates) }] }
    [head, head.map.with_index { |_, index| index.zero? ? '---' : '---:' }, *rows]
      .map { |cells| "| #{cells.join(' | ')} |".squeeze(' ') }.join("\n")
  end

  private

  # A cell may have the processor time behind the time, and is empty if nothing was measured.
  #
  # @return [Hash{String => Hash{Integer => Float}}] the amounts by the number of nodes, by the name of the cost
  def costs(sizes, rows)
    rows.lines.drop(1).to_h do |row|
      name, *cells = row.chomp.split('|').drop(1).map(&:strip)
      [name, sizes.zip(cells).to_h.reject { |_, cell| cell.empty? }.transform_values(&:to_f)]
    end
  end

  def most(costs)
    costs.values_at(*ROWS.map(&:cost)).compact.map { |amounts| amounts.keys.max }.min
  end

  def cell(costs, row, nodes, estates)
    amounts = costs.fetch(row.cost, {})
    return '' if amounts.length < 2

    amount = amount(amounts.sort, row.kind, nodes / estates) / row.unit
    LargeSites.rounded(row.kind == :time ? amount : amount * estates)
  end

  def amount(amounts, kind, nodes)
    (fewer, less), (most, amount) = amounts.last(2)
    case kind
    when :nodes then amount * nodes
    when :runs then amounts.map(&:last).max * nodes / PERIOD / RUNS
    else amount + ([amount - less, 0].max / (most - fewer) * [nodes - most, 0].max)
    end
  end
end
