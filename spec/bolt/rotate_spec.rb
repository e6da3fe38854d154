# frozen_string_literal: true

require_relative 'task_project'

RSpec.describe 'The plan simpkv::rotate' do
  before(:all) do
    @project = TaskProject.new
    @project.write_command('agent', <<~SHELL)
      simpkv log app1/password -o json | grep -c version >> #{@project.root}/agents
      [ ! -e #{@project.root}/failing ]
    SHELL
    @project.simpkv('put', 'app1/password', '--metadata', '{"owner": "dba"}', 'pl4nted-old')
  end
  after(:all) { @project&.close }

  # @return [Object] what the plan returns
  def rotate(*more)
    @project.bolt('plan', 'run', 'simpkv::rotate', 'store=localhost', 'key=app1/password', 'services=localhost',
                  'clients=localhost', 'agent=agent', *more)
  end

  # @return [Array<Integer>] how many versions the key had in each run of an agent since the last call
  def agents
    File.readlines("#{@project.root}/agents").map(&:to_i).tap { File.unlink("#{@project.root}/agents") }
  end

  it 'keeps both values until all agents have run, also if one of them fails' do
    FileUtils.touch("#{@project.root}/failing")
    failed = rotate
    expect(failed).to include('kind' => 'simpkv/unfinished',
                              'details' => include('step' => 'services', 'targets' => ['localhost']))
    new, old = %w[0 -1].map { |version| @project.simpkv('get', 'app1/password', '--version', version) }
    expect([old, new.length, agents]).to eq(['pl4nted-old', 32, [2]])

    expect(rotate).to include('kind' => 'simpkv/unfinished', 'msg' => /resume=true/)

    FileUtils.rm("#{@project.root}/failing")
    expect(rotate('resume=true')).to eq('key' => 'app1/password', 'services' => 1, 'clients' => 1)
    expect(agents).to eq([2, 2, 1])
    expect([@project.simpkv('get', 'app1/password'), @project.simpkv('get', 'app1/password', '-o', 'json')])
      .to match([new, /"owner": "dba"/])
    expect(@project.log).not_to match(/pl4nted-|#{new}/)
  end
end
