# frozen_string_literal: true

require 'digest'
require_relative '../support/file_store'
require_relative '../support/processes'

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

  # @return [Integer] the number of a whole document
  def number_of(document)
    number, sum, body = document.split(':', 3)
    expect(sum).to eq(Digest::SHA256.hexdigest(body))
    number.to_i
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

  # @return [Array<Integer>] the numbers of the documents in a folder, all of them whole, in order
  def numbers_in(folder)
    list = store.list(folder)
    expect(list[:errors]).to eq({})
    list[:keys].values.map { |found| number_of(found) }.sort
  end

  # What was acknowledged is stored, and no more than one put beyond that.
  def check(first, last)
    expect(numbers_in('globals/new')).to eq([*first..last]).or eq([*first..(last + 1)])
    expect(numbers_in('globals/old').last).to eq(last).or eq(last + 1)
  end

  it 'tears no document, loses no acknowledged one, and shows no temporary file, 200 times' do
    number = 1
    elapsed = seconds do
      200.times do
        store.deletetree('globals/new')
        last = write_and_be_killed(number)
        check(number, last)
        number = last + 1
      end
    end
    # Whoever writes next sweeps away what a dead writer left.
    4.times { |i| store.put("globals/old/k#{i % 3}", document(number + i)) }
    store.put("globals/new/k#{number}", document(number))
    expect([names_in('globals/new'), names_in('globals/old')].flatten.grep(/skv/)).to eq([])
    expect(elapsed).to be < 120
  end
end
