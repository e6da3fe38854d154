# frozen_string_literal: true

require 'stringio'
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

  it 'goes on after a command that failed' do
    expect { intake.read(StringIO.new(large), nil) { raise ArgumentError } }.to raise_error(ArgumentError)
    expect(intake.read(StringIO.new(large), nil, &:bytesize)).to eq(large.bytesize)
  end
end
