# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'

# As spec/command/standard_input_spec.rb has it for other commands.
RSpec.describe 'simpkv with - for a file' do
  include_context 'with keys in files'

  it 'reads standard input once' do
    outcome = simpkv('node', 'declare', 'web1', '--file', '-', '-c', '-', input: File.read(config))
    expect(outcome.to_a).to match(['', /the command line names standard input twice: name a file/, 64])
  end

  it 'refuses it for a file that is no stream' do
    expect(simpkv('import-puppetdb', 'https://localhost:1', '--cacert', '-').to_a)
      .to match(['', /\Asimpkv: --cacert must be a file, and - is standard input: /, 64])
    expect(File).not_to exist(File.join(folder, '-'))
  end
end
