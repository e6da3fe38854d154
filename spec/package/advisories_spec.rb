# frozen_string_literal: true

require 'bundler'
require_relative '../../rakelib/advisories'

# The database of published holes is on a host that no spec can reach: the weekly stage `advisories` asks it.
RSpec.describe 'The gems of the service' do
  # They were accepted: before 3.1.21 and 3.2.6, Rack has published holes, and so have the first Puma 8.
  { 'rack' => %w[3.0.0 3.1.20 3.2.0 3.2.5], 'puma' => %w[8.0.0 8.0.1] }.each do |name, versions|
    it "are not those versions of #{name} that have published holes" do
      specification = Gem::Specification.load(File.join(Advisories::ROOT, 'gems/simpkv-server/simpkv-server.gemspec'))
      bundle = Bundler::Dsl.evaluate(File.join(Advisories::ROOT, 'Gemfile'), nil, {}).dependencies
      found = [specification.dependencies, bundle].map { |all| all.find { |gem| gem.name == name }.requirement }
      expect(versions.product(found).select { |version, accepted| accepted.satisfied_by?(Gem::Version.new(version)) })
        .to eq([])
      expect(found).to all(be_satisfied_by(Gem::Version.new(Advisories.versions.dig('packaging/gems.txt', name))))
    end
  end

  it 'are compared in the oldest accepted versions, and in those of the packages' do
    oldest, packaged = Advisories.versions.values
    expect(oldest).to include('rack' => '3.2.6', 'puma' => '8.0.2', 'roda' => '3.0')
    expect(packaged.keys).to include(*oldest.keys)
    locked = Bundler::LockfileParser.new(Advisories.lock(oldest)).specs.to_h { |spec| [spec.name, spec.version.to_s] }
    expect(locked).to eq(oldest)
  end
end
