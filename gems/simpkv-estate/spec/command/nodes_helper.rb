# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'
require 'simpkv/inspection'

# Nodes in the store of the command's configuration file, in which `estate_options` are the options of the estate.
RSpec.shared_context 'with nodes' do
  include_context 'with the command'
  include_context 'with nodes for the command'
end

RSpec.shared_context 'with nodes for the command' do
  let(:estate_options) { {} }
  let(:site) { { 'backends' => backends, 'estate' => estate_options } }
  let(:config) { File.join(folder, 'simpkv.yaml').tap { |file| configure(file) } }
  let(:estate) do
    Simpkv::Estate.new(site) do |settings|
      ldap = settings['type'] == 'ldap'
      ldap ? Simpkv::LdapAccess.open(settings) : Simpkv::Store.open('file', settings.slice('root_path'))
    end
  end

  before { estate.make }

  # Writes the options as they are now.
  def configure(file = config)
    File.write(file, site.to_yaml)
  end

  # @return [String] the time so many days ago
  def days_ago(number)
    (Time.now.utc - (number * 86_400)).iso8601
  end

  # Stores what a run of a node leaves.
  #
  # @param exports [Hash{String => Array<Hash>}]
  # @param status [Hash] members of the status that differ
  def run(name, facts: { 'os' => { 'name' => 'Debian' } }, exports: {}, environment: 'production', **status)
    estate.facts.save(name, facts, trusted: { 'certname' => name })
    estate.exports.save(name, exports, environment)
    status = status.transform_keys(&:to_s)
    estate.reports.save(name, 'time' => Time.now.utc.iso8601, 'environment' => environment,
                              'status' => status['status'] || 'unchanged', 'noop' => false,
                              'resources' => { 'changed' => status['changes'], 'failed' => status['failures'] })
    estate.statuses.put(name, estate.statuses.get(name).merge(status)) if status.any?
  end

  def host(title, **parameters)
    { 'title' => title, 'parameters' => parameters.transform_keys(&:to_s), 'tags' => %w[host] }
  end

  # @return [Array(Integer, String)] the exit code, and the message; nothing is on standard output
  def failure(*arguments, **more)
    outcome = simpkv(*arguments, **more)
    expect([outcome.out, outcome.err.lines.length]).to eq(['', 1])
    [outcome.code, outcome.err]
  end

  # @return [Array] the data that a command prints
  def data(*arguments)
    JSON.parse(simpkv!(*arguments, '-o', 'json'))
  end

  # @return [Array<String>] the names of the documents below the estate
  def documents
    estate.store.tree('globals/estate', required: false)[:keys].keys.reject { |path| path.end_with?('.estate') }.sort
  end
end
