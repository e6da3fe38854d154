# frozen_string_literal: true

require 'simpkv'
require 'simpkv/access/explanation'
require 'simpkv/access/state'

RSpec.describe Simpkv::Access::Explanation do
  def role(prefixes, rights, more = {})
    { 'grants' => prefixes.to_h { |prefix| [prefix, rights] }, 'status' => 'ours' }.merge(more)
  end

  let(:roles) do
    { 'dev' => role(%w[environments/dev], %w[read]), 'all' => role(%w[environments/* globals], %w[list]),
      'app' => role(%w[environments/dev/app1], %w[write]),
      'gone' => role(%w[environments/dev], %w[read], 'deleting' => true),
      'older' => role(%w[environments/dev], %w[read], 'status' => 'existing') }
  end
  let(:bindings) do
    { 'b' => { 'users' => %w[two one], 'groups' => %w[cn=g], 'roles' => %w[dev all] },
      'a' => { 'users' => %w[one], 'groups' => [], 'roles' => %w[dev] } }
  end

  def rows(path)
    state = Simpkv::Access::State::Snapshot.new(nil, {}, roles, bindings, [])
    described_class.new(state).rows(path).map(&:to_a)
  end

  it 'has the roles whose folders are around the key, with their users and groups' do
    expect(rows('environments/dev/k'))
      .to eq([['all', 'environments/*', %w[list], %w[one two], %w[cn=g]],
              ['dev', 'environments/dev', %w[read], %w[one two], %w[cn=g]],
              ['older', 'environments/dev', nil, [], []]])
    expect(rows('environments/dev/app1').map(&:first)).to eq(%w[all app dev older])
    expect(rows('globals/k').map(&:first)).to eq(%w[all])
  end

  it 'has no role of a sibling whose name begins alike' do
    expect(rows('environments/dev2/k').map(&:first)).to eq(%w[all])
    expect(rows('environments/dev/app10').map(&:first)).to eq(%w[all dev older])
  end
end
