# frozen_string_literal: true

require_relative 'inspection_helper'
require_relative '../support/estate_damage'

# Puppet's termini and functions on an estate that is damaged in each way: see readers_spec.rb. A rule in place of which
# there was a folder did not refuse its node.
RSpec.describe 'The termini of a damaged estate', needs: :mri do
  include EstateSite
  include EstateTermini
  include InspectedNodes

  include_context 'with an estate to damage'

  # The methods `find` and `search` of each terminus, by its indirection.
  readers = {
    'catalog' => { find: -> { Puppet::Resource::Catalog.indirection.find('web1')&.resources&.map(&:ref) } },
    'facts' => { find: -> { Puppet::Node::Facts.indirection.find('web1').values },
                 search: -> { Puppet::Node::Facts.indirection.search('x', { 'facts.os.name.eq' => 'Debian' }) } },
    'node' => { find: -> { Puppet::Node.indirection.find('web1', environment: environments.first).classes },
                search: -> { Puppet::Node.indirection.search('x').map(&:name) } },
    'report' => { find: -> { Puppet::Transaction::Report.indirection.find('web1')&.status },
                  search: -> { Puppet::Transaction::Report.indirection.search('web1').length } },
    'resource' => { find: -> { Puppet::Resource.indirection.find('User/web1')&.title },
                    search: -> { Puppet::Resource.indirection.search('User', {}).map(&:title) } }
  }
  functions = {
    'query_nodes' => lambda {
      titles(compile('web3', "notify { simpkv::query_nodes({ 'os.name' => 'Debian' }): }"), 'Notify')
    },
    'collector' => -> { titles(compile('web3', 'User <<| |>>'), 'User') }
  }

  let(:backend) { EstateDamage.backends(root).fetch('default') }
  let(:site_options) { EstateDamage::OPTIONS }

  before do
    %i[catalog facts node report resource].each { |name| route(name, terminus: :simpkv) }
    FileUtils.mkdir_p(modules)
    link = File.join(modules, 'simpkv')
    File.symlink(File.expand_path('../../../..', __dir__), link) unless File.symlink?(link)
  end

  define_method(:answers) do
    configure
    calls = readers.flat_map { |name, methods| methods.map { |method, call| ["#{name}##{method}", call] } }
    (calls + functions.to_a).to_h do |name, call|
      [name, instance_exec(&call)]
    rescue Puppet::Error, Simpkv::Error, Simpkv::ConfigError
      [name, :error]
    end
  end

  it 'are all in this table' do
    files = Dir[File.expand_path('../../lib/puppet/indirector/*/simpkv.rb', __dir__)]
    methods = files.to_h do |file|
      [File.basename(File.dirname(file)), File.read(file).scan(/^  def (find|search)\(/).flatten.map(&:to_sym)]
    end
    expect(methods).to eq(readers.transform_values(&:keys))
  end

  it 'answer as before, or with an error, whatever is damaged' do
    healthy = answers
    expect(healthy.select { |_, answer| [:error, nil, []].include?(answer) }).to eq({})
    silent = {}
    noticed = EstateDamage.faults.to_h do |fault, damage|
      renew
      damage(damage)
      failed, answered = answers.partition { |_, answer| answer == :error }.map(&:to_h)
      silent[fault] = answered.reject { |name, answer| answer == healthy[name] }.keys
      [fault, failed.keys]
    end
    expect(silent.reject { |_, names| names.empty? }).to eq({})
    expect(healthy.keys - noticed.values.flatten).to eq([])
  end
end
