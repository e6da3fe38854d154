# frozen_string_literal: true

require_relative '../../bench/support/costs'
require_relative '../../rakelib/large_sites'
require_relative '../support/scratch'

# The numbers of docs/large-sites.md, and the table that they come from.
RSpec.describe LargeSites do
  let(:folder) { Scratch.make('large-sites') }
  let(:costs) { Costs.new(File.join(folder, 'files.json'), 'simpkv' => '1') }
  let(:text) { costs.table('files').join("\n") }

  after { FileUtils.remove_entry(folder) }

  # @param amounts [Hash{Integer => Numeric}] by the number of nodes
  def add(name, amounts, processor = {})
    amounts.each { |nodes, amount| costs.add(name, nodes, amount, processor[nodes]) }
  end

  # @return [String] the cell of a row
  def cell(title, nodes, estates = 1)
    described_class.new("#{text}\n\n").table(nodes, estates)[/^\| #{title} \|(.*)\|$/, 1].strip
  end

  it 'multiplies what a node takes' do
    add('kB on the disk a node', 1000 => 120, 3000 => 110)
    expect(cell('disk of the store, GB', 100_000)).to eq('11')
    expect(cell('disk of the store, GB', 500_000, 5)).to eq('55')
  end

  it 'goes on with what more nodes have added, and leaves out processor time' do
    add('s until the index is built', { 1000 => 10.0, 3000 => 30.0 }, { 1000 => 7, 3000 => 9 })
    expect(cell('minutes until the index is built', 100_000)).to eq('17')
    expect(cell('minutes until the index is built', 500_000, 5)).to eq('17')
    expect(cell('minutes until the index is built', 500_000)).to eq('84')
  end

  it 'says at how many nodes all was measured' do
    add('kB on the disk a node', 1000 => 120, 3000 => 110)
    add('s until the index is built', 300 => 3.0, 1000 => 10.0)
    expect(described_class.new("#{text}\n\n").measured).to eq('1000 in files')
  end

  it 'has the largest share of a processor for the runs of all nodes' do
    add('% of a processor: the service beside 60 runs a second', 1000 => 30, 3000 => 10)
    expect(cell('processors of the service, for the runs', 108_000)).to eq('0.3')
  end

  it 'has no number that was not measured, or only once' do
    add('kB on the disk a node', 1000 => 120, 3000 => 110)
    add('s until the index is built', 1000 => 10.0)
    expect(cell('memory of the server, GB', 100_000)).to eq('')
    expect(cell('minutes until the index is built', 100_000)).to eq('')
  end

  it 'rounds up to two digits' do
    expect([0, 0.0123, 1.23, 99.1, 12_345].map { |value| described_class.rounded(value.to_f) })
      .to eq(['0', '0.013', '1.3', '100', '13,000'])
  end

  describe Costs do
    # @return [Array(String, String)] the last cell of the only row, and the sentence below the table
    def growth(amounts, processor = {})
      add('ms: x', amounts, processor)
      row, _, sentence = costs.table('files').last(3)
      [row[/([^|]*) \|\z/, 1].strip, sentence]
    end

    it 'leaves out what a cost is without nodes' do
      expect(growth(1000 => 1010, 10_000 => 1100, 100_000 => 2000))
        .to eq(['1.00', 'Nothing grows faster than the data.'])
    end

    it 'names what grows faster than the data' do
      expect(growth(1000 => 11, 10_000 => 1010, 100_000 => 100_010))
        .to eq(['2.00', 'Faster than the data grow: ms: x.'])
    end

    it 'is that of all nodes, if it is that of a node' do
      add('kB on the disk a node', { 1000 => 100, 10_000 => 100, 100_000 => 100 })
      expect(costs.table('files')[2]).to end_with('| 1.00 |')
    end

    it 'takes processor time, if there is any' do
      slow = { 1000 => 10, 10_000 => 100, 100_000 => 10_000 }
      expect(growth(slow, 1000 => 10, 10_000 => 100, 100_000 => 1000).first).to eq('1.00')
    end

    it 'takes no growth from noise, and none from a cost that is no larger' do
      expect(growth(1000 => 3, 10_000 => 4, 100_000 => 7.9).first).to eq('')
      expect(growth(1000 => 30, 10_000 => 40, 100_000 => 20).first).to eq('')
    end

    it 'is kept for another run' do
      add('ms: x', { 1000 => 1.5 }, { 1000 => 0.5 })
      again = described_class.new(File.join(folder, 'files.json'), {})
      expect([again.versions, again.table('files')]).to eq([{ 'simpkv' => '1' }, costs.table('files')])
    end
  end
end
