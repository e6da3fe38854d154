# frozen_string_literal: true

require 'open3'
require 'tmpdir'
require_relative '../spec/support/certificates'
require_relative 'support/contest'
require_relative 'support/etcd'
require_relative 'support/write_clients'

# How long does a durable write take? Compares the store in files with SQLite, with etcd, and with the bare steps of a
# put in files: a new key and another value, 1 KB and 64 KB, one client and eight processes; and a key of a batch of 20.
# All write the same documents, as simpkv makes them. Then compares puts into slapd with a bare loop over libldap that
# reads the entry before it writes it, as simpkv does.
#
# The folder for temporary files (TMPDIR) must be on a disk. Needs Debian's package etcd-server.
class Writes
  SIZES = { '1 KB' => 1000, '64 KB' => 64_000 }.freeze
  CLIENTS = [1, 8].freeze
  BATCH = 20
  BLOCKS = SideBySide::QUICK ? 2 : 30
  LAYERS = ['bare C loop, reading first', 'C core', 'store'].freeze
  BASE = 'SQLite insert'
  private_constant :SIZES, :CLIENTS, :BATCH, :BLOCKS, :LAYERS, :BASE

  def initialize(report, folder)
    @report = report
    @folder = folder
  end

  # New keys come first: where the file system has no journal, ext4 avoids the inodes of replaced files for a minute.
  #
  # @param etcd [Hash{Symbol => Object}] its port and the files of a client
  def files(etcd)
    [false, true].product(SIZES.keys, CLIENTS) do |same, size, clients|
      title = "#{same ? 'another value' : 'a new key'}, #{size}, #{clients} client#{'s' if clients > 1}"
      judge(title, compare(title, documents(size), clients, same, etcd), clients)
    end
  end

  # @param contest [Contest]
  def directory(contest)
    SIZES.each do |size, bytes|
      folder = contest.folder("writes#{bytes}", keys: 1, values: values(size))
      { 'put_changed' => 'another value', 'put_new' => 'a new key' }.each do |operation, name|
        # Several threads that write one key: a put of simpkv that finds its value there writes nothing.
        clients = operation == 'put_new' ? CLIENTS : CLIENTS.first(1)
        clients.each { |count| judge_directory(contest, folder, operation, "#{name}, #{size}", count) }
      end
    end
  end

  # @return [String] the file system of the measurement
  def place
    type, options, device = Open3.capture2('findmnt', '-n', '-o', 'FSTYPE,OPTIONS,SOURCE', '-T', @folder).first.split
    raise "#{@folder} is in memory: set TMPDIR to a folder on a disk" if type == 'tmpfs'

    journal = Dir["/proc/fs/jbd2/#{File.basename(device)}*"].any?
    "The files are on #{type} (#{options})#{"#{' without' unless journal} a journal" if type == 'ext4'}."
  end

  private

  def values(size)
    %w[x y].map { |letter| letter * SIZES.fetch(size) }
  end

  def documents(size)
    values(size).map { |value| Simpkv::Codec.encode(value, 'owner' => 'ops') }
  end

  def compare(title, documents, clients, same, etcd)
    start = ->(batch, &client) { WriteClients::Processes.new(clients, documents, batch: batch, same: same, &client) }
    contestants = { BASE => start.call(1) { WriteClients::Sqlite.new(@folder) },
                    'bare steps' => start.call(1) { WriteClients::BareFiles.new(@folder) },
                    'simpkv' => start.call(1) { WriteClients::Files.new(@folder) },
                    'simpkv, batch' => start.call(BATCH) { WriteClients::Files.new(@folder) },
                    'SQLite, transaction' => start.call(BATCH) { WriteClients::Sqlite.new(@folder) },
                    'etcd' => start.call(1) { WriteClients::Etcd.new(etcd) } }
    @report.add(SideBySide.run(title, contestants, blocks: BLOCKS, seconds: 0.01))
  ensure
    contestants&.each_value(&:stop)
  end

  def judge(title, rows, clients)
    { 'simpkv' => 1.5, 'simpkv, batch' => 0.5 }.each do |name, target|
      @report.at_most("time of #{name} / SQLite insert: #{title}", target, Report.ratio(rows, BASE, name))
    end
    @report.at_least("speed of simpkv / etcd: #{title}", 1, Report.ratio(rows, 'simpkv', 'etcd'))
    return if clients > 1

    @report.at_least("speed of simpkv / bare steps: #{title}", 0.9, Report.ratio(rows, 'simpkv', 'bare steps'))
  end

  def judge_directory(contest, folder, operation, name, clients)
    title = "#{name}, #{clients} client#{'s' if clients > 1}, #{contest.server_name}"
    rows = @report.add(contest.run(title, operation, LAYERS, folder, threads: clients, blocks: BLOCKS))
    @report.at_least("speed of the C core / bare loop: #{title}", 0.9, Report.ratio(rows, 'C core', LAYERS.first))
  end
end

report = Report.new('Writes')
Dir.mktmpdir('writes') do |folder|
  writes = Writes.new(report, folder)
  report.note(writes.place)
  certificates = Certificates.new(File.join(folder, 'tls').tap { |tls| Dir.mkdir(tls) })
  Etcd.run(certificates) do |etcd|
    certificate, key = certificates.issue
    writes.files(port: etcd.port, cacert: certificates.cacert, certificate: certificate, key: key)
  end
  versions = Contest.at(Contest::OpenLDAP) do |contest|
    writes.directory(contest)
    contest.versions
  end
  report.print('writes', versions.merge(Versions.of('sqlite3', 'etcd-server')))
end
