# frozen_string_literal: true

require 'open3'
require 'rbconfig'
require_relative '../support/eventually'

RSpec.describe 'A stage of the tests' do
  include Eventually

  # Runs a stage with these lines of Ruby, and the report, in a process of its own.
  def run_stage(*lines, minutes: nil)
    program = "require './rakelib/stages'; Stages.run('sample', ->(stage) { #{lines.join("\n")} }); " \
              "exit Stages.report(#{minutes.inspect})"
    Open3.capture2e(RbConfig.ruby, '-e', program, chdir: File.expand_path('../..', __dir__))
  end

  # Returns true if a process has ended. A zombie has no command line.
  def ended?(pid)
    File.readlines("/proc/#{pid}/cmdline").none?
  rescue Errno::ENOENT
    true
  end

  it 'succeeds when all of its commands succeed, and prints only their counts' do
    output, status = run_stage("stage.sh('echo', '3 examples, 0 failures')", "stage.sh('echo', 'more')")
    expect(output).to match(/^== sample\n3 examples, 0 failures\n\nWhat ran:\n  sample +ok /)
    expect(output).not_to include('more')
    expect(status).to be_success
  end

  it 'prints the processor time of its commands, with that of the processes below them' do
    busy = "ruby -e 'until Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) > 0.2; end'"
    output, = run_stage("stage.sh('sh', '-c', \"#{busy}; true\")")
    expect(output[/([\d.]+) s of processor time/, 1].to_f).to be_between(0.2, 10)
  end

  # It named a limit, which nothing enforced.
  it 'says what its time is compared with, and does not fail for it' do
    output, status = run_stage("stage.sh('true')", minutes: 0)
    expect(output).to match(/^The stages took \d+\.\d minutes, .*; the installation before them does not count\. /)
      .and end_with("The goal is 0 minutes on 2 idle processors; a slower run is no failure.\n")
    expect(status).to be_success
  end

  { 'first' => %w[false true], 'last' => %w[true false] }.each do |place, commands|
    it "fails when its #{place} command fails, and prints all output" do
      output, status = run_stage("stage.sh('echo', 'the reason')", *commands.map { |command| "stage.sh('#{command}')" })
      expect(output).to match(/^== sample\nthe reason\n.*^  sample +FAILED /m)
      expect(status.exitstatus).to eq(1)
    end
  end

  it 'fails when a command takes too long, and ends the processes of that command' do
    output, status = run_stage("stage.sh('sh', '-c', 'sleep 100 & echo process $!; wait', limit: 1)")
    expect(output).to match(/timeout: sending signal TERM.*sample +FAILED /m)
    expect(status).not_to be_success
    eventually { ended?(output[/process (\d+)/, 1]) }
  end

  it 'fails when it prints a secret that a spec has planted' do
    output, status = run_stage("stage.sh('echo', 'pl4nted' + '-password')")
    expect(output).to include('This stage has printed a secret.')
    expect(status).not_to be_success
  end

  it 'runs commands in a copy of the tree without touching the tree' do
    output, status = run_stage("stage.sh_in_copy('sh', '-c', 'rm simpkv.gemspec && ls -d lib spec && pwd && false')")
    expect(output).to match(%r{lib\nspec\n/.*/sample\n})
    expect(status).not_to be_success
    expect(File).to exist(File.expand_path('../../simpkv.gemspec', __dir__))
  end
end
