# frozen_string_literal: true

require_relative '../support/rspec_puppet'
require_relative '../support/another_ruby'
require 'open3'

# Tests the instructions of docs/plugin-development.md with the three lines of code that the page shows.
RSpec.describe 'The conformance suite, for the author of a plugin', :heavy do
  project = PuppetWorld::PROJECT
  guide = File.read(File.join(project, 'docs', 'plugin-development.md'), encoding: 'UTF-8')
  lines = guide[/^```ruby\n(.*?)^```/m, 1]

  around { |example| Dir.mktmpdir('acme') { |dir| (@module_dir = dir) && example.run } }

  # Runs the suite over a plugin of type `acme`.
  def run_over(source)
    plugin = File.join(@module_dir, 'lib', 'puppet_x', 'simpkv', 'acme_plugin.rb')
    FileUtils.mkdir_p(File.dirname(plugin))
    File.write(plugin, source)
    rspec = AnotherRuby.command('-e', 'require "rspec/core"; exit RSpec::Core::Runner.run(ARGV)', '--')
    Open3.capture2e(*rspec, '--format', 'documentation', '--require', File.join(@module_dir, 'conformance.rb'),
                    'spec/conformance/keys_spec.rb', chdir: PuppetWorld::PROJECT)
  end

  let(:template) { File.read(File.join(project, 'lib/puppet_x/simpkv/plugin_template.rb'), encoding: 'UTF-8') }

  before { File.write(File.join(@module_dir, 'conformance.rb'), lines) }

  it 'runs over a copy of the template with three lines of code, and over no other backend' do
    expect(lines.lines.size).to eq(3)
    output, status = run_over(template)
    expect(output).to match(/^\d\d+ examples, 0 failures/)
    expect(status).to be_success
    expect(output.scan(/, on backend (.*)/).flatten.uniq).to eq(['acme'])
  end

  it 'fails for a plugin that does not delete keys' do
    output, status = run_over(template.sub('@entries.delete(key)', ''))
    expect(output).to match(/^rspec .* # simpkv::delete, on backend acme/)
    expect(status).not_to be_success
  end
end
