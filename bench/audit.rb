# frozen_string_literal: true

require 'socket'
require 'tmpdir'
$LOAD_PATH.unshift(*Dir[File.expand_path('../{lib,gems/*/lib}', __dir__)])
require_relative 'support/report'
require_relative 'support/side_by_side'
require_relative 'support/versions'

# How much longer does an operation take with an audit log? A get and an unchanged put of a store in files, the
# cheapest operations of each kind, with lines in a file and in syslog.
class AuditedOperations
  KEY = 'environments/production/app1/key'
  BARE = 'no audit'
  AUDITS = {
    'reads without lines' => { 'reads' => false }, 'a file' => {}, 'a file, required' => { 'required' => true },
    'syslog' => { 'to' => 'syslog' }
  }.freeze
  TARGET = 15 # microseconds

  # An operation in this process, and its processor time.
  Call = Struct.new(:operation, :processor) do
    def answer
      operation.call
    end

    # @return [Float] seconds an operation
    def time(count)
      clocks = [Process::CLOCK_MONOTONIC, Process::CLOCK_PROCESS_CPUTIME_ID]
      began = clocks.map { |clock| Process.clock_gettime(clock) }
      count.times { operation.call }
      ended = clocks.map { |clock| Process.clock_gettime(clock) }
      elapsed, self.processor = ended.zip(began).map { |after, before| (after - before) / count }
      elapsed
    end
  end

  # @param folder [String] a temporary folder
  def initialize(folder)
    @folder = folder
    @store = Simpkv::Store.open('file', 'root_path' => File.join(folder, 'root'))
    @document = Simpkv::Codec.encode({ 'password' => 'Xu8#kq!0' }, 'owner' => 'ops')
    @store.put(KEY, @document)
  end

  # @param report [Report]
  def run(report)
    with_syslog do |socket|
      stores = AUDITS.transform_values { |audit| audited(audit, socket) }
      measure(report, 'get', stores) { |store| store.get(KEY) }
      measure(report, 'put unchanged', stores.reject { |name, _| name == AUDITS.keys.first }) do |store|
        store.put(KEY, @document)
      end
    end
  end

  private

  def audited(audit, socket)
    audit = { 'to' => File.join(@folder, 'audit.log'), 'reads' => true }.merge(audit)
    audit['to'] = "syslog:#{socket}" if audit['to'] == 'syslog'
    settings = Simpkv::Config.typed({ 'type' => 'file', 'id' => 'bench', 'audit' => audit }, 'bench')
    Simpkv::Layers.over(@store, settings, node: 'web1.example.com', warn: ->(warning) { raise warning })
  end

  def measure(report, title, stores)
    contestants = { BARE => @store }.merge(stores).transform_values { |store| Call.new(-> { yield store }) }
    rows = report.add(SideBySide.run("#{title}, files", contestants, blocks: SideBySide::QUICK ? 3 : 300))
    stores.each_key do |name|
      added = (Report.row(rows, name).best - Report.row(rows, BARE).best) * 1e6
      report.at_most("microseconds of audit, #{name}: #{title}", TARGET, added)
    end
  end

  # Runs the block beside a process that reads messages, as a syslog daemon does.
  #
  # @yieldparam path [String] of its socket
  def with_syslog
    path = File.join(@folder, 'syslog')
    socket = Socket.new(:UNIX, :DGRAM)
    socket.bind(Addrinfo.unix(path, :DGRAM))
    daemon = fork { loop { socket.recv(8192) } }
    socket.close
    yield path
  ensure
    Process.kill(:KILL, daemon)
    Process.wait(daemon)
  end
end

report = Report.new('Audit log')
Dir.mktmpdir('audit') { |folder| AuditedOperations.new(folder).run(report) }
report.note('The targets are for the fastest blocks, because other load of the machine only adds to them.',
            'Without the option there is no other object and no other code: a backend has its store itself.')
report.print('audit', Versions.own)
