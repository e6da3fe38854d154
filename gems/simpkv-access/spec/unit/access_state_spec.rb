# frozen_string_literal: true

require_relative '../../../../spec/spec_helper'
require 'simpkv/access/declarations'
require 'simpkv/access/state'
require_relative '../../../simpkv-estate/spec/support/estate_files'

RSpec.describe Simpkv::Access::State do
  include_context 'with an estate in files'

  let(:state) { described_class.new(estate) }
  let(:documents) { state.instance_variable_get(:@documents) }
  let(:declared) do
    Simpkv::Access::Declarations.new('users' => { 'one' => { 'password' => 'file:/one' } },
                                     'roles' => { 'dev' => [{ 'prefixes' => %w[globals], 'rights' => %w[read] }] },
                                     'bindings' => { 'a' => { 'users' => %w[one], 'roles' => %w[dev] } })
  end
  let(:everything) { [%w[users one], %w[roles dev], %w[bindings a]] }

  def declare
    other = described_class.new(estate)
    before = other.read
    other.save(before, before.with(declared))
  end

  def delete
    other = described_class.new(estate)
    before = other.read
    other.save(before, before.without(everything))
  end

  # @return [Boolean] whether each binding names only what is declared
  def consistent?(snapshot)
    snapshot.bindings.values.all? do |binding|
      %w[users roles].all? do |section|
        binding[section].all? { |name| snapshot[section][name] && !snapshot[section][name]['deleting'] }
      end
    end
  end

  # An apply would remove the rights of a role that is left out.
  it 'is an error if a document cannot be read, and names it' do
    declare
    estate.store.put('globals/estate/access/roles/dev', 'damaged')
    expect { state.read }.to raise_error(Simpkv::MalformedError, %r{globals/estate/access/roles/dev})
  end

  %w[users roles bindings].each do |section|
    it "is consistent when somebody declares and deletes after it has read the #{section} (a false conflict)" do
      %i[declare delete].each do |change|
        changed = false
        allow(documents).to receive(:section).and_wrap_original do |read, name|
          read.call(name).tap do
            send(change) if name == section && !changed
            changed ||= name == section
          end
        end
        expect(consistent?(state.read)).to be(true)
      end
    end
  end

  it 'is consistent after each write of a declaration and of a deletion (apply refused after a crash)' do
    seen = []
    store = estate.store
    %i[put delete].each do |name|
      allow(store).to receive(name).and_wrap_original do |write, *arguments, **more|
        write.call(*arguments, **more).tap { seen << consistent?(described_class.new(estate).read) }
      end
    end
    declare
    delete
    expect(seen).to eq([true] * 6)
  end

  it 'keeps the UUID of a user that is declared again, and forgets only what is to be deleted' do
    declare
    uid = state.read.users['one']['uid']
    expect(state.forget('users', 'one')).to be(false)
    delete
    declare
    expect(state.read.users['one']).to eq('uid' => uid, 'password' => 'file:/one')
    delete
    expect([state.forget('users', 'one'), state.read.users]).to eq([true, {}])
  end
end
