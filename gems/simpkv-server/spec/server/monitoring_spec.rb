# frozen_string_literal: true

require_relative '../../../../rakelib/runbook'

# spec/package/documentation_spec.rb lets promtool check and test them.
RSpec.describe 'The alerts of examples/monitoring' do
  root = RunbookSources::ROOT
  alerts = RunbookSources.alerts
  # The names that the service gives to the methods of Exposition and to the registry.
  exposed = Dir[File.join(root, '{lib,gems/*/lib}/simpkv/{server,status}/**/*.rb')].flat_map do |file|
    File.read(file, encoding: 'UTF-8').scan(/(?<=[(\s]|> \[):(simpkv_\w+)/).flatten
  end

  # @return [Array<String>] the metrics of an expression
  def metrics(expression)
    expression.scan(/\b(?:simpkv_\w+|node_textfile_\w+|up)\b/).uniq
  end

  it 'use metrics that simpkv has, `up`, which is of Prometheus itself, and one of node_exporter' do
    expect(exposed.uniq.length).to be > 30
    names = alerts.values.flat_map { |rule| metrics(rule.fetch('expr')) }.uniq
    expect(names - exposed).to eq(%w[up node_textfile_mtime_seconds])
  end

  it 'use metrics that docs/service.md describes' do
    page = File.read(File.join(root, 'docs/service.md'), encoding: 'UTF-8')
    expect(exposed.uniq.reject { |name| page.include?("`#{name}`") }).to eq([])
  end

  it 'link to their parts of the runbook' do
    urls = alerts.to_h { |name, rule| [name, rule.fetch('annotations').fetch('runbook_url')] }
    expect(urls).to eq(alerts.to_h { |name, _| [name, "docs/runbook.md##{Runbook.anchor('alerts', name)}"] })
  end

  it 'are in the table of docs/monitoring.md, each with its severity and metrics' do
    page = File.read(File.join(root, 'docs/monitoring.md'), encoding: 'UTF-8')
    rows = alerts.map do |name, rule|
      "| [#{name}](runbook.md##{Runbook.anchor('alerts', name)}) | #{rule.fetch('labels').fetch('severity')} | " \
        "#{metrics(rule.fetch('expr')).map { |metric| "`#{metric}`" }.join(', ')} |"
    end
    expect(page.lines(chomp: true).grep(/\A\| \[Simpkv/)).to eq(rows)
  end

  it 'have a test each' do
    tests = YAML.safe_load(File.read(File.join(root, 'examples/monitoring/alerts_test.yaml'))).fetch('tests')
    expect(tests.flat_map { |test| test.fetch('alert_rule_test') }.map { |test| test.fetch('alertname') })
      .to match_array(alerts.keys)
  end
end
