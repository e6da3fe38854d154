# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require 'yaml'
require_relative '../spec/support/puppet_command'
require_relative 'support/contest'

# How much longer does a run of Puppet take for keys as resources? `puppet apply` of 10,000 unchanged simpkv_key in a
# folder that purges all others takes turns with as many notify, which always change and log (at the level debug, so
# that they print nothing), and with as many files that are absent, which do not change either.
class KeysAsResources
  KEYS = SideBySide::QUICK ? 200 : 10_000
  BLOCKS = SideBySide::QUICK ? 1 : 3
  BATCH = 500
  ROOT = File.expand_path('..', __dir__)
  NOTIFY = "#{KEYS} notify"
  FILES = "#{KEYS} absent files"
  EMPTY = 'an empty catalog'

  # Prints the peak of its memory at the end.
  PROGRAM = <<~RUBY
    require 'puppet/util/command_line'
    at_exit { $stderr.puts File.read('/proc/self/status')[/^VmHWM:.*/] }
    Puppet::Util::CommandLine.new('puppet', ARGV).execute
  RUBY

  MANIFESTS = {
    EMPTY => '',
    NOTIFY => "Integer[1, #{KEYS}].each |$n| {\n  " \
              'notify { "bench/k${n}": message => "value ${n}", loglevel => debug } }',
    FILES => "Integer[1, #{KEYS}].each |$n| { file { \"/bench/k${n}\": ensure => absent } }",
    'keys' => "simpkv_folder { 'bench': ensure => present, purge => true }\n" \
              "Integer[1, #{KEYS}].each |$n| { simpkv_key { \"bench/k${n}\": value => \"value ${n}\" } }"
  }.freeze

  # Runs processes, and knows their processor time.
  #
  # operation:: a Proc
  # processor:: seconds of processor time of an operation, in the last call of `time`
  Run = Struct.new(:operation, :processor) do
    def answer
      operation.call
    end

    # @return [Float] seconds an operation
    def time(count)
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      before = used
      count.times { operation.call }
      self.processor = (used - before) / count
      (Process.clock_gettime(Process::CLOCK_MONOTONIC) - began) / count
    end

    private

    def used
      times = Process.times
      times.cutime + times.cstime
    end
  end

  # @param folder [String] a temporary folder
  # @param places [Hash{String => Hash}] the options of a backend by the name of its place
  def initialize(folder, places)
    @folder = folder
    @places = places
    @peaks = Hash.new { |all, name| all[name] = [] }
    MANIFESTS.each { |name, text| File.write(manifest(name), text) }
    FileUtils.mkdir(modules)
    File.symlink(ROOT, File.join(modules, 'simpkv'))
    places.each { |name, backend| prepare(name, backend) }
  end

  # @param report [Report]
  def run(report)
    contestants = { NOTIFY => -> { apply(NOTIFY, NOTIFY, 2) } }
    [FILES, EMPTY].each { |name| contestants[name] = -> { apply(name, name) } } unless SideBySide::QUICK
    @places.each_key { |place| contestants[title(place)] = -> { apply(title(place), 'keys', 0, place) } }
    contestants.transform_values! { |operation| Run.new(operation) }
    rows = report.add(SideBySide.run('puppet apply', contestants, seconds: nil, blocks: BLOCKS))
    memory(report)
    @places.each_key { |place| targets(report, rows, place) }
  end

  private

  def title(place)
    "#{KEYS} simpkv_key, #{place}"
  end

  def modules
    File.join(@folder, 'modules')
  end

  def manifest(name)
    File.join(@folder, "#{name.tr(' ', '_')}.pp")
  end

  def config(place)
    File.join(@folder, "#{place}.yaml")
  end

  def prepare(place, backend)
    File.write(config(place), { 'backends' => { 'default' => backend } }.to_yaml)
    store = open_store(backend)
    (1..KEYS).each_slice(BATCH) do |numbers|
      documents = numbers.to_h { |n| ["environments/production/bench/k#{n}", Simpkv::Codec.encode("value #{n}")] }
      store.put_many(documents).each_value { |result| raise result if result.is_a?(Simpkv::Error) }
    end
  ensure
    store&.close
  end

  def open_store(backend)
    options = backend['type'] == 'file' ? backend.slice('root_path') : backend.reject { |name, _| name == 'type' }
    Simpkv::Store.open(backend['type'], options)
  end

  # Applies a manifest, which must end with that code, and keeps the peak of the memory. 0: nothing has changed.
  def apply(contestant, name, code = 0, place = @places.keys.first)
    folders = PuppetCommand.folders(File.join(@folder, 'puppet'))
    command = [{ 'SIMPKV_CONFIG' => config(place) }, RbConfig.ruby, '-I', File.join(ROOT, 'lib'), '-e', PROGRAM,
               'apply', '--color=false', '--detailed-exitcodes', "--modulepath=#{modules}", *folders, manifest(name)]
    output, status = Open3.capture2e(*command)
    raise "#{contestant} ended with #{status.exitstatus}: #{output}" unless status.exitstatus == code

    @peaks[contestant] << (output[/^VmHWM:\s*(\d+)/, 1].to_i / 1024.0)
    nil
  end

  def peak(contestant)
    @peaks.fetch(contestant).sort[@peaks[contestant].length / 2]
  end

  def memory(report)
    report.note('| contestant | peak of the memory, MB |', '|---|---:|')
    @peaks.each_key { |name| report.note(format('| %<name>s | %<peak>.0f |', name: name, peak: peak(name))) }
  end

  def targets(report, rows, place)
    (rows.map(&:name) & [FILES, NOTIFY]).each do |other|
      seconds = Report.row(rows, title(place)).median - Report.row(rows, other).median
      report.at_most("seconds of #{title(place)}, beyond those of #{other}", 2, seconds)
      report.at_most("memory of #{title(place)} / #{other}", 1.5, peak(title(place)) / peak(other))
    end
  end
end

report = Report.new('Keys as resources')
Dir.mktmpdir('keys') do |folder|
  Dir.mktmpdir('keys') do |root|
    Contest::OpenLDAP.run(limits: true, durable: true) do |slapd|
      backend = slapd.options('id' => Contest::ID)
      places = { 'files' => { 'type' => 'file', 'id' => Contest::ID, 'root_path' => File.join(root, 'files') },
                 'slapd' => { 'type' => 'ldap' }.merge(backend) }
      KeysAsResources.new(folder, places).run(report)
    end
  end
end
report.print('keys', Versions.own.merge(Versions.of('openvox', 'slapd')))
