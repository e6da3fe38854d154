# frozen_string_literal: true

require 'cgi'
require 'simpkv/server'

RSpec.describe 'Simpkv::Server::Console::Chart' do
  let(:chart) { Simpkv::Server::Console::Chart }
  let(:series) { %w[failed changed] }

  def column(label, numbers, name = "day #{label}")
    chart::Column.new(label, name, numbers)
  end

  # @return [Array<Hash>] the bars: `class`, `title`, and numbers
  def bars(html)
    html.scan(%r{<rect ([^>]*)><title>([^<]*)</title></rect>}).map do |attributes, title|
      values = attributes.scan(/(\w+)="([^"]*)"/).to_h
      { class: values['class'], title: title,
        **%w[x y width height].to_h { |name| [name.to_sym, values.fetch(name).to_f] } }
    end
  end

  def texts(html)
    html.scan(%r{<text [^>]*>([^<]*)</text>}).flatten.map { |text| CGI.unescapeHTML(text) }
  end

  it 'stacks the numbers of a column in the order of the series, and scales by the highest column' do
    html = chart.stacked('Runs', [column('24', 'failed' => 1, 'changed' => 3), column('25', 'changed' => 2)], series)
    failed, changed, second = bars(html)
    expect(bars(html).map { |bar| bar.values_at(:class, :title) }).to eq(
      [['failed', 'day 24: 1 failed'], ['changed', 'day 24: 3 changed'], ['changed', 'day 25: 2 changed']]
    )
    expect([changed[:height], second[:height]]).to eq([failed[:height] * 3, failed[:height] * 2])
    expect(changed[:y] + changed[:height]).to eq(failed[:y])
    expect([changed[:x], second[:x]]).to match([be_between(0, 50), be_between(50, 100)])
    expect(texts(html)).to eq(%w[4 24 25])
  end

  it 'has a title that stands for it, and neither a script nor a style' do
    html = chart.bars('Values of os.name', [['Debian', 2]])
    expect(html).to match(%r{\A<svg [^>]*role="img"[^>]*><title>Values of os\.name</title>})
    expect(html).not_to match(/style|<script|on\w+=/)
  end

  it 'draws horizontal bars, of which the longest has the full width' do
    html = chart.bars('Values', [['Debian', 4], ['RedHat', 1], [true, 0]])
    expect(bars(html).map { |bar| bar[:width] }).to eq([100, 25, 0])
    expect(texts(html)).to eq(['Debian: 4', 'RedHat: 1', 'true: 0'])
  end

  # The links in an image are no parts that a person can reach.
  it 'has links to the pages of its bars, with names, and is a group then' do
    html = chart.bars('Values', [['Debian', 4, '/facts/os?value=%22Debian%22&a=1'], ['RedHat', 1, nil]])
    expect(html).to match(/\A<svg [^>]*role="group"/)
      .and include('<a href="/facts/os?value=%22Debian%22&amp;a=1" aria-label="Debian: 4">')
    linked = chart::Column.new('24', 'day 24', { 'failed' => 1 }, '/day')
    html = chart.stacked('Runs', [linked, column('25', 'failed' => 1)], series)
    # A finger finds the whole place of a low column.
    expect(html.scan(/<a href="([^"]*)"[^>]*><rect class="place" [^>]*height="178"/).flatten).to eq(%w[/day])
    expect(html.scan('class="place"').length).to eq(1)
  end

  it 'draws values over time with gaps, and marks where there was no answer' do
    html = chart.over_time('Latency', [1, nil, 2, 0], [false, true, nil, false])
    expect(html).to include('viewBox="0 0 4 60"', 'd="M0 60V30.0h1V60zM2 60V0.0h1V60zM3 60V60.0h1V60z"',
                            'class="failed" d="M1 60V0h1V60z"')
    expect(chart.over_time('None', [])).to include('d=""')
  end

  it 'shows markup as text, and cuts a long one' do
    hostile = '"><img src=x onerror=alert(1)><script>alert(1)</script>'
    html = chart.bars(hostile, [[hostile, 1], ['x' * 10_000, 1]]) +
           chart.stacked(hostile, [column(hostile, { 'failed' => 1 }, hostile)], series)
    expect(html.scan(%r{<(?!/)[^ >]*}).uniq).to match_array(%w[<svg <title <text <rect <line])
    expect(html.count('<')).to eq(html.count('>'))
    expect(html.length).to be < 4000
    expect(texts(chart.bars('', [[hostile, 1]])).first).to start_with('"><img src=x')
  end

  it 'is empty without data, and flat if all numbers are 0' do
    expect(bars(chart.bars('None', []))).to eq([])
    expect(bars(chart.stacked('None', [], series))).to eq([])
    expect(bars(chart.stacked('None', [column('1', {})], series))).to eq([])
    expect(bars(chart.bars('None', [['a', 0]])).map { |bar| bar[:width] }).to eq([0])
  end
end
