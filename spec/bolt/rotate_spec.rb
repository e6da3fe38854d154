# frozen_string_literal: true

require_relative 'task_project'
require_relative '../support/page_commands'

RSpec.describe 'The plan simpkv::rotate' do
  before(:all) do
    @project = TaskProject.new
    @project.write_command('agent', <<~SHELL)
      simpkv log app1/db_password -o json | grep -c version >> #{@project.root}/agents
      [ "$(grep -c . #{@project.root}/agents)" != "$(cat #{@project.root}/failing)" ]
    SHELL
    # An agent ends with 2 after a run with changes, and with 0 after one without.
    @project.write_command('puppet', <<~SHELL)
      [ "$*" = 'agent --test' ] && agent || exit 1
      exit $(($(grep -c . #{@project.root}/agents) % 2 * 2))
    SHELL
  end
  after(:all) { @project&.close }

  before do
    @project.simpkv('put', 'app1/db_password', '--no-sensitive', '--metadata', '{"owner": "dba"}', 'pl4nted-old')
  end

  include PageCommands

  # Runs the command of the page, whose targets are this machine.
  #
  # @return [Object] what the plan returns
  def rotate(*more)
    command, = commands('bolt-and-deferred.md', 'The plan simpkv::rotate').lines
    words = command.split.drop(1).map { |word| word.sub(/\A(store|services|clients)=.*/, '\1=localhost') }
    @project.bolt(*words, *more)
  end

  # Lets the agent fail that runs as number `run` since the last call of #agents; 0 for none.
  def fail_agent(run)
    File.write("#{@project.root}/failing", run)
  end

  # @return [Array<Integer>] how many versions the key had in each run of an agent since the last call
  def agents
    File.readlines("#{@project.root}/agents").map(&:to_i).tap { File.unlink("#{@project.root}/agents") }
  end

  it 'keeps both values until all agents have run, also if one of them fails' do
    fail_agent(1)
    expect(rotate).to include('kind' => 'simpkv/unfinished',
                              'details' => include('step' => 'services', 'targets' => ['localhost']))
    new, old = %w[0 -1].map { |version| @project.simpkv('get', 'app1/db_password', '--version', version) }
    expect([old, new.length, agents]).to eq(['pl4nted-old', 32, [2]])

    expect(rotate).to include('kind' => 'simpkv/unfinished', 'msg' => /resume=true/)

    fail_agent(2)
    expect(rotate('resume=true')).to include('kind' => 'simpkv/unfinished', 'details' => include('step' => 'clients'))
    expect(agents).to eq([2, 2])

    fail_agent(0)
    expect(rotate('resume=true')).to eq('key' => 'app1/db_password', 'services' => 1, 'clients' => 1)
    expect(agents).to eq([2, 2, 1])
    expect([@project.simpkv('get', 'app1/db_password'), @project.simpkv('get', 'app1/db_password', '-o', 'json')])
      .to match([new, /\A(?!.*"sensitive").*"owner": "dba"/m])
    expect(@project.log).not_to match(/pl4nted-|#{new}/)
  end

  it 'replaces text only, and keeps it a Sensitive or plain' do
    fail_agent(0)
    @project.simpkv('put', 'app1/db_password', '--json', '{"user": "pl4nted-user"}')
    expect(rotate).to include('kind' => 'simpkv/usage', 'msg' => /is not text/)
    @project.simpkv('put', 'app1/db_password', '--sensitive', '--chomp', '-', input: 'pl4nted-old')
    expect([rotate, agents]).to match([include('services' => 1), [2, 2, 1]])
    expect(@project.simpkv('get', 'app1/db_password', '-o', 'json')).to include('"sensitive": true')
  end

  it 'is refused if another plan has begun meanwhile, and the value that clients use is kept' do
    real = "#{@project.root}/bin/simpkv"
    File.rename(real, "#{real}-real")
    @project.write_command('simpkv', <<~SHELL)
      [ "$1" != put ] || #{real}-real put app1/db_password --history 1 pl4nted-other > /dev/null
      exec #{real}-real "$@"
    SHELL
    expect(rotate).to include('kind' => 'simpkv/temporary', 'msg' => /keeps an earlier value/)
    expect(@project.simpkv('get', 'app1/db_password', '--version', '-1')).to eq('pl4nted-old')
  ensure
    File.rename("#{real}-real", real)
  end

  it 'says which services may still accept the old value, if their agents fail in the end' do
    fail_agent(3)
    expect(rotate('agent=agent'))
      .to include('kind' => 'simpkv/unfinished', 'msg' => /localhost may still accept it: run their agents/,
                  'details' => include('step' => 'end'))
    expect(agents).to eq([2, 2, 1])
    expect(rotate('resume=true')).to include('msg' => /there is no rotation to resume/)
  end
end
