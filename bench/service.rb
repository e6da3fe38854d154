# frozen_string_literal: true

require 'json'
require 'net/http'
require 'open3'
require 'rbconfig'
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
  # Requests before the memory is read for the first time, and after that.
  WARM, MORE = SideBySide::QUICK ? [100, 200] : [100_000, 1_000_000]

  # @param folder [String] a temporary folder
  def initialize(folder)
    root = File.join(folder, 'store')
    store = Simpkv::Store.open('file', 'root_path' => root)
    store.put('environments/production/app1/key', Simpkv::Codec.encode(VALUE['value'], VALUE['metadata']))
    @options = { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'bench', 'root_path' => root } } }
  end

  # @param report [Report]
  def run(report)
    Service.run(@options, '--bind', 'tcp://127.0.0.1:0', '--local-write', preloaded: false) do |service|
      with_static do |port|
        service_port = Integer(service.addresses.grep(/tcp/).first[/\d+\z/])
        rows = report.add(compare(service, service_port, port))
        report.at_most('time of a GET over that of a static text', 6,
                       1 / Report.ratio(rows, 'GET of a key', 'static text'))
        report.at_least('GET of a key beside the command', 20, Report.ratio(rows, 'GET of a key', 'simpkv get'))
      end
      memory(report, service)
    end
  end

  private

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
    port = Integer(service.addresses.grep(/tcp/).first[/\d+\z/])
    before, after = [WARM, MORE].map do |number|
      threads = Array.new(4) do
        Thread.new { request(port, PATH).then { |get| (number / 4).times { get.call } } }
      end
      threads.each(&:join)
      Integer(File.read("/proc/#{service.pid}/status")[/VmRSS:\s+(\d+)/, 1]) / 1024
    end
    report.note("Resident memory of the service: #{before} MiB after #{WARM} requests, #{after} MiB after #{MORE} " \
                'more.')
    report.at_most("memory after #{MORE} more requests", 1.1, after.fdiv(before))
  end
end

report = Report.new('Service')
Dir.mktmpdir('service') { |folder| ServiceRequests.new(folder).run(report) }
puma, roda = %w[puma roda].map { |name| Gem.loaded_specs.fetch(name) { Gem::Specification.find_by_name(name) }.version.to_s }
report.print('service', Versions.own.merge('puma' => puma, 'roda' => roda))
