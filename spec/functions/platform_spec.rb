# frozen_string_literal: true

require 'puppet'
require_relative '../support/platforms'

# Each Puppet that CI has runs this.
RSpec.describe 'The table of Puppets in docs/install.md' do
  it 'has a row for this Puppet with this Ruby and binding, and with the stage that runs' do
    expect(Platforms.here.map(&:puppet)).to include(Platforms.puppet)
  end
end
