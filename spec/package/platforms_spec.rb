# frozen_string_literal: true

require 'bundler'
require 'json'
require 'rubygems/remote_fetcher'
require 'rubygems/resolver'
require_relative '../support/platforms'

# spec/unit/native_platform_spec.rb and spec/functions/platform_spec.rb compare the rows with what the stages run.
RSpec.describe 'The table of Rubies and Puppets in docs/install.md' do
  root = File.expand_path('../..', __dir__)
  workflow = lambda do |name|
    File.read(File.join(root, ".github/workflows/#{name}.yml")).scan(/stages: ([\w ]+)\}/).join(' ').split
  end

  # @param name [String] such as 'OpenVox 8'
  # @return [Boolean] whether metadata.json allows that major version
  define_method(:allowed?) do |name|
    product, major = name.downcase.split
    requirements = JSON.parse(File.read(File.join(root, 'metadata.json')))['requirements']
    range = requirements.find { |needed| needed['name'] == product }.fetch('version_requirement')
    Gem::Requirement.new(range.scan(/[<>=]+ *[\d.]+/)).satisfied_by?(Gem::Version.new("#{major}.0.0"))
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

  # The registry may have a new release at any time, so the weekly run asks it.
  describe 'and the registry', :long do
    # @return [Hash{Integer => Gem::Resolver::APISpecification}] by major version from 7 on, the newest release
    def newest(name)
      wanted = Gem::Resolver::DependencyRequest.new(Gem::Dependency.new(name, '>= 7'), nil)
      found = Gem.sources.first.dependency_resolver_set.find_all(wanted)
      releases = found.select { |release| release.platform == 'ruby' && !release.version.prerelease? }
      raise "the registry has no #{name}" if releases.empty?

      releases.group_by { |release| release.version.segments.first }
              .transform_values { |group| group.max_by(&:version) }
    end

    { 'openvox' => 'OpenVox', 'puppet' => 'Puppet' }.each do |gem, product|
      it "have the same major versions of #{product}, of which the page names those that the module excludes" do
        tried = Platforms.rows.select { |row| row.stages.any? }.map(&:puppet)
        majors = newest(gem).keys.map { |major| "#{product} #{major}" }
        expect(majors - tried).to match_array(Platforms.excluded.grep(/\A#{product} /))
      end

      it "have the same newest #{product} 8, which runs on the Ruby of the tests" do
        release = newest(gem).fetch(8)
        gemfile = File.join(root, 'spec/support/puppet8.gemfile')
        range = Bundler::Dsl.evaluate(gemfile, nil, {}).dependencies.find { |wanted| wanted.name == gem }.requirement
        expect(range).to be_satisfied_by(release.version)
        expect(release.required_ruby_version).to be_satisfied_by(Gem.ruby_version)
      end
    end
  end

  it 'names as excluded what metadata.json excludes' do
    expect(Platforms.excluded).not_to be_empty
    Platforms.excluded.each { |name| expect(allowed?(name)).to be(false), name }
  end

  it 'claims no Puppet that metadata.json excludes' do
    Platforms.rows.map(&:puppet).grep(/\d/).uniq.each { |name| expect(allowed?(name)).to be(true), name }
  end
end
