# frozen_string_literal: true

require 'yaml'

# rakelib/planted.rb plants the defects.
RSpec.describe 'The planted defects that break promises', :once do
  root = File.expand_path('../..', __dir__)

  def words(text)
    text.delete('*').split.join(' ')
  end

  it 'quote README.md and docs/security.md' do
    pages = %w[README.md docs/security.md].map { |page| File.read(File.join(root, page)) }
    # The table of docs/security.md is made of the promises.
    pages = pages.map { |page| words(page.sub(/^## Planted defects$.*/m, '')) }
    promises = YAML.safe_load(File.read(File.join(root, 'spec/planted/promises.yaml'))).map { |row| row['promise'] }
    expect(promises).not_to be_empty
    expect(promises.reject { |promise| pages.any? { |page| page.include?(words(promise)) } }).to eq([])
  end
end
