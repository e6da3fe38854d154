# frozen_string_literal: true

require_relative '../support/rspec_puppet'

RSpec.shared_context 'with stored keys' do
  let(:options) { { 'backends' => { 'default' => { 'type' => 'memory', 'id' => 'functions' } } } }
  let(:stored) { MemoryStore.entries('memory/functions') }

  before { stored.update('environments' => nil, 'environments/rp_env' => nil) }
  after { MemoryStore.clear }

  # Stores documents as they are.
  def store(documents)
    documents.each { |key, document| stored["environments/rp_env/#{key}"] = document }
  end
end
