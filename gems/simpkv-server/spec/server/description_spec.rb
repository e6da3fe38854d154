# frozen_string_literal: true

require 'simpkv/server'

# What generators of clients need, and linters of npm check once a week: spec/clients/generated_client_spec.rb.
RSpec.describe Simpkv::Server::OpenApi do
  # @yieldparam node [Hash] each object of the description
  # @yieldparam place [String]
  def self.each_object(data, place = '#', &block)
    case data
    when Array then data.each_with_index { |member, at| each_object(member, "#{place}/#{at}", &block) }
    when Hash
      yield data, place
      data.each { |name, member| each_object(member, "#{place}/#{name}", &block) }
    end
  end

  objects = []
  each_object(described_class.document) { |object, place| objects << [place, object] }

  # @return [Array<String>] the places of objects for which the block returns true
  define_method(:places) { |&wanted| objects.select { |_, object| wanted.call(object) }.map(&:first) }

  # "of the last run; without a run, the declared one" without quotes had a member `the declared one`.
  it 'has no member that a comma in a text has made' do
    expect(places { |object| object.value?(nil) }).to eq([])
  end

  it 'has a type for each member that is required' do
    missing = places do |object|
      object['required'].is_a?(Array) && (object['required'] - object.fetch('properties', {}).keys).any?
    end
    expect(missing).to eq([])
  end

  # Generators take an object without members for one that is empty.
  it 'says which objects may have any members, and what is in lists' do
    kinds = ->(object, kind) { object.key?('type') && Array(object['type']).include?(kind) }
    free = places { |each| kinds.call(each, 'object') && (%w[properties additionalProperties] & each.keys).empty? }
    expect([free, places { |each| kinds.call(each, 'array') && !each.key?('items') }]).to eq([[], []])
  end

  # One had `default` in its response of 200, by two spaces too many.
  it 'has a default in each list of responses, and what a response may have in each of them' do
    lists = objects.filter_map { |_, object| object['responses'] if object.key?('operationId') }
    expect(lists.map(&:keys)).to all(include('default'))
    expect(lists.flat_map(&:values).flat_map(&:keys).uniq - %w[description content headers $ref]).to eq([])
  end

  it 'has each operation in one group' do
    tags = described_class.document['tags'].map { |tag| tag['name'] }
    untagged = places { |object| object.key?('operationId') && (object['tags'].to_a & tags).length != 1 }
    expect(untagged).to eq([])
  end
end
