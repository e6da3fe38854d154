# frozen_string_literal: true

require 'simpkv'

RSpec.describe Simpkv::Deadline do
  it 'gives an operation its own time outside a shared call' do
    expect(described_class.left(5000)).to eq(5000)
  end

  it 'gives an operation the time that the earlier ones of its call have left' do
    described_class.shared do
      sleep 0.02
      expect(described_class.left(5000)).to be < 5000
      expect { described_class.left(20) }.to raise_error(Simpkv::TimeoutError, /no time is left/)
    end
    expect(described_class.left(20)).to eq(20)
  end

  it 'is shared with nested calls, and not with other threads' do
    described_class.shared do
      sleep 0.02
      described_class.shared { expect(described_class.left(5000)).to be < 5000 }
      expect(described_class.left(5000)).to be < 5000
      expect(Thread.new { described_class.left(5000) }.value).to eq(5000)
    end
  end

  it 'ends with its call, also by an exception' do
    expect { described_class.shared { raise 'it failed' } }.to raise_error('it failed')
    sleep 0.02
    expect(described_class.left(20)).to eq(20)
  end
end
