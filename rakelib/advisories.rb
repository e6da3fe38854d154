#!/usr/bin/env ruby
# frozen_string_literal: true

require 'rubygems'
require 'tmpdir'

# A lock file for bundler-audit with the gems that the service needs, once in the oldest versions that
# simpkv-server.gemspec accepts, and once in those of packaging/gems.txt.
module Advisories
  ROOT = File.expand_path('..', __dir__)

  class << self
    # @return [Hash{String => Hash{String => String}}] for each source of versions, the version of each gem
    def versions
      { 'gems/simpkv-server/simpkv-server.gemspec' => oldest, 'packaging/gems.txt' => packaged }
    end

    # @param gems [Hash{String => String}]
    # @return [String] a lock file
    def lock(gems)
      specs = gems.map { |name, version| "    #{name} (#{version})\n" }
      names = gems.keys.map { |name| "  #{name}\n" }
      "GEM\n  remote: https://gems.example.com/\n  specs:\n#{specs.join}\n" \
        "PLATFORMS\n  ruby\n\nDEPENDENCIES\n#{names.join}"
    end

    # Asks bundler-audit, which is in the folder of gems.
    #
    # @param options [Array<String>] of `bundle-audit check`
    # @return [Boolean] whether it knows no hole
    def none?(*options)
      versions.map do |source, gems|
        Dir.mktmpdir do |folder|
          gemfile = File.join(folder, 'Gemfile')
          File.write(gemfile, '')
          File.write("#{gemfile}.lock", lock(gems))
          puts "#{source}: #{gems.map { |name, version| "#{name} #{version}" }.join(', ')}"
          system({ 'BUNDLE_GEMFILE' => gemfile }, File.join(Gem.dir, 'bin/bundle-audit'), 'check', folder, *options)
        end
      end.all?
    end

    private

    def oldest
      specification = Gem::Specification.load(File.join(ROOT, 'gems/simpkv-server/simpkv-server.gemspec'))
      others = specification.runtime_dependencies.reject { |gem| gem.name.start_with?('simpkv') }
      others.to_h { |gem| [gem.name, floor(gem.requirement).to_s] }
    end

    # @param requirement [Gem::Requirement]
    # @return [Gem::Version] the oldest one that it accepts
    def floor(requirement)
      requirement.requirements.reject { |operator, _| operator == '<' }.map(&:last).max
    end

    def packaged
      lines = File.readlines(File.join(ROOT, 'packaging/gems.txt')).grep_v(/^#/)
      lines.to_h { |line| line.split.first(2) }
    end
  end
end

exit(Advisories.none?('--update', *ARGV)) if $PROGRAM_NAME == __FILE__
