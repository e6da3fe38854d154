# frozen_string_literal: true

require 'digest'
require_relative '../support/file_store'
require_relative '../support/processes'
require_relative '../support/tally'

RSpec.describe 'kill -9 of a process that writes files' do
  include FileStoreHelp
  include Processes

  # Before there are children, so that all have the same root.
  before { store }

  # A document that tells whether it is whole.
  def document(number)
    body = "#{number} " * (1 + (number * 37 % 3000))
    "#{number}:#{Digest::SHA256.hexdigest(body)}:#{body}"
  end

  # @return [Integer] the number of a whole document; -1 where it is not whole
  def number_of(document)
    number, sum, body = document.split(':', 3)
    sum == Digest::SHA256.hexdigest(body) ? number.to_i : -1
  end

  # Writes without end, from a number on: a new key, then one of three old ones. Acknowledges what is stored.
  def write_on(number, acknowledge)
    loop do
      store.put("globals/new/k#{number}", document(number))
      store.put("globals/old/k#{number % 3}", document(number))
      acknowledge.write([number].pack('L'))
      number += 1
    end
  end

  # Lets a child write, kills it at some moment, and answers the last number that it acknowledged.
  def write_and_be_killed(number)
    reading, writing = IO.pipe
    pid = child do
      reading.close
      write_on(number, writing)
    end
    writing.close
    reading.read(4)
    sleep(rand * 0.02)
    Process.kill(:KILL, pid)
    Process.wait(pid)
    rest = reading.read
    reading.close
    rest.empty? ? number : rest[-4..].unpack1('L')
  end

  # @return [Hash{String => Integer}] the numbers of the documents in a folder, by key; -1 for one that cannot be read
  def numbers_in(folder)
    list = store.list(folder)
    list[:keys].transform_values { |found| number_of(found) }.merge(list[:errors].transform_values { -1 })
  end

  # @return [Hash{String => Hash{String => Integer}}] what is stored, by folder, when that number was the last
  def stored_after(first, last)
    { 'globals/new' => (first..last).to_h { |number| ["k#{number}", number] },
      'globals/old' => ([last - 2, 1].max..last).to_h { |number| ["k#{number % 3}", number] } }
  end

  # What was acknowledged is stored, and no more than one put beyond that.
  #
  # @return [Array<String>] where it is not so
  def odd_after(first, last)
    possible = [stored_after(first, last), stored_after(first, last + 1)]
    possible.first.keys.map do |folder|
      found = numbers_in(folder)
      "#{first} to #{last} were put, and #{folder} has #{found}" if possible.none? { |stored| stored[folder] == found }
    end.compact
  end

  it 'tears no document, loses no acknowledged one, and shows no temporary file, 1,000 times' do
    tally = Tally.new('kill -9 of a process that writes files')
    number = 1
    1000.times do
      store.deletetree('globals/new')
      last = write_and_be_killed(number)
      tally.add(faults: 1, operations: 2 * (last - number + 1), anomalies: odd_after(number, last))
      number = last + 1
    end
    expect(tally.anomalies).to eq([])
    # Whoever writes next sweeps away what a dead writer left.
    4.times { |i| store.put("globals/old/k#{i % 3}", document(number + i)) }
    store.put("globals/new/k#{number}", document(number))
    expect([names_in('globals/new'), names_in('globals/old')].flatten.grep(/skv/)).to eq([])
  end
end
