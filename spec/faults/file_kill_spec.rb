# frozen_string_literal: true

require 'digest'
require_relative '../support/file_store'
require_relative '../support/processes'
require_relative '../support/tally'

RSpec.describe 'kill -9 of a process that writes files' do
  include FileStoreHelp
  include Processes

  # The parent opens it, so that all children have the same root.
  before { store }

  # A document that holds its own digest.
  def document(number)
    body = "#{number} " * (1 + (number * 37 % 3000))
    "#{number}:#{Digest::SHA256.hexdigest(body)}:#{body}"
  end

  # @return [Integer] the number of a document; -1 if it is torn
  def number_of(document)
    number, sum, body = document.split(':', 3)
    sum == Digest::SHA256.hexdigest(body) ? number.to_i : -1
  end

  # Writes documents with increasing numbers for ever, each to a new key and to one of three old ones, one by one and in
  # a batch. Acknowledges each number when it is stored.
  def write_on(number, acknowledge)
    loop do
      store.put("globals/new/k#{number}", document(number))
      store.put("globals/old/k#{number % 3}", document(number))
      store.put_many({ "globals/batch/k#{number}" => document(number),
                       "globals/many/k#{number % 3}" => document(number) })
      acknowledge.write([number].pack('L'))
      number += 1
    end
  end

  # Kills a child while it writes.
  #
  # @return [Integer] the last number that it acknowledged
  def write_and_be_killed(number)
    reading, writing = IO.pipe(binmode: true)
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

  # @return [Hash{String => Integer}] the numbers of the documents in a folder, by key; -1 for an unreadable document
  def numbers_in(folder)
    list = store.list(folder)
    list[:keys].transform_values { |found| number_of(found) }.merge(list[:errors].transform_values { -1 })
  end

  # @return [Hash{String => Hash{String => Integer}}] the numbers that are stored, by folder, when `last` was stored
  def stored_after(first, last)
    all = (first..last).to_h { |number| ["k#{number}", number] }
    old = ([last - 2, 1].max..last).to_h { |number| ["k#{number % 3}", number] }
    { 'globals/new' => all, 'globals/old' => old, 'globals/batch' => all, 'globals/many' => old }
  end

  # Checks that every acknowledged number is stored, and at most one more.
  #
  # @return [Array<String>] the violations
  def violations_after(first, last)
    possible = [stored_after(first, last), stored_after(first, last + 1)]
    possible.first.keys.map do |folder|
      found = numbers_in(folder)
      "#{first} to #{last} were put, and #{folder} has #{found}" if possible.none? { |stored| stored[folder] == found }
    end.compact
  end

  it 'tears no document, loses no acknowledged one, and shows no temporary file, 300 times' do
    tally = Tally.new('kill -9 of a process that writes files')
    number = 1
    300.times do
      %w[globals/new globals/batch].each { |folder| store.deletetree(folder) }
      last = write_and_be_killed(number)
      tally.add(faults: 1, operations: 4 * (last - number + 1), anomalies: violations_after(number, last))
      number = last + 1
    end
    expect(tally.anomalies).to eq([])
    # The next writer deletes the temporary files of a killed one.
    3.times { |i| %w[old many].each { |folder| store.put("globals/#{folder}/k#{i}", document(number + i)) } }
    %w[new batch].each { |folder| store.put("globals/#{folder}/k#{number}", document(number)) }
    expect(stored_after(1, 1).keys.flat_map { |folder| names_in(folder) }.grep(/skv/)).to eq([])
  end
end
