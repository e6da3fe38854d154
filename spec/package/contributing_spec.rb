# frozen_string_literal: true

require 'open3'

RSpec.describe 'The commands of CONTRIBUTING.md' do
  # The variable BUNDLE_WITH had to be set, and the page did not say so.
  it 'run the specs of a folder with the gems that they need (they ended with load errors)' do
    variables = { 'BUNDLE_WITH' => nil, 'SPEC_OPTS' => '--dry-run' }
    output, status = Open3.capture2e(variables, 'bundle', 'exec', 'rake', 'spec:query',
                                     chdir: File.expand_path('../..', __dir__))
    expect(output).to match(/^[1-9]\d+ examples, 0 failures$/)
    expect(status).to be_success
  end
end
