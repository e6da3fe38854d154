# frozen_string_literal: true

require 'simpkv/query/builder'
require 'simpkv/query/worker_process'
require 'simpkv/query/workers'
require 'simpkv/server/archives/export'
require 'simpkv/server/queries'
require_relative '../../../simpkv-estate/spec/support/estate_files'
require_relative '../../../../spec/support/eventually'
require_relative '../../../../spec/support/processes'
require_relative '../../../../spec/support/scratch'
require_relative '../support/archives'

RSpec.describe Simpkv::Query::Workers do
  include Eventually
  include Processes

  include_context 'with an estate in files'

  around do |example|
    Scratch.make('workers') do |folder|
      @folder = folder
      example.run
    ensure
      @workers&.close
    end
  end

  # A name that this pattern takes a very long time for.
  let(:hostile) { ['~', 'certname', '^(a|a|aa)*$'] }
  let(:options) { { 'reports' => 7 } }
  let(:index) { Simpkv::Query::Index.of(estate, File.join(@folder, 'index')) }

  before do
    %W[web1 web2 #{'a' * 60}b].each { |name| estate.facts.save(name, { 'kernel' => 'Linux' }) }
    Simpkv::Query::Builder.new(estate, index).refresh
  end

  def workers(count: 1, seconds: 60, rows: 100)
    @workers ||= described_class.new(index.path, count: count, seconds: seconds, rows: rows)
  end

  # @return [Object] the answer
  def ask(query, more = {})
    answer = workers.ask({ 'path' => ['nodes'], 'query' => query }.merge(more))
    text = answer.file.read
    expect(text.bytesize).to eq(answer.bytes)
    JSON.parse(text)
  ensure
    answer&.file&.close
  end

  def names(query = ['~', 'certname', '^web'])
    ask(['extract', 'certname', query]).map { |row| row['certname'] }.sort
  end

  it 'answer from the index, one after the other' do
    expect(names).to eq(%w[web1 web2])
    pids = workers.pids
    expect(names(['=', 'certname', 'web1'])).to eq(%w[web1])
    expect(workers.pids).to eq(pids)
  end

  it 'count the rows of all pages' do
    answer = workers.ask('path' => ['nodes'], 'paging' => { 'limit' => 1, 'include_total' => true })
    expect([answer.rows, answer.total]).to eq([1, 3])
    answer.file.close
  end

  it 'read PQL and ASTs that begin with from' do
    pql = 'nodes[certname] { certname = "web1" }'
    expect(ask(pql, 'path' => [])).to eq([{ 'certname' => 'web1' }])
    expect(ask(JSON.generate(['from', 'nodes', ['extract', 'certname', ['=', 'certname', 'web2']]]), 'path' => []))
      .to eq([{ 'certname' => 'web2' }])
    expect(ask(pql, 'path' => [], 'ast_only' => true).first(2)).to eq(%w[from nodes])
  end

  it 'say what is wrong with a query' do
    expect { ask(%w[= colour red]) }.to raise_error(Simpkv::Query::InvalidError, /colour/)
    expect { ask('nodes { certname = ', 'path' => []) }.to raise_error(Simpkv::Query::InvalidError) do |error|
      expect(error.place).to be_between(15, 20)
    end
    expect { ask('nodes', 'path' => ['nodes']) }.to raise_error(Simpkv::Query::InvalidError, /JSON/)
    expect { ask(%w[= certname web1], 'path' => []) }.to raise_error(Simpkv::Query::InvalidError, /from/)
  end

  it 'refuse a query that cannot be sent, and answer the next one' do
    pid = names && workers.pids
    deep = (1..200).reduce(%w[= certname web1]) { |query, _| ['not', query] }
    [deep, ['=', 'certname', "\xff"]].each do |query|
      expect { ask(query) }.to raise_error(Simpkv::Query::InvalidError)
    end
    expect([names, workers.pids]).to eq([%w[web1 web2], pid])
  end

  # The reply to its question would be that to the next one.
  it 'end if nobody waits for the reply any more' do
    names
    pid = workers.pids.first
    asking = Thread.new { ask(hostile) }
    eventually { workers.pids.empty? }
    sleep 0.1 # The worker has the question.
    asking.kill.join
    expect(alive?(pid)).to be(false)
    expect(names).to eq(%w[web1 web2])
  end

  it 'kill a query at the time limit, and answer the next one' do
    workers(seconds: 2)
    expect { ask(hostile) }.to raise_error(Simpkv::Query::LimitError, /query_seconds/)
    expect(names).to eq(%w[web1 web2])
  end

  it 'refuse an answer with too many rows' do
    workers(rows: 2)
    expect { ask(nil) }.to raise_error(Simpkv::Query::LimitError, /more than 2 rows.*query_rows/)
    expect(names).to eq(%w[web1 web2])
  end

  # The client got the line of code, and the log did not.
  it 'have the place of an internal error for the log, and not in its message' do
    expect { workers.perform('task' => 'nodes') }.to raise_error(described_class::DefectError) do |error|
      expect(error.message).not_to include('.rb')
      expect(error.backtrace).to match([/\ANoMethodError at \S+\.rb:\d+/])
    end
  end

  it 'lose one query if a worker is killed' do
    names
    pid = workers.pids.first
    slow = Thread.new { ask(hostile) }
    slow.report_on_exception = false
    eventually { workers.pids.empty? }
    Process.kill(:KILL, pid)
    expect { slow.value }.to raise_error(Simpkv::Query::Worker::EndedError, /signal 9/)
    expect(names).to eq(%w[web1 web2])
  end

  it 'replace a worker that ended while it waited' do
    names
    pid = workers.pids.first
    Process.kill(:KILL, pid)
    eventually { !alive?(pid) }
    expect(names).to eq(%w[web1 web2])
    expect(workers.pids).not_to include(pid)
  end

  # The garbage collector did it at some later time.
  it 'close the sockets of workers that ended' do
    GC.disable
    names
    sockets = -> { descriptors(Process.pid).grep(/\Asocket:/).length }
    before = sockets.call
    3.times do
      pid = workers.pids.first
      Process.kill(:KILL, pid)
      eventually { !alive?(pid) }
      names
    end
    expect(sockets.call).to eq(before)
  ensure
    GC.enable
  end

  it 'refuse queries that wait for too long' do
    workers(seconds: 2)
    errors = Array.new(4) { Thread.new { error_of { ask(hostile) } } }.map(&:value)
    expect(errors.map(&:class).uniq).to contain_exactly(Simpkv::Query::LimitError, described_class::BusyError)
    expect(names).to eq(%w[web1 web2])
  end

  # They took all threads of the service.
  it 'refuse queries at once if as many wait as may' do
    @workers = described_class.new(index.path, count: 1, seconds: 60, rows: 100, waiting: 0)
    pid = names && workers.pids.first
    slow = Thread.new { error_of { ask(hostile) } }
    eventually { workers.pids.empty? }
    expect { names }.to raise_error(described_class::BusyError, /as many wait/)
    Process.kill(:KILL, pid)
    slow.join
    expect(names).to eq(%w[web1 web2])
  end

  # They took all threads of the service.
  it 'count a query whose answer receives details from the store as one that waits' do
    @workers = described_class.new(index.path, count: 1, seconds: 60, rows: 100, waiting: 0)
    store_reports(1)
    gate = Queue.new
    allow(estate.reports).to receive(:details).and_wrap_original do |details, tokens|
      gate.pop && details.call(tokens)
    end
    slow = Thread.new { logs }
    eventually { gate.num_waiting == 1 }
    expect { names }.to raise_error(described_class::BusyError, /as many wait/)
    gate << true
    expect(slow.value).to eq([%w[run1]])
    expect(names).to eq(%w[web1 web2])
  ensure
    gate&.push(true)
    slow&.join
  end

  # The archive had it without logs and values.
  it 'leave a report out of an archive if another one has replaced it' do
    store_reports(7)
    questions = lambda do |question|
      store_reports(2, refresh: false) if question['path'] == ['factsets']
      workers.ask(question, estate)
    end
    archive = Tempfile.create('archive', @folder)
    Simpkv::Server::Archives::Export.new(&questions).write(archive)
    archive.flush
    reports = Archives.files(File.binread(archive.path)).select { |name, _| name.include?('/reports/') }.values
    expect(reports.map { |report| report['logs'].first['message'] }).to match_array(%w[run3 run4 run5 run6 run7])
  ensure
    archive&.close
  end

  # Stores reports of a node; seven of them are kept.
  def store_reports(count, refresh: true)
    @runs ||= 0
    count.times do
      line = { 'level' => 'notice', 'message' => "run#{@runs += 1}", 'tags' => [] }
      members = { 'status' => 'changed', 'environment' => 'production', 'time' => '2026-11-25T10:00:00Z' }
      estate.reports.save('web1', Simpkv::Estate::WholeReport.new(members, {}, [], [line]))
    end
    Simpkv::Query::Builder.new(estate, index).refresh if refresh
  end

  # @return [Array<Array<String>>] the messages of each report
  def logs
    workers.ask({ 'path' => ['reports'], 'query' => nil }, estate).data
           .map { |row| row['logs']['data'].map { |line| line['message'] } }
  end

  it 'leave threads of the service for other requests' do
    limits = [[16, 2], [2, 1], [2, 2], [16, 64], [1, 1]].map { |each| Simpkv::Server::Queries.limits(*each) }
    expect(limits).to eq([[2, 10], [1, 0], [1, 0], [15, 0], [1, 0]])
  end

  def error_of
    yield
  rescue StandardError => e
    e
  end

  it 'read an index that was made anew' do
    expect(names).to eq(%w[web1 web2])
    estate.facts.save('web3', { 'kernel' => 'Linux' })
    Simpkv::Query::Builder.new(estate, index).build
    expect(names).to eq(%w[web1 web2 web3])
  end

  it 'say that there is no index yet' do
    index.delete
    expect { names }.to raise_error(Simpkv::Query::StaleError)
  end

  it 'do not answer from an index that is being made anew' do
    expect(names).to eq(%w[web1 web2])
    index.delete
    index.update { |writer| writer.note('done' => 50, 'total' => 600) }
    expect { names }.to raise_error(Simpkv::Query::StaleError, /50 of 600 nodes/)
    Simpkv::Query::Builder.new(estate, index).refresh
    expect(names).to eq(%w[web1 web2])
  end

  it 'say that an index is not filled yet, that it is damaged, and that its disk is full' do
    index.delete
    { '' => Simpkv::Query::StaleError, 'no database' * 1000 => Simpkv::Query::DamagedError }.each do |content, error|
      File.write(index.path, content, perm: 0o600)
      expect { names }.to raise_error(error)
      File.delete(index.path)
    end
    Simpkv::Query::Builder.new(estate, index).refresh
    allow(workers).to receive(:answer_file) { File.open('/dev/full', 'w') }
    expect { names }.to raise_error(Simpkv::FullError, /disk of the index/)
  end

  it 'print nothing of a query in the middle of which the service ends' do
    allow(Process).to receive(:setrlimit)
    ours, theirs = UNIXSocket.pair
    ours.send_io(File.open(File::NULL, 'w'))
    ours.write('{"query": "pl4nted')
    ours.close_write
    expect { Simpkv::Query::WorkerProcess.new(theirs, index.path).run }.not_to raise_error
  end

  it 'have no descriptors and no variables of the service' do
    reader, writer = IO.pipe
    writer.close_on_exec = false
    ENV['SIMPKV_SPEC_SECRET'] = 'pl4nted'
    names
    pid = workers.pids.first
    names_of_variables = File.read("/proc/#{pid}/environ").split("\0").map { |line| line.split('=').first }
    expect(names_of_variables - %w[PATH HOME LANG LC_ALL LC_CTYPE TZ GEM_HOME GEM_PATH LD_LIBRARY_PATH SQLITE_TMPDIR])
      .to eq([])
    expect(descriptors(pid)).not_to include(File.readlink("/proc/self/fd/#{writer.fileno}"))
  ensure
    ENV.delete('SIMPKV_SPEC_SECRET')
    [reader, writer].each { |io| io&.close }
  end

  # @return [Array<String>] what the descriptors of a process lead to
  def descriptors(pid)
    Dir["/proc/#{pid}/fd/*"].map { |descriptor| File.symlink?(descriptor) ? File.readlink(descriptor) : nil }.compact
  end

  it 'leave no file of an answer' do
    names
    expect(Dir.children(File.dirname(index.path)).grep(/answer/)).to eq([])
    expect(File.stat(index.path).mode & 0o077).to eq(0)
  end

  it 'end with the service, also if a query never ends' do
    pids_of_a_killed_service.each { |pid| eventually(within: 60) { !alive?(pid) } }
  end

  # @return [Array<Integer>] the process IDs of two workers with queries that take very long
  def pids_of_a_killed_service
    reader, writer = IO.pipe
    path = index.path
    index.close
    service = child { serve(path, writer) }
    pids = reader.gets.split.map { |pid| Integer(pid) }
    Process.kill(:KILL, service)
    status_of(service)
    pids
  end

  def serve(path, writer)
    workers = described_class.new(path, count: 2, seconds: 3, rows: 10)
    Array.new(2) { Thread.new { workers.ask('path' => ['nodes'], 'query' => hostile) } }
    sleep 0.01 until Dir["/proc/#{Process.pid}/task/*/children"].sum { |file| File.read(file).split.length } == 2
    writer.puts(Dir["/proc/#{Process.pid}/task/*/children"].map { |file| File.read(file) }.join(' '))
    sleep
  end

  def alive?(pid)
    File.read("/proc/#{pid}/stat").split(') ').last[0] != 'Z'
  rescue Errno::ENOENT, Errno::ESRCH
    false
  end

  it 'end when they are closed, and leave no process behind' do
    workers(count: 2)
    2.times.map { Thread.new { names } }.each(&:join)
    pids = workers.pids
    expect(pids.length).to be_between(1, 2)
    workers.close
    expect(pids.map { |pid| File.exist?("/proc/#{pid}") }).to all(be(false))
    expect { names }.to raise_error(Simpkv::TransientError)
  end

  it 'ignore the signals that end the service, until it closes them' do
    names
    pid = workers.pids.first
    %i[TERM INT HUP USR2].each { |signal| Process.kill(signal, pid) }
    expect(names).to eq(%w[web1 web2])
    expect(workers.pids).to eq([pid])
  end
end
