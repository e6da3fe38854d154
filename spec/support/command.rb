# frozen_string_literal: true

require 'json'
require 'open3'
require 'rbconfig'
require 'tmpdir'
require 'yaml'

# Runs the command `simpkv`, as a process of its own, with a configuration file of one's own.
#
#   include_context 'with the command', 'default' => { 'type' => 'file', 'id' => 'x', 'root_path' => '...' }
#   simpkv('get', 'app1/token').out
RSpec.shared_context 'with the command' do
  let(:folder) { Dir.mktmpdir('command') }
  # What is in the configuration file: an example's group says so.
  let(:backends) { { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => File.join(folder, 'keys') } } }
  let(:config) { File.join(folder, 'simpkv.yaml').tap { |file| File.write(file, { 'backends' => backends }.to_yaml) } }

  after { FileUtils.remove_entry(folder) }

  # @param arguments [Array<String>]
  # @param input [String] what is on standard input
  # @param environment [Hash{String => String, nil}]
  # @return [Command::Outcome]
  def simpkv(*arguments, input: '', environment: {}, &block)
    Command.run(arguments, input, { 'SIMPKV_CONFIG' => config }.merge(environment), folder, &block)
  end

  # The same in this process, where an example can stub what the command asks.
  #
  # @return [Command::Outcome]
  def simpkv_here(*arguments)
    before = [$stdout, $stderr]
    pipe = Signal.trap('PIPE', 'DEFAULT')
    $stdout, $stderr = printed = [StringIO.new, StringIO.new]
    code = Simpkv::Cli.run(['-c', config, *arguments])
    Command::Outcome.new(*printed.map(&:string), code)
  ensure
    $stdout, $stderr = before
    Signal.trap('PIPE', pipe || 'DEFAULT')
  end

  # The same, for what must succeed.
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
  EXECUTABLE = File.expand_path('../../exe/simpkv', __dir__)

  # out, err:: what was printed
  # code:: how it ended; negative for the signal that ended it
  Outcome = Struct.new(:out, :err, :code)

  # @param out [String, nil] a file for what it prints
  # @yieldparam pid [Integer] while it runs
  def self.run(arguments, input, environment, folder, out: nil)
    command = [environment, RbConfig.ruby, EXECUTABLE, *arguments]
    command = [environment, 'sh', '-c', "exec \"$0\" \"$@\" > #{out}", *command.drop(1)] if out
    Open3.popen3(*command, chdir: folder) do |stdin, stdout, stderr, waiter|
      readers = [stdout, stderr].map { |stream| Thread.new { stream.binmode.read } }
      write(stdin, input)
      yield waiter.pid if block_given?
      status = waiter.value
      Outcome.new(*readers.map(&:value), status.exitstatus || -status.termsig)
    end
  end

  def self.write(stdin, input)
    stdin.binmode.write(input)
  rescue Errno::EPIPE
    nil
  ensure
    stdin.close
  end
end
