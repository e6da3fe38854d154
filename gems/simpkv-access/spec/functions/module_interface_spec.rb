# frozen_string_literal: true

require_relative '../../../../spec/puppet_helper'
require_relative '../../../../spec/support/another_ruby'
%w[adapter config/site_check resources resources/access_catalog termini/node_query termini/estate_query].each do |name|
  require "simpkv/#{name}"
end

# The gem is process-wide, and supports modules that are older than itself (docs/adr/0058). This is what a module uses.
RSpec.describe "What the module's code uses of the gem" do
  root = File.expand_path('../../../../lib', __dir__)

  let(:used) do
    files = Dir[File.join(root, '{puppet/{functions,type,provider,feature},puppet_x}/**/*.rb')]
    code = files.flat_map { |file| File.readlines(file) }.grep_v(/^\s*#/)
    names = code.flat_map { |line| line.scan(/\bSimpkv(?:::[A-Z]\w*)+(?:\.[a-z]\w*[?!]?)?/) }
    asked = code.flat_map { |line| line.scan(/Gems\.(?:demand|find)\('(\w+)', '(\w+)'/).map { |all| all.join('/') } }
    (names + asked).uniq.sort
  end

  it 'is this: without a name of it, increase OLDEST_API and API; with another one, API; and `wanted` of the module' do
    expect(used).to eq(%w[
                         Simpkv::API Simpkv::Access::Declarations.data Simpkv::Access::Refused Simpkv::Adapter
                         Simpkv::Adapter::EnvironmentCode.evaluate Simpkv::Adapter::EnvironmentCode.kept
                         Simpkv::Adapter::PluginMethods Simpkv::ConfigError Simpkv::Error Simpkv::Gems.demand
                         Simpkv::Gems.find Simpkv::Gems::MissingError Simpkv::InvalidError
                         Simpkv::Native.key_check Simpkv::OLDEST_API Simpkv::Resources::Catalog Simpkv::Resources::Catalog.new
                         Simpkv::Resources::Key Simpkv::SiteCheck.check Simpkv::Store Simpkv::TooLargeError Simpkv::VERSION
                         Simpkv::Validation.check access/declarations resources/access_catalog termini/estate_query
                         termini/node_query
                       ])
  end

  it 'is there' do
    missing = used.reject do |name|
      next Simpkv::Gems.demand(*name.split('/'), name) if name.include?('/')

      constant, method = name.split('.')
      Object.const_defined?(constant) && (method.nil? || Object.const_get(constant).respond_to?(method))
    end
    expect(missing).to be_empty
  end

  # A file that the module names had needed one that only another file loaded.
  it 'loads each file of the gem that it requires by itself', needs: :fork do
    features = Dir[File.join(root, '{puppet,puppet_x}/**/*.rb')].flat_map do |file|
      File.read(file, encoding: 'UTF-8').scan(%r{require '(simpkv[\w/]*)'}).flatten
    end
    script = <<~RUBY
      require 'puppet'
      ARGV.each do |feature|
        Process.wait(fork { require feature })
        puts feature unless $?.success?
      end
    RUBY
    command = AnotherRuby.command('-e', script, *features.uniq)
    expect([features.uniq.length > 2, IO.popen(command, err: %i[child out], &:read)]).to eq([true, ''])
  end
end
