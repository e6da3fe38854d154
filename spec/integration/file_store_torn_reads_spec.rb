# frozen_string_literal: true

require 'digest'
require_relative '../support/file_store'
require_relative '../support/processes'

RSpec.describe Simpkv::Store, 'in files, read by one process while another puts', :heavy, needs: :fork do
  include FileStoreHelp
  include Processes

  # The operations of each process.
  count = 10_000

  # Documents of different lengths, each with its own digest.
  def document(number)
    text = ('a'.ord + (number % 26)).chr * [10, 3_000, 400][number % 3]
    Simpkv::Codec.encode({ 'number' => number, 'text' => text, 'digest' => Digest::MD5.hexdigest("#{number}#{text}") },
                         'number' => number)
  end

  # @return [Integer] the number in a document that is whole
  def number_in(document)
    decoded = Simpkv::Codec.decode(document)
    number, text, digest = decoded[:value].values_at('number', 'text', 'digest')
    raise 'a torn document' unless digest == Digest::MD5.hexdigest("#{number}#{text}") &&
                                   decoded[:metadata] == { 'number' => number }

    number
  end

  # Reads until the last document is stored.
  #
  # @param at_least [Integer] reads
  # @return [Integer] the number of different documents
  def read_until(last, at_least)
    reads = met = found = 0
    until reads >= at_least && found == last
      number = number_in(store.get('globals/k'))
      raise "#{number} came after #{found}" if number < found

      reads += 1
      met += 1 if number > found
      found = number
      raise "only #{found} after #{reads} reads" if reads > 100 * at_least
    end
    met
  end

  it 'has no torn, undecodable or outdated document in 20,000 operations on one key' do
    store.put('globals/k', document(0))
    writer = child { (1..count).all? { |number| store.put('globals/k', document(number)) } }
    met = read_until(count, count)
    expect_success_of(writer)
    expect(met).to be > 100
  end
end
