# frozen_string_literal: true

require 'digest'
require 'io/wait'
require_relative '../support/file_store'
require_relative '../support/processes'

RSpec.describe Simpkv::Store, 'in files, read by one process while another puts', :heavy, needs: :fork do
  include FileStoreHelp
  include Processes

  # The fewest operations of each process, and the fewest documents that the reader has to meet. Both processes go on
  # until it has met them, for a machine may let only one of them run at a time.
  count = 10_000
  fewest = 1_000

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

  # Puts documents until the pipe is closed at its other end.
  def put_until_closed(pipe, at_least)
    number = 0
    store.put('globals/k', document(number += 1)) until number >= at_least && pipe.wait_readable(0)
  end

  # @param at_least [Integer] reads
  # @param fewest [Integer] different documents to meet
  def read_until_met(fewest, at_least)
    reads = met = found = 0
    until reads >= at_least && met >= fewest
      number = number_in(store.get('globals/k'))
      raise "#{number} came after #{found}" if number < found

      reads += 1
      met += 1 if number > found
      found = number
      raise "only #{met} documents met in #{reads} reads" if reads > 1_000 * at_least
    end
  end

  it 'has no torn, undecodable or outdated document in 20,000 operations on one key' do
    store.put('globals/k', document(0))
    IO.pipe do |ended, ending|
      writer = child do
        ending.close
        put_until_closed(ended, count)
        true
      end
      read_until_met(fewest, count)
      ending.close
      expect_success_of(writer)
    end
  end
end
