# frozen_string_literal: true

require 'tmpdir'
$LOAD_PATH.unshift(*Dir[File.expand_path('../{lib,gems/*/lib}', __dir__)])
require_relative '../gems/simpkv-server/spec/support/service'
require_relative '../spec/support/certificates'
require_relative 'support/closed_loop'
require_relative 'support/etcd'
require_relative 'support/http_stores'
require_relative 'support/memory'
require_relative 'support/report'
require_relative 'support/versions'

# How does the service compare with etcd? Both have the same keys, and serve clients with certificates over TLS: etcd by
# its JSON gateway, as one member, which syncs each write; simpkv from files, which it syncs as well. Reads a key,
# replaces a key if it is the one that the client has stored before, lists 100 keys with their values, and measures how
# late a watch tells of a change.
#
# Needs Debian's package etcd-server: apt-get install etcd-server
class EtcdBench
  CLIENTS = SideBySide::QUICK ? [2] : [1, 8, 50]
  # The seconds of a turn, and the number of turns after one that warms up.
  SECONDS, TURNS = SideBySide::QUICK ? [0.2, 1] : [1.5, 5]
  CHANGES = SideBySide::QUICK ? 5 : 200
  PEER = 'etcd'
  OURS = 'simpkv serve'
  TITLES = { get: 'GET of a key', put: 'conditional PUT', list: "list of #{HttpStores::KEYS} keys" }.freeze
  HEAD = ['case', 'clients', 'server', 'a second', 'median', 'p99'].freeze
  private_constant :TITLES, :HEAD

  # @param ports [Hash{String => Integer}] by contestant
  # @param context [OpenSSL::SSL::SSLContext] of the clients
  def initialize(ports, context)
    @ports = ports
    @context = context
    @stores = { PEER => HttpStores::Etcd.new, OURS => HttpStores::Simpkv.new }
    @lines = ["| #{HEAD.join(' | ')} |", '|---|---:|---|---:|---:|---:|']
  end

  # @param report [Report]
  def run(report)
    fill
    TITLES.each_key { |operation| CLIENTS.each { |clients| judge(operation, clients, report) } }
    watches
    report.note(*@lines)
  end

  private

  def fill
    each_store do |store, client, name|
      HttpStores::KEYS.times do |number|
        answer = client.ask(store.put(number, nil))
        raise "#{name}: #{answer}" unless answer.match?(%r{\AHTTP/1.1 20[01]})
      end
    end
  end

  def each_store
    @stores.to_h do |name, store|
      client = client(name)
      [name, yield(store, client, name)]
    ensure
      client.close
    end
  end

  def client(name)
    ClosedLoop::Client.new(@ports.fetch(name), @context)
  end

  def judge(operation, clients, report)
    times = turns(operation, clients)
    rates = times.transform_values { |turns| percentile(turns.map { |turn| turn.length / SECONDS }, 50) }
    p99 = times.to_h { |name, turns| [name, add(operation, clients, name, rates[name], turns.flatten)] }
    target(operation, clients, rates, p99, report) if clients == CLIENTS.last
  end

  def target(operation, clients, rates, p99, report)
    what = "#{TITLES.fetch(operation)} with #{clients} clients, beside etcd:"
    case operation
    when :get then report.at_most("#{what} p99", 2, p99[OURS] / p99[PEER])
    when :put then report.at_least("#{what} number a second", 1, rates[OURS] / rates[PEER])
    end
  end

  # @return [Hash{String => Array<Array<Float>>}] the seconds of the requests of each turn
  def turns(operation, number)
    loops = @stores.to_h do |name, store|
      clients = Array.new(number) { client(name) }
      [name, ClosedLoop.new(clients) { |key, answer| store.public_send(operation, key, answer) }]
    end
    loops.each_value { |loop| loop.run(SECONDS) }
    times = loops.transform_values { [] }
    TURNS.times { loops.to_a.shuffle(random: Random.new(0)).each { |name, loop| times[name] << loop.run(SECONDS) } }
    times
  ensure
    loops&.each_value(&:close)
  end

  # @return [Float] p99
  def add(operation, clients, name, rate, times)
    median, p99 = [50, 99].map { |part| percentile(times, part) }
    line(TITLES.fetch(operation), clients, name, rate.round, median, p99)
    p99
  end

  def percentile(list, part)
    list.sort[(list.length - 1) * part / 100]
  end

  def line(title, clients, name, rate, median, p99)
    times = [median, p99].map { |seconds| format('%<ms>.2f ms', ms: seconds * 1000) }
    @lines << "| #{[title, clients, name, rate, *times].join(' | ')} |"
  end

  # From the begin of a write until a client that watches has the event.
  def watches
    each_store do |store, writer, name|
      watcher = client(name)
      watcher.send(store.watch)
      sleep 1 # Until it watches.
      watcher.receive
      answer = nil
      times = Array.new(CHANGES) do |number|
        began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        answer = writer.ask(store.put(0, answer))
        watcher.read until store.told(watcher.answer) > number
        Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
      end
      line('watch: from a write to its event', 1, name, nil, *[50, 99].map { |part| percentile(times, part) })
    ensure
      watcher.close
    end
  end
end

report = Report.new('Beside etcd')
Dir.mktmpdir('etcd') do |folder|
  certificates = Certificates.new(folder)
  certificate, key = certificates.issue
  section = { 'tls_cert' => certificate, 'tls_key' => key, 'tls_ca' => certificates.cacert,
              'rights' => [{ 'certname' => 'client', 'methods' => %w[GET PUT], 'paths' => ['/v1/keys/**'] }] }
  backend = { 'type' => 'file', 'id' => 'bench', 'root_path' => File.join(folder, 'store') }
  Simpkv::Store.open('file', 'root_path' => backend['root_path']).put('globals/made', Simpkv::Codec.encode(true))
  context = ClosedLoop.context(certificates.cacert, *certificates.issue(subject: 'client', names: nil))
  Etcd.run(certificates) do |etcd|
    options = { 'backends' => { 'default' => backend }, 'server' => section }
    Service.run(options, '--bind', 'ssl://127.0.0.1:0', preloaded: false) do |service|
      port = Integer(service.addresses.grep(/ssl/).first[/\d+\z/])
      EtcdBench.new({ EtcdBench::PEER => etcd.port, EtcdBench::OURS => port }, context).run(report)
      ours, peer = [service, etcd].map { |server| Memory.of(server.pid) }
      report.note('', "Memory (PSS) afterwards: simpkv serve #{ours.round} MB, etcd #{peer.round} MB.")
      report.at_most('memory, beside etcd', 0.1, ours / peer)
    end
  end
end
report.print('etcd', Versions.own.merge(Versions.of('etcd-server', 'puma')))
