# frozen_string_literal: true

require_relative '../support/platforms'

# Each Ruby that CI has runs this.
RSpec.describe 'The table of Rubies in docs/install.md' do
  it "has a row for #{Platforms.ruby} with this binding, and with the stage that runs" do
    expect(Platforms.here).not_to be_empty
  end
end
