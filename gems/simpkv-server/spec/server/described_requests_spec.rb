# frozen_string_literal: true

require_relative '../support/described_requests'
require_relative 'server_helper'

# ServiceClient compares each response with the description.
RSpec.describe 'Random requests that the description of the API allows, or nearly' do
  include_context 'with a service for all examples', '--bind', 'tcp://127.0.0.1:0'

  # Of root, who may do everything, and of any local process.
  def statuses(requests, seed)
    make_estate
    store.put('environments/production/app1/token', '{"value":"pl4nted","metadata":{}}')
    eventually(errors: RuntimeError) { client.get('/readyz').status == 200 }
    random = DescribedRequests.new(Random.new(seed))
    clients = [service.client, service.client('tcp')]
    Array.new(requests) do |number|
      request = random.next
      [clients[number % 2].request(*request).status, request.first(2)]
    end
  end

  def expect_answers(statuses)
    expect(statuses.select { |status, _| status >= 500 }).to eq([])
    expect(statuses.map(&:first).tally).to include(200 => be > statuses.length / 10, 400 => be > statuses.length / 10)
    expect(service.log).not_to match(/internal error|pl4nted/)
  end

  it 'are answered as it says, and never with an error of the service' do
    expect_answers(statuses(400, 46))
  end

  # FUZZ=100000 FUZZ_SEED=2 sends others.
  it 'are answered as it says, 20,000 of them', :long do
    expect_answers(statuses(Integer(ENV.fetch('FUZZ', '20000')), Integer(ENV.fetch('FUZZ_SEED', '1'))))
  end
end
