# frozen_string_literal: true

require_relative 'server_helper'

RSpec.describe 'The log of the service' do
  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  # A line of the service's own; or of a request, with its ID and its caller or peer.
  own = /\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z - simpkv: /
  request = /\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [\w-]{8,64} (?:user:\w+|local|127\.0\.0\.1) /

  describe 'that nobody reads' do
    around do |example|
      Scratch.make('log') do |folder|
        @pipe = File.join(folder, 'pipe')
        File.mkfifo(@pipe)
        # A reader that does not read.
        File.open(@pipe, File::RDWR) do |reader|
          @reader = reader
          example.run
        end
      end
    end

    let(:service) { @service = Service.new(options, '--bind', 'tcp://127.0.0.1:0', errors: @pipe).tap(&:start) }

    # @return [String] what the log has now
    def read_log
      text = +''
      text << @reader.readpartial(65_536) while @reader.wait_readable(0.5)
      text
    end

    def lost
      client.get('/metrics').body[/^simpkv_log_lines_lost_total (.*)$/, 1].to_f
    end

    # Every request waited after some 720 lines, also /healthz.
    it 'keeps no request waiting, counts what is lost, and says it once somebody reads' do
      expect(Array.new(2400) { client.get('/healthz').status }.uniq).to eq([200])
      expect(lost).to be > 100
      read_log
      expect(client.get('/healthz').status).to eq(200)
      lines = eventually(errors: RuntimeError) { read_log.lines.then { |text| text if text.grep(/were lost/).any? } }
      expect(lines.grep(/were lost/)).to match([/#{own}\d+ lines of the log were lost here/])
      expect(lines.grep(/were lost/).first[/(\d+) lines/, 1].to_i).to be_between(100, lost)
      expect(lines).to all(match(own).or(match(request)))
    end

    it 'keeps no signal waiting' do
      2000.times { client.get('/healthz') }
      service.signal(:USR2)
      eventually(within: 60, errors: RuntimeError) { service.log.scan('serving on unix').length == 2 }
      1800.times { client.get('/healthz') }
      expect(service.terminate).to eq(0)
    end
  end

  it 'has time, ID and peer in each line, also about what Puma refuses' do
    service.client
    refused = ["GET / HTTP/1.1\r\nbad header\r\n\r\n", "BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n",
               "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"]
    ids = refused.product(%w[unix tcp]).map do |bytes, scheme|
      service.client(scheme).exchange(bytes).headers.fetch('x-request-id')
    end
    client.get('/v1/keys/%2e%2e')
    service.signal(:HUP)
    eventually(errors: RuntimeError) { service.log.include?('were read again') }
    lines = service.log.lines.grep_v(/^simpkv: serving on/)
    expect(lines).to all(match(own).or(match(request)))
    expect(lines.length).to be >= 8
    expect(lines.map { |line| line.split[1] }).to include(*ids)
  end
end
