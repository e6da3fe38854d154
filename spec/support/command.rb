# frozen_string_literal: true

require 'json'
require 'open3'
require 'simpkv/cli/commands'
require 'tempfile'
require 'tmpdir'
require 'yaml'
require_relative 'command_schemas'
require_relative 'unbundled'

# Runs the command `simpkv` with a configuration file for each example.
#
#   include_context 'with the command'
#   simpkv('get', 'app1/token').out
RSpec.shared_context 'with the command' do
  let(:folder) { Dir.mktmpdir('command') }
  # The backends of the configuration file. Groups of examples replace them.
  let(:backends) { { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => File.join(folder, 'keys') } } }
  let(:config) { File.join(folder, 'simpkv.yaml').tap { |file| File.write(file, { 'backends' => backends }.to_yaml) } }

  after { FileUtils.remove_entry(folder) }

  # Runs the command in this process, which takes milliseconds. With `process`, a block, or variables that Ruby reads
  # when it starts, runs it in another process.
  #
  # The output of -o json must be as docs/schemas describes it.
  #
  # @param arguments [Array<String>]
  # @param input [String] the content of standard input
  # @param environment [Hash{String => String, nil}]
  # @param process [Boolean] whether to start a process
  # @yieldparam pid [Integer] while it runs
  # @return [Command::Outcome]
  def simpkv(*arguments, input: '', environment: {}, process: false, &block)
    process ||= block || (environment.keys - Command::VARIABLES).any?
    variables = { 'SIMPKV_CONFIG' => config }.merge(environment)
    outcome = Command.public_send(process ? :run : :run_here, arguments, input, variables, folder, &block)
    CommandSchemas.check(arguments, outcome)
  end

  # The same, for a command that must succeed.
  #
  # @return [String] what it printed
  def simpkv!(*arguments, **more)
    outcome = simpkv(*arguments, **more)
    raise "simpkv #{arguments.first} ended with #{outcome.code}: #{outcome.err}" unless outcome.code.zero?

    outcome.out
  end
end

# See above.
module Command
  # The variables that the command itself reads.
  VARIABLES = %w[SIMPKV_CONFIG SIMPKV_NOW EDITOR VISUAL TMPDIR].freeze

  # Those that Ruby or the loader of libraries reads when a process starts.
  AT_START = /\A(?:RUBY|GEM_|BUNDLE|LANG|LC_|LD_)/.freeze
  private_constant :AT_START

  # out, err:: the output on each stream
  # code:: the exit code; negative for the signal that ended it
  Outcome = Struct.new(:out, :err, :code)

  # @param out [String, nil] a file for what it prints
  # @yieldparam pid [Integer] while it runs
  def self.run(arguments, input, environment, folder, out: nil)
    start(arguments, environment, folder, out) do |stdin, stdout, stderr, waiter|
      readers = [stdout, stderr].map { |stream| Thread.new { stream.binmode.read } }
      write(stdin, input)
      yield waiter.pid if block_given?
      status = waiter.value
      Outcome.new(*readers.map(&:value), status.exitstatus || -status.termsig)
    end
  end

  # As Open3.popen3.
  def self.start(arguments, environment, folder, out, &block)
    quick = Process.respond_to?(:fork) && out.nil? && environment.keys.grep(AT_START).empty?
    return start_preloaded(arguments, environment, folder, &block) if quick

    command = [Unbundled::VARIABLES.merge(environment), *Unbundled::SIMPKV, *arguments]
    command.insert(1, 'sh', '-c', "exec \"$0\" \"$@\" > #{out}") if out
    Open3.popen3(*command, chdir: folder, &block)
  end

  def self.start_preloaded(arguments, environment, folder)
    pipes = Array.new(3) { IO.pipe }
    (input, stdin), (stdout, out), (stderr, err) = pipes
    pid = Unbundled::PRELOADED.spawn(arguments, env: environment, chdir: folder, in: input, out: out, err: err)
    [input, out, err].each(&:close)
    yield stdin, stdout, stderr, Process.detach(pid)
  ensure
    pipes.flatten.each(&:close)
  end

  def self.run_here(arguments, input, environment, folder)
    streams = Array.new(3) { Tempfile.new.tap(&:binmode) }
    streams.first.write(input)
    streams.first.rewind
    code = Dir.chdir(folder) { with(streams, environment) { Simpkv::Cli.run(arguments) } }
    Outcome.new(*streams.drop(1).map { |stream| stream.tap(&:rewind).read }, code)
  ensure
    streams&.each(&:close!)
  end

  # Replaces the streams, the environment and the handler of SIGPIPE of this process meanwhile.
  def self.with(streams, environment)
    former = [$stdin, $stdout, $stderr]
    variables = environment.to_h { |name, _| [name, ENV.fetch(name, nil)] }
    pipe = Signal.trap('PIPE', 'DEFAULT')
    $stdin, $stdout, $stderr = streams
    ENV.update(environment)
    yield
  ensure
    $stdin, $stdout, $stderr = former
    ENV.update(variables)
    Signal.trap('PIPE', pipe || 'DEFAULT')
  end

  def self.write(stdin, input)
    stdin.binmode.write(input)
  rescue Errno::EPIPE
    nil
  ensure
    stdin.close
  end
  private_class_method :start, :start_preloaded, :with, :write
end
