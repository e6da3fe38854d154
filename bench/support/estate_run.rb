# frozen_string_literal: true

# A contestant that is a whole run of a node, as a compiler serves it, by the termini simpkv: facts, catalog, report.
# Nothing changes after the first run. See other_process.rb.
$LOAD_PATH.unshift(*Dir[File.expand_path('../../{lib,gems/*/lib}', __dir__)])
require 'puppet'
require 'puppet/test/test_helper'
require 'simpkv/termini'
require_relative 'estate_data'
require_relative 'estate_turns'

# The steps of a run.
class Run
  NODE = 'runner'

  def initialize
    Puppet::Test::TestHelper.initialize
    Puppet::Test::TestHelper.before_all_tests
    Puppet::Test::TestHelper.before_each_test
    Puppet[:reports] = 'simpkv'
    Puppet[:node_name_value] = NODE
    @catalog = Puppet::Resource::Catalog.new(NODE, Puppet::Node::Environment.create(:production, []))
    EstateData.exports(0).each do |type, list|
      list.each { |data| @catalog.add_resource(resource(type, data)) }
    end
  end

  def run(*)
    save(Puppet::Node::Facts, Puppet::Node::Facts.new(NODE, 'kernel' => 'Linux', 'os' => { 'name' => 'Debian' }))
    save(Puppet::Resource::Catalog, @catalog)
    Puppet::Transaction::Report.new(1, 'production', 'uuid').tap do |report|
      report.host = NODE
      report.finalize_report
      report.extend(Puppet::Reports.report(:simpkv)).process
    end
  end

  private

  def resource(type, data)
    Puppet::Resource.new(type, data['title'], parameters: data['parameters'].transform_keys(&:to_sym)).tap do |resource|
      resource.exported = true
      resource.virtual = true
    end
  end

  def save(model, instance)
    indirection = model.indirection
    indirection.terminus(:simpkv).save(indirection.request(:save, NODE, instance))
  end
end

EstateTurns.new(Run.new, 'run', nil).run($stdin, $stdout)
