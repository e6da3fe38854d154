# frozen_string_literal: true

require 'json'
require_relative '../../../../spec/command/command_helper'
require_relative '../../../../spec/support/ldap_store'

# A writer of the directory can give entries names that no key can have (docs/adr/0092).
RSpec.describe 'Commands that list, with entries whose names no key can have' do
  include_context 'with the command'
  include_context 'with a directory', Slapd, limits: true

  names = ['..', 'x/y', "c\x01d"]
  let(:backends) { { 'default' => { 'type' => 'ldap', **directory.options('id' => id) } } }
  let(:config) { File.join(folder, 'simpkv.yaml').tap { |file| File.write(file, { 'backends' => backends }.to_yaml) } }

  before do
    %w[production/app1/a production/app2/b dev/app1/a].each { |key| store.put("environments/#{key}", '{"value":1}') }
    names.each do |name|
      entry = "simpkvKey=#{name.gsub("\x01") { '\\01' }},#{dn('environments/production/app1', :folder)}"
      store.directory.add_entry(entry, 'objectClass' => ['simpkvEntry'], 'simpkvKey' => [name],
                                       'simpkvJsonValue' => ['{"value":2}'])
    end
  end

  # @return [Array] the exit code, the names on standard error, and those of the other keys
  def listed(*command)
    outcome = simpkv(*command)
    names = outcome.out.scan(%r{[\w/]*\b[ab]$|[\w/]+/[ab](?=")})
    [outcome.code, outcome.err.scan(/^simpkv: '(.*)': no key/).flatten, names]
  end

  refused = ['..', 'c\x01d', 'x/y']

  # `ls` printed the last one as a key, and exited with 0 if there was no other.
  it 'ls names them, lists the other keys, and exits with 65' do
    [%w[ls app1], %w[ls -l app1], %w[ls --expired app1]].each do |command|
      expect(listed(*command)).to eq([65, refused, %w[a]])
    end
    expect(JSON.parse(simpkv('ls', 'app1', '-o', 'json').out)).to eq('keys' => %w[a], 'folders' => [])
  end

  it 'tree, find and export name them, list the other keys, and exit with 65' do
    paths = refused.map { |name| "environments/production/app1/#{name}" }
    all = %w[environments/dev/app1/a environments/production/app1/a environments/production/app2/b]
    expect(listed('tree', '--all')).to eq([65, paths, %w[a a b]])
    expect(listed('tree')).to eq([65, paths, %w[a b]])
    expect(listed('find', '--all')).to eq([65, paths, all])
    expect(listed('export')).to eq([65, paths, all])
    expect(listed('tree', '-e', 'dev')).to eq([0, [], %w[a]])
  end
end
