# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'net/http'
require 'open3'
require 'rbconfig'
require 'socket'
require 'tmpdir'
$LOAD_PATH.unshift(*Dir[File.expand_path('../{lib,gems/*/lib}', __dir__)])
require_relative '../gems/simpkv-server/spec/support/service'
require_relative 'support/report'
require_relative 'support/side_by_side'
require_relative 'support/versions'

# What does a GET of a key over HTTP cost, beside the same text that the same Puma serves from memory, and beside the
# command? Does the memory of the service stay the same?
class ServiceRequests
  PATH = '/v1/keys/app1/key'
  VALUE = { 'value' => 'Xu8#kq!0', 'metadata' => { 'owner' => 'ops' } }.freeze
  # A Rack application without anything around it.
  STATIC = <<~RUBY
    body = [ARGV.first.freeze]
    server = Puma::Server.new(->(_) { [200, { 'content-type' => 'application/json' }, body] }, nil, min_threads: 0, max_threads: 16)
    puts server.add_tcp_listener('127.0.0.1', 0).addr[1]
    $stdout.flush
    server.run.join
  RUBY
  # Keys of a large folder; requests before the memory is read for the first time, and after that.
  NAMES = SideBySide::QUICK ? 1000 : 100_000
  WARM, MORE = SideBySide::QUICK ? [100, 200] : [100_000, 1_900_000]

  # Connections at once; requests that a client sends at once; how often it does so in one connection.
  CLIENTS = 4
  AT_ONCE = 5
  IN_CONNECTION = 5
  private_constant :CLIENTS, :AT_ONCE, :IN_CONNECTION

  # @param folder [String] a temporary folder
  def initialize(folder)
    root = File.join(folder, 'store')
    store = Simpkv::Store.open('file', 'root_path' => root)
    @folder = File.join(root, 'environments/production/app1')
    store.put('environments/production/app1/key', Simpkv::Codec.encode(VALUE['value'], VALUE['metadata']))
    @options = { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'bench', 'root_path' => root } } }
  end

  # @param report [Report]
  def run(report)
    Service.run(@options, '--bind', 'tcp://127.0.0.1:0', '--local-write', preloaded: false) do |service|
      with_static do |port|
        rows = report.add(compare(service, service_port(service), port))
        report.at_most('time of a GET over that of a static text', 6,
                       1 / Report.ratio(rows, 'GET of a key', 'static text'))
        report.at_least('GET of a key beside the command', 20, Report.ratio(rows, 'GET of a key', 'simpkv get'))
      end
      page(report, service_port(service))
      memory(report, service)
    end
  end

  private

  def service_port(service)
    Integer(service.addresses.grep(/tcp/).first[/\d+\z/])
  end

  # The first names of a folder. Its keys are not made by simpkv, which would sync each.
  def page(report, port)
    names = Array.new(NAMES) { |number| format('host%<number>06d', number: number) }
    Dir.mkdir(File.join(@folder, 'many'), 0o700)
    names.each { |name| FileUtils.cp(File.join(@folder, 'key'), File.join(@folder, 'many', name)) }
    ask = request(port, '/v1/keys/app1/many/?values=false&limit=50')
    raise 'the page is not right' unless JSON.parse(ask.call)['keys'].keys == names.first(50)

    contestants = { "50 of #{NAMES} names" => ask }
    rows = report.add(SideBySide.run('list of a folder', contestants, blocks: SideBySide::QUICK ? 2 : 40, warm: 2))
    report.at_most("milliseconds for 50 of #{NAMES} names of a folder", 50, rows.first.median * 1000)
  end

  def compare(service, service_port, port)
    contestants = { 'static text' => request(port, '/'), 'GET of a key' => request(service_port, PATH),
                    'simpkv get' => command(service.configuration) }
    SideBySide.run('get of a small value from files', contestants, equal: ->(text) { JSON.parse(text) },
                                                                   blocks: SideBySide::QUICK ? 2 : 40, warm: 2)
  end

  def request(port, path)
    http = Net::HTTP.start('127.0.0.1', port)
    -> { http.get(path).body }
  end

  def command(configuration)
    lambda do
      out, status = Open3.capture2({ 'SIMPKV_CONFIG' => configuration }, *Unbundled::COMMAND, 'get', 'app1/key', '-o',
                                   'json')
      status.success? ? out : raise('simpkv get failed')
    end
  end

  # @yieldparam port [Integer] at which Puma serves the text from memory
  def with_static
    IO.popen([RbConfig.ruby, '-r', 'puma', '-r', 'puma/server', '-e', STATIC, JSON.generate(VALUE)]) do |output|
      yield Integer(output.gets)
      Process.kill(:KILL, output.pid)
    end
  end

  def memory(report, service)
    port = service_port(service)
    before, after = [WARM, MORE].map do |number|
      Array.new(CLIENTS) { Thread.new { many(port, number / CLIENTS) } }.each(&:join)
      Integer(File.read("/proc/#{service.pid}/status")[/VmRSS:\s+(\d+)/, 1]) / 1024.0
    end
    report.note("Resident memory of the service: #{before.round(1)} MiB after #{WARM} requests, " \
                "#{after.round(1)} MiB after #{MORE} more.")
    report.at_most("memory after #{MORE} more requests", 1.03, after / before)
  end

  # Sends a few requests at once, and reads their answers: the client needs little of the processor so.
  def many(port, number)
    requests = "GET #{PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n" * AT_ONCE
    (number / AT_ONCE / IN_CONNECTION).times do
      TCPSocket.open('127.0.0.1', port) do |socket|
        IN_CONNECTION.times do
          socket.write(requests)
          read_answers(socket)
        end
      end
    end
  end

  def read_answers(socket)
    AT_ONCE.times do
      raise 'the service does not answer' unless socket.gets&.start_with?('HTTP/1.1 200')

      length = 0
      while (line = socket.gets) != "\r\n"
        length = Integer(line[/\d+/]) if line.match?(/\Acontent-length:/i)
      end
      socket.read(length)
    end
  end
end

report = Report.new('Service')
Dir.mktmpdir('service') { |folder| ServiceRequests.new(folder).run(report) }
puma, roda = %w[puma roda].map { |name| Gem.loaded_specs.fetch(name) { Gem::Specification.find_by_name(name) }.version.to_s }
report.print('service', Versions.own.merge('puma' => puma, 'roda' => roda))
