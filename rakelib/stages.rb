# frozen_string_literal: true

require 'bundler'
require 'fileutils'
require 'rbconfig'
require 'tmpdir'

# The stages of the tests. Each is a rake task that runs commands and keeps their output; several run at a time.
module Stages
  ROOT = File.expand_path('..', __dir__)

  # Secrets that specs plant, and the password of their servers. A stage that prints one has failed.
  PLANTED = /pl4nted-|it is a secret/.freeze

  # The lines that count: those of RSpec, of the C tests, and of tests that break something on purpose.
  COUNTS = /\A\d+ examples?, | \d+ passed, \d+ failed$| \d+ anomalies\b/.freeze

  # The seconds after which a command is ended and its stage has failed. SIGTERM comes first, for those that clean up.
  LIMIT = 20 * 60

  # Runs a command, and appends to a file the processor time of the command and of the processes below it, unless nobody
  # has waited for them. On SIGTERM, which the command gets, too, it waits for the command.
  MEASURED = 'trap : TERM; file=$1; shift; "$@"; result=$?; times >> "$file"; exit $result'

  # Stages that have ended.
  FINISHED = Queue.new

  # The process ids of the commands that run.
  RUNNING = {} # rubocop:disable Style/MutableConstant -- stages add and remove them

  LOCK = Mutex.new
  BEGAN = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  private_constant :FINISHED, :RUNNING, :LOCK, :BEGAN

  # Commands that run one after the other, until one fails.
  class Stage
    # @return [String]
    attr_reader :name

    # @param name [String]
    # @param commands [#call] runs the commands of the stage by {#sh}
    def initialize(name, commands)
      @name = name
      @commands = commands
    end

    # Runs the commands, and prints how that ended.
    #
    # @return [void]
    def run
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      @passed = catch(:failed) { @commands.call(self) || true } && !leaked?
      @seconds = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - began).round
      puts row
    end

    # Runs a command, and ends the stage if it fails or takes too long.
    #
    # @param command [Array] as Process.spawn takes it: variables, program, arguments
    # @param chdir [String] the folder in which it runs
    # @param limit [Integer] seconds
    # @return [void]
    def sh(*command, chdir: ROOT, limit: LIMIT)
      variables = command.first.is_a?(Hash) ? command.shift : {}
      options = { chdir: chdir, in: File::NULL, %i[out err] => [log, 'a'], unsetenv_others: true }
      limited = ['timeout', '--verbose', '--kill-after=10', limit.to_s, 'sh', '-c', MEASURED, 'sh', times]
      variables = Stages.environment.merge('STAGE' => name).merge(variables)
      pid = Process.spawn(variables, *Stages.clean_machine, *limited, *command, options)
      RUNNING[pid] = true
      _, status = Process.wait2(pid)
      RUNNING.delete(pid)
      throw(:failed, false) unless status.success?
    end

    # Runs a command as {#sh} does, in a copy of the tree that this stage may change and build in.
    #
    # @return [void]
    def sh_in_copy(*command, limit: LIMIT)
      sh(*command, chdir: @copy ||= copy, limit: limit)
    end

    # @return [Boolean] whether all commands succeeded and printed no secret
    def passed?
      @passed
    end

    # @return [String] what the commands printed
    def output
      File.exist?(log) ? File.read(log, encoding: 'UTF-8').scrub : ''
    end

    # @return [Array<String>] the lines of the output that count something
    def counts
      output.lines.grep(COUNTS)
    end

    # @return [String] a line of the table
    def row
      result = @passed ? 'ok' : 'FAILED'
      format('  %-21<name>s %-7<result>s %4<seconds>d s, %5.1<processor>f s of processor time',
             name: @name, result: result, seconds: @seconds, processor: processor)
    end

    # @return [Float] the seconds of processor time that the commands took, with those in the kernel
    def processor
      return 0.0 unless File.exist?(times)

      File.read(times).scan(/(\d+)m([\d.]+)s/).sum { |minutes, seconds| (minutes.to_i * 60) + seconds.to_f }
    end

    private

    # The file with what {MEASURED} appends.
    def times
      File.join(Stages.folder, "#{name}.times")
    end

    def log
      File.join(Stages.folder, "#{name}.log")
    end

    def copy
      folder = File.join(Stages.folder, name)
      FileUtils.mkdir_p(folder)
      left_out = %w[./.git ./tmp ./pkg ./ext/core/build *.so].map { |name| "--exclude=#{name}" }
      sh('sh', '-c', 'copy=$1 && shift && tar -c "$@" . | tar -x -C "$copy"', 'sh', folder, *left_out)
      folder
    end

    def leaked?
      return false unless output.match?(PLANTED)

      File.write(log, "This stage has printed a secret.\n", mode: 'a')
    end
  end

  class << self
    # Runs a stage; {report} tells of it.
    #
    # @param name [String]
    # @param commands [#call] see {Stage}
    # @return [void]
    def run(name, commands)
      stage = Stage.new(name, commands)
      stage.run
      FINISHED << stage
    end

    # Prints what the stages counted, all that the failed ones printed, and how each ended.
    #
    # @param minutes [Integer, nil] that this should take on two idle processors, for the last line. To take longer is
    #   no failure
    # @return [Boolean] whether all passed
    def report(minutes = nil)
      finished = Array.new(FINISHED.size) { FINISHED.pop }
      passed, failed = finished.partition(&:passed?)
      passed.each { |stage| puts "== #{stage.name}", stage.counts }
      failed.each { |stage| puts "== #{stage.name}", stage.output }
      puts '', 'What ran:', finished.map(&:row)
      took = ((Process.clock_gettime(Process::CLOCK_MONOTONIC) - BEGAN) / 60).round(1)
      processor = (finished.sum(&:processor) / 60).round(1)
      if minutes
        puts "The stages took #{took} minutes, with #{processor} of processor time; the installation before them " \
             "does not count. The goal is #{minutes} minutes on 2 idle processors; a slower run is no failure."
      end
      failed.empty?
    end

    # Ends the commands that still run, after Ctrl-C for instance, and deletes what the stages left.
    #
    # @return [void]
    def clean_up
      RUNNING.each_key { |pid| Process.kill(:TERM, pid) }
      FileUtils.rm_rf(@folder) if @folder
    end

    # @return [String] a temporary folder for the output of the stages, and for copies of the checkout, which specs read
    #   as another user
    def folder
      LOCK.synchronize { @folder ||= Dir.mktmpdir('simpkv-stages').tap { |made| File.chmod(0o711, made) } }
    end

    # Random contents and the order of examples are the same in each run, so that a change fails for its own defects
    # alone. SEED=random takes others, as the weekly workflow does; RSpec prints their seed, and SEED=NUMBER repeats it.
    #
    # @return [Hash{String => String}] the variables of every command: none of Bundler's, but those that find the gems
    def environment
      @environment ||= Bundler.unbundled_env.merge(
        'BUNDLE_GEMFILE' => File.join(ROOT, 'Gemfile'), 'BUNDLE_PATH' => gems, 'BUNDLE_SILENCE_ROOT_WARNING' => '1',
        'LANG' => 'C.UTF-8', 'LC_ALL' => 'C.UTF-8', 'SEED' => ENV.fetch('SEED', '1')
      ).freeze
    end

    # @return [Array<String>] the command that hides what earlier runs of Puppet and simpkv have left on the machine.
    #   Only root can do so, and only if the kernel allows it; in CI, it is an error if it does not
    def clean_machine
      @clean_machine ||= begin
        command = [File.join(ROOT, 'rakelib', 'clean_machine.sh')]
        able = Process.euid.zero? && (ENV['CI'] || system(*command, 'true', %i[out err] => File::NULL))
        able ? command : []
      end
    end

    # @return [String] the folder that bin/env keeps gems in, for all checkouts
    def gems
      Bundler.settings[:path]
    end
  end

  at_exit { clean_up }
end
