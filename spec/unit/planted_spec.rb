# frozen_string_literal: true

require_relative '../../rakelib/planted'

# Those of spec/planted/seams.yaml and spec/planted/promises.yaml.
RSpec.describe 'The planted defects', :once, needs: :gems do
  plants = Dir.chdir(File.expand_path('../..', __dir__)) { Planted.all }
  around { |example| Dir.chdir(File.expand_path('../..', __dir__)) { example.run } }

  it 'are each in a place of the code that exists once' do
    expect(plants.reject(&:fits?).map(&:to_s)).to eq([])
  end

  it 'name tests that exist' do
    named = plants.map(&:test).uniq
    expect(named).not_to be_empty
    expect(named.select { |test| Dir[test.include?('/') ? test : "ext/core/test/**/#{test}.c"].empty? }).to eq([])
  end

  it 'are in 30 seams between two rooms at least' do
    expect(plants.map(&:seam).compact.uniq.length).to be >= 30
  end
end
