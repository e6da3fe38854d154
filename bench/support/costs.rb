# frozen_string_literal: true

require 'fileutils'
require 'json'

# What a store of different numbers of nodes costs, and how each cost grows.
class Costs
  # A cost that grows with a larger exponent grows faster than the data.
  LIMIT = 1.15
  # By the unit of a cost, what more nodes have to add to it at least: less is the noise of a machine.
  NOISE = { 'ms' => 5, 's' => 0.5, 'MB' => 5, 'kB' => 5, '%' => 2 }.freeze

  # One cost: an amount by the number of nodes. `processor` is the part of it that other programs on the machine do not
  # change, by the same; empty if there is none.
  Cost = Struct.new(:name, :amounts, :processor) do
    # @return [Hash{Integer => Float}] from which growth is calculated: of all nodes
    def basis
      basis = processor.any? ? processor : amounts
      name.match?(/\A(?!ms:).* a node\z/) ? basis.to_h { |nodes, amount| [nodes, amount * nodes] } : basis
    end

    # Leaves out what the cost is without nodes: compares what two steps have added. The exponent of a constant is 0.
    #
    # @return [Float, nil] the exponent of the number of nodes with which the cost grows; nil if it is not known, or if
    #   no more was added than noise
    def growth
      (first, a), (second, b), (third, c) = basis.sort.last(3)
      return unless third && c - a > NOISE.fetch(name[/\A[^\s:]+/]) && b > a && c > b

      added = [(b - a).fdiv(second - first), (c - b).fdiv(third - second)]
      1 + (Math.log(added.last / added.first) / Math.log(Math.sqrt(third.fdiv(first))))
    end
  end

  # @param file [String] which keeps them, for another run with more nodes
  # @param versions [Hash{String => String}]
  def initialize(file, versions)
    @file = file
    kept = File.exist?(file) ? JSON.parse(File.read(file)) : { 'costs' => [] }
    @costs = kept['costs'].to_h do |name, *amounts|
      [name, Cost.new(name, *amounts.map { |each| each.transform_keys { |nodes| Integer(nodes) } })]
    end
    @versions = versions.any? ? versions : kept['versions']
  end

  # @return [Hash{String => String}]
  attr_reader :versions

  # @param name [String] begins with the unit
  # @param nodes [Integer]
  # @param amount [Numeric]
  # @param processor [Numeric, nil] of processor time, in the same unit
  # @return [void]
  def add(name, nodes, amount, processor = nil)
    cost = @costs[name] ||= Cost.new(name, {}, {})
    cost.amounts[nodes] = amount
    cost.processor[nodes] = processor if processor
    File.write(@file, JSON.generate('versions' => versions, 'costs' => @costs.values.map(&:to_a)))
  end

  # @param title [String]
  # @return [Array<String>] a table, and a sentence about what grows faster than the data
  def table(title)
    sizes = @costs.values.flat_map { |cost| cost.amounts.keys }.uniq.sort
    rows = @costs.values.map { |cost| [cost.name, *cells(cost, sizes), number(cost.growth)] }
    lines = [[title, *sizes.map { |size| "#{size} nodes" }, 'growth'], ['---', *['---:'] * (sizes.length + 1)], *rows]
    [*lines.map { |cells| "| #{cells.join(' | ')} |" }, '', verdict]
  end

  private

  def cells(cost, sizes)
    sizes.map { |size| [cost.amounts, cost.processor].map { |each| number(each[size]) }.reject(&:empty?).join(' / ') }
  end

  def number(value)
    value ? format('%.2f', value) : ''
  end

  def verdict
    fast = @costs.values.select { |cost| cost.growth.to_f > LIMIT }
    return 'Nothing grows faster than the data.' if fast.empty?

    "Faster than the data grow: #{fast.map(&:name).join('; ')}."
  end
end
