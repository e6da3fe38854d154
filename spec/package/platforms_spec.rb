# frozen_string_literal: true

require 'json'
require_relative '../support/platforms'

# spec/unit/native_platform_spec.rb and spec/functions/platform_spec.rb compare the rows with what the stages run.
RSpec.describe 'The table of Rubies and Puppets in docs/install.md' do
  root = File.expand_path('../..', __dir__)
  workflow = lambda do |name|
    File.read(File.join(root, ".github/workflows/#{name}.yml")).scan(/stages: ([\w ]+)\}/).join(' ').split
  end

  it 'has a row for each Ruby from 2.7 to 3.4, OpenVox 8, Puppet 7 and Puppet 8' do
    rows = Platforms.rows
    expect(rows.map(&:ruby)).to include(*%w[2.7 3.0 3.1 3.2 3.3 3.4].map { |version| "Ruby #{version}" })
    expect(rows.select { |row| row.stages.any? }.map(&:puppet)).to include('OpenVox 8', 'Puppet 7', 'Puppet 8')
  end

  it 'names stages that CI runs for each change or once a week' do
    named = Platforms.rows.flat_map(&:stages).uniq
    expect(named - workflow.call('ci') - workflow.call('weekly')).to eq([])
  end

  it 'names a row that is not tried only if no other row has tried it' do
    tried, others = Platforms.rows.partition { |row| row.stages.any? }
    expect(others).not_to be_empty
    expect(others.map { |row| row.to_a.first(3) } & tried.map { |row| row.to_a.first(3) }).to eq([])
  end

  it 'claims no Puppet that metadata.json excludes' do
    ranges = JSON.parse(File.read(File.join(root, 'metadata.json')))['requirements'].to_h do |needed|
      [needed['name'], Gem::Requirement.new(needed['version_requirement'].scan(/[<>=]+ *[\d.]+/))]
    end
    Platforms.rows.map(&:puppet).grep(/\d/).uniq.each do |name|
      product, major = name.downcase.split
      expect(ranges.fetch(product)).to be_satisfied_by(Gem::Version.new("#{major}.0.0")), name
    end
  end
end
