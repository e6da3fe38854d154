# frozen_string_literal: true

require_relative '../support/puppet_server'
require_relative '../support/slapd'

# Servers and stores of specs start and write faster than those of a site. The benchmark of puppetserver ran with a
# compiler of Java for short runs, at half of the speed; slapd and the stores in files did not flush their writes.
RSpec.describe 'The benchmarks' do
  sources = Dir[File.expand_path('../../bench/**/*.rb', __dir__)].to_h { |file| [File.basename(file), File.read(file)] }

  # @return [Hash{String => Array<String>}] the calls of a method, with their arguments, by file
  def self.calls(sources, name)
    sources.transform_values { |text| text.scan(/\b#{name}\(.*$/) }.reject { |_, calls| calls.empty? }
  end

  # By call: what it needs, so that the benchmark measures what a site has.
  { 'PuppetServer\.new' => /java: PuppetServer\.site_java/,
    'PuppetDB\.run' => /java: (\w+::)?JAVA\b/,
    'Service\.(?:run|new)' => /preloaded: false/,
    '(?:OpenLDAP|DS389|server_class|AccessDirectory)\.(?:run|new)' => /durable: true/ }.each do |name, needed|
    found = calls(sources, name)

    it "call #{name.tr('\\', '')} so that they measure what a site has" do
      expect(found).not_to be_empty
      expect(found.values.flatten).to all(match(needed))
    end
  end

  it 'use no store in memory, and no process that is a fork' do
    wrong = /Scratch|PRELOADED|Preloaded|QUICK_START|PuppetCommand\.run/
    expect(sources.select { |_, text| text.match?(wrong) }.keys).to eq([])
  end

  it 'have an OpenLDAP that flushes its writes' do
    servers = [true, false].map { |durable| Slapd.new(durable: durable) }
    expect(servers.map { |server| server.send(:configuration).match?(/^ *dbnosync/) }).to eq([false, true])
  ensure
    servers&.each { |server| FileUtils.remove_entry(server.folder) }
  end

  it 'have the options of Java of the package of puppetserver', :tools do
    expect(PuppetServer.site_java).to include(/\A-Xmx/)
    expect(PuppetServer.site_java.join(' ')).not_to match(/Tiered|SerialGC/)
  end
end
