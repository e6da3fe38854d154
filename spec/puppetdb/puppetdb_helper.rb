# frozen_string_literal: true

require_relative '../support/puppetdb'

# A PuppetDB for all examples of a group, which they have as @puppetdb.
RSpec.shared_context 'with a PuppetDB' do
  before(:context) do
    @puppetdb = PuppetDB.new
    @puppetdb.start
  end

  after(:context) { @puppetdb.stop }
  after { |example| warn @puppetdb.tail if example.exception }
end
