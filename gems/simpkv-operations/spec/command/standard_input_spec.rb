# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'

RSpec.describe 'simpkv with - for a file' do
  include_context 'with keys in files'

  # It looked for a file of that name.
  it 'reads the options from standard input' do
    simpkv!('put', 'a', 'one')
    options = File.read(config)
    without = { environment: { 'SIMPKV_CONFIG' => nil } }
    expect(simpkv!('-c', '-', 'get', 'a', input: options, **without)).to eq('one')
    expect(simpkv('get', 'a', '-c', '-', input: 'pl4nted: [', **without).to_a)
      .to match(['', /\Asimpkv: standard input: it is neither YAML nor JSON: see line \d$/, 78])
  end

  it 'reads standard input once' do
    calls = [%w[put a - -c -], %w[import -c -]]
    outcomes = calls.map { |call| simpkv(*call, input: File.read(config)) }
    expect(outcomes.map(&:to_a)).to all(match(['', /the command line names standard input twice: name a file/, 64]))
    expect(simpkv('ls').code).to eq(66)
  end

  # Each made or read a file with the name `-`.
  it 'refuses it for a file that is no stream' do
    { %w[copy default default2 --journal -] => '--journal', %w[import --rollback -] => '--rollback',
      %w[rekey --journal -] => '--journal', %w[keys generate -] => 'FILE', %w[keys list -] => 'FILE',
      %w[keys activate kid -] => 'FILE', %w[keys retire kid -] => 'FILE',
      %w[init --password-file -] => '--password-file' }.each do |call, what|
      expect(simpkv(*call).to_a)
        .to eq(['', "simpkv: #{what} must be a file, and - is standard input: write ./- for a file of that name\n", 64])
    end
    expect(File).not_to exist(File.join(folder, '-'))
  end
end
