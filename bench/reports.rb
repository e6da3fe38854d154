# frozen_string_literal: true

require 'tmpdir'
require_relative 'support/contest'
require_relative 'support/sample_reports'
require 'simpkv/estate'

# How much room does a report take, and how long does its save? Saves reports of runs without changes, with 10 and with
# 300 changes, whole and with `report_logs: false`, in files, slapd and 389-DS, and computes what a site needs.
class ReportsBench
  KEPT = 14 # reports of a node
  CHANGES = [0, 10, 300].freeze
  NODES = SideBySide::QUICK ? 1 : 20
  SITE = 10_000 # nodes
  FORMS = { 'whole' => {}, 'report_logs: false' => { 'report_logs' => false } }.freeze

  def initialize
    @report = Report.new('Reports')
    @samples = SampleReports.new
  end

  def run
    @report.note('| store | form | changes | bytes of documents a run | bytes on disk a run | ms a save | ' \
                 "#{SITE} nodes, #{KEPT} reports each |", '|---|---|---:|---:|---:|---:|---:|')
    Dir.mktmpdir('reports', SideBySide::QUICK ? nil : '/var/tmp') do |folder|
      root = File.join(folder, 'root')
      measure('files', { 'type' => 'file', 'id' => 'bench', 'root_path' => root }) { root }
    end
    servers = SideBySide::QUICK ? [] : [Contest::OpenLDAP, Contest::DS389]
    versions = servers.map { |server| Contest.at(server) { |contest| at(contest) } }
    @report.note('', '389-DS writes its pages to the disk later, and reuses free ones: its bytes on disk say',
                 'little. slapd, too, reuses pages of reports that were replaced.')
    @report.print('reports', versions.inject(Versions.own, :merge))
  end

  private

  def at(contest)
    data = { 'slapd' => 'data', '389-DS' => "db/#{Ds389::BACKEND}" }.fetch(contest.server_name)
    options = contest.server.options('id' => Contest::ID, 'operation_timeout_seconds' => 600)
    measure(contest.server_name, { 'type' => 'ldap' }.merge(options)) { File.join(contest.server.folder, data) }
    contest.versions
  end

  def measure(place, backend)
    FORMS.each do |form, options|
      CHANGES.each do |changes|
        FileUtils.mkdir_p("#{backend['root_path']}/globals") if backend['root_path']
        estate = Simpkv::Estate.new({ 'backends' => { 'default' => backend },
                                      'estate' => { 'reports' => KEPT, **options } })
        estate.make
        prefix = "n#{FORMS.keys.index(form)}-#{changes}-"
        before = room(yield)
        seconds = fill(estate, prefix, changes)
        row(place, form, changes, documents(estate, prefix), (room(yield) - before) / runs, seconds)
      end
    end
  end

  def runs
    NODES * KEPT
  end

  # @return [Float] the median of the seconds of a save
  def fill(estate, prefix, changes)
    times = Array.new(KEPT) do |run|
      Array.new(NODES) do |node|
        whole = @samples.report(changes, run)
        began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        estate.reports.save("#{prefix}#{node}.example.com", whole)
        Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
      end
    end
    times.flatten.sort[runs / 2]
  end

  # @return [Integer] bytes of the documents of a run, without the status
  def documents(estate, prefix)
    tree = estate.store.tree('globals/estate/reports')[:keys]
    tree.select { |path, _| path.start_with?(prefix) }.sum { |_, document| document.bytesize } / runs
  end

  # The folders of the databases, without the logs and cache regions of 389-DS.
  def room(folder)
    Dir.glob("#{folder}/**/*").select { |file| File.file?(file) }.sum { |file| File.stat(file).blocks * 512 }
  end

  def row(place, form, changes, bytes, disk, seconds)
    site = format('%.1f GB', disk * KEPT * SITE / 1e9)
    cells = [place, form, changes, bytes, disk, format('%.2f', seconds * 1000), site]
    @report.note("| #{cells.join(' | ')} |")
    warn "  #{place}, #{form}, #{changes}: #{bytes} #{disk}"
  end
end

ReportsBench.new.run
