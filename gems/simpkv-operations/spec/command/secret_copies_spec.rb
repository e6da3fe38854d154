# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'

RSpec.describe 'A secret of simpkv secret' do
  include_context 'with keys in files'

  it 'stays as it is, with its forms, when keys are copied, exported and imported' do
    made = %w[ssha yescrypt].map { |format| simpkv!('secret', 'app1/db', '--format', format) }
    simpkv!('copy', 'default', 'default2')
    simpkv!('export', File.join(folder, 'all.jsonl'))
    simpkv!('rm', 'app1/db')
    simpkv!('import', File.join(folder, 'all.jsonl'))
    [[], %w[-b default2]].each do |backend|
      expect(%w[ssha yescrypt].map { |format| simpkv!('secret', 'app1/db', '--format', format, *backend) }).to eq(made)
    end
  end
end
