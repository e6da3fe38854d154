# frozen_string_literal: true

require 'stringio'
require 'zlib'
require 'simpkv/server'
require_relative '../../../../spec/support/eventually'

RSpec.describe Simpkv::Server::Commands::Intake, needs: :cext do
  include Eventually

  subject(:intake) { described_class.new(4 * 1024 * 1024) }

  let(:large) { 'x' * (2 * 1024 * 1024) }
  let(:inside) { Queue.new }
  let(:leave) { Queue.new }

  # @return [Thread] that reads a body, and stays in the block until it may leave
  def reader(text)
    Thread.new do
      intake.read(StringIO.new(text), nil) do |read|
        inside << read.bytesize
        leave.pop
      end
    end
  end

  it 'hands out large commands one at a time, and small ones meanwhile' do
    first = reader(large)
    expect(inside.pop).to eq(large.bytesize)
    second = reader(large)
    eventually { second.status == 'sleep' }
    small = reader('x')
    expect(inside.pop).to eq(1)
    expect(inside).to be_empty
    3.times { leave << true }
    [first, second, small].each(&:join)
    expect(inside.pop).to eq(large.bytesize)
  end

  # The answer was that it is not compressed.
  it 'tells a compressed body that ends too early from one that is not compressed, or damaged' do
    text = 'abc' * 1000
    whole = Zlib.gzip(text)
    problem = lambda do |body|
      intake.read(StringIO.new(body), 'gzip', &:itself)
    rescue Simpkv::Server::Problem => e
      [e.status, e.message]
    end
    expect(problem.call(whole)).to eq(text)
    header = 10
    expect((header...whole.bytesize).map { |bytes| problem.call(whole.byteslice(0, bytes)) }.uniq)
      .to eq([[400, 'the body is compressed with gzip, but ends too early']])
    damaged = whole.dup.tap { |bytes| bytes.setbyte(-6, bytes.getbyte(-6) ^ 1) }
    [text, 'a', '', damaged].each do |body|
      expect(problem.call(body)).to eq([400, 'the body is not compressed with gzip'])
    end
  end

  it 'goes on after a command that failed' do
    expect { intake.read(StringIO.new(large), nil) { raise ArgumentError } }.to raise_error(ArgumentError)
    expect(intake.read(StringIO.new(large), nil, &:bytesize)).to eq(large.bytesize)
  end
end
