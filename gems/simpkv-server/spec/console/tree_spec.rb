# frozen_string_literal: true

require 'simpkv'
require 'simpkv/server/console/tree'

RSpec.describe Simpkv::Server::Console::Tree, needs: :cext do
  def link(pointer)
    "/part?#{pointer}"
  end

  def whole(value)
    described_class.new.html(value)
  end

  def limited(value, at = [])
    described_class.new(at) { |pointer| link(pointer) }.html(value)
  end

  it 'nests branches that open without a script, sorted by name' do
    html = whole('os' => { 'name' => 'Debian', 'family' => nil }, 'list' => [1, true], 'none' => {})
    expect(html.gsub(/<[^>]*>/, ' ').split).to eq(%w[list 2 0 1 1 true none (empty) os 2 family null name Debian])
    expect(html.scan('<details>').length).to eq(2)
  end

  it 'escapes names and values' do
    markup = '<script>"\'&'
    [whole(markup => markup), limited(markup => { markup => [markup] })].each do |html|
      expect(html).not_to include('<script')
      expect(html).to include('&lt;script&gt;&quot;&#39;&amp;')
    end
  end

  it 'shows all without a block' do
    expect(whole('a' => 'x' * 100_000)).to include('x' * 100_000)
  end

  it 'leaves long texts and large branches to pages of their own' do
    html = limited({ 'text' => 'x' * 301, 'a/b' => (0..150).to_h { |n| [n.to_s, 'y' * 100] } }, ['top'])
    expect(html).to include('href="/part?/top/text">all 301 characters', 'href="/part?/top/a~1b">151 members')
    expect(html).not_to include('y')
  end

  it 'stays small, and says what is left out' do
    many = (0..5000).to_h { |n| ["name#{n}", { '"' => '"' * 300 }] }
    [many, many.values, { 'a' => many }, many.transform_values { '"' * 300 }].each do |value|
      expect(limited(value).bytesize).to be < 80_000
    end
    expect(limited(many)).to match(/and \d+ more/)
    expect(limited('"' * 10_000 => { 'a' => 'x' * 301 })).to include('all 301 characters, not shown here')
  end

  it 'names no page for a part that has none' do
    html = described_class.new { |_| nil }.html('a' => 'x' * 301)
    expect(html).to include('<small>all 301 characters, not shown here</small>')
  end
end
