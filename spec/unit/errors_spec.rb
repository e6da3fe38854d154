# frozen_string_literal: true

require_relative '../spec_helper'
require 'simpkv'

RSpec.describe Simpkv::Error do
  it 'separates failures that a caller may retry from those that it may not' do
    retryable = %w[timeout unavailable full interrupted].map { |status| described_class.for(status) }
    expect(retryable).to all(be < Simpkv::TransientError)
    other = %w[not_found exists conflict is_folder is_key invalid denied too_large malformed no_memory]
    other.each { |status| expect(described_class.for(status)).not_to be <= Simpkv::TransientError }
  end

  it 'has a status for each class, and a class for each status' do
    expect(Simpkv::ConflictError.new('x').status).to eq(:conflict)
    expect(described_class.for(:not_found)).to be(Simpkv::NotFoundError)
    expect([described_class.status, Simpkv::TransientError.status, Simpkv::UnencodableError.status]).to eq([nil] * 3)
    expect(described_class.for('unheard_of')).to be(described_class)
  end
end
