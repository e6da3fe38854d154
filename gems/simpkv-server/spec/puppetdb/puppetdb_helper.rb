# frozen_string_literal: true

require_relative '../support/puppetdb'

# One PuppetDB for all groups but those that need one without other nodes, because it takes half a minute to start.
module SharedPuppetDB
  def self.started
    return @started if @started

    @started = PuppetDB.new
    @started.start
    @started
  end

  def self.stop
    @started&.stop
    @started = nil
  end
end

# Examples have it as @puppetdb. Each has nodes of its own, and types of resources.
RSpec.shared_context 'with a PuppetDB' do
  before(:context) { @puppetdb = SharedPuppetDB.started }
  after { |example| warn @puppetdb.tail if example.exception }
end

RSpec.configure { |config| config.after(:suite) { SharedPuppetDB.stop } }
