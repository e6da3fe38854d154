# frozen_string_literal: true

require 'json'
require 'open3'
require 'tmpdir'
require_relative 'task_project'
require_relative '../support/page_commands'

RSpec.describe 'A task of Bolt' do
  # Runs each task of the module on the target localhost. It returns the results as Bolt prints them.
  plan = <<-PUPPET
    plan demo::tasks() {
      $value = Sensitive('pl4nted-token')
      $steps = {
        'put'     => ['put', { 'key' => 'plan/token', 'value' => $value.unwrap, 'sensitive' => true, 'metadata' => { 'n' => 1 } }],
        'tried'   => ['put', { 'key' => 'plan/other', 'value' => $value.unwrap, '_noop' => true }],
        'made'    => ['put', { 'key' => 'plan/made', 'generate' => 20, 'expires_after' => '90d' }],
        'data'    => ['put', { 'key' => 'plan/data', 'value' => { 'ports' => [80, 443] } }],
        'empty'   => ['put', { 'key' => 'plan/data', 'value' => '', 'environment' => 'empty', 'sensitive' => false }],
        'refused' => ['put', { 'key' => 'plan', 'value' => $value.unwrap }],
        'get'     => ['get', { 'key' => 'plan/token' }],
        'shown'   => ['get', { 'key' => 'plan/data', 'show' => true }],
        'stat'    => ['stat', { 'key' => 'plan/token' }],
        'known'   => ['stat', { 'key' => 'plan/made' }],
        'secret'  => ['secret', { 'key' => 'plan/secret', 'format' => 'hex' }],
        'missing' => ['get', { 'key' => '--help' }],
        'list'    => ['list', { 'folder' => 'plan', 'long' => true }],
        'doctor'  => ['doctor', { '_noop' => true }],
        'status'  => ['status', { 'parts' => ['servers', 'nodes'] }],
      }
      $results = $steps.reduce({}) |$all, $step| {
        [$name, [$task, $parameters]] = $step
        $result = run_task("simpkv::${task}", 'localhost', $parameters + { '_catch_errors' => true }).first
        $all + { $name => $result }
      }
      $read = $results['get']['_sensitive'].unwrap
      $form = run_plan('simpkv::get_secret', { 'store' => 'localhost', 'key' => 'plan/secret', 'format' => 'hex' })
      $one = $form['_sensitive'].unwrap == $results['secret']['_sensitive'].unwrap
      return($results + { 'read' => $read['metadata'], 'same' => $read['value'] == $value.unwrap, 'one' => $one })
    }
  PUPPET

  before(:all) do
    @project = TaskProject.new
    File.write("#{@project.root}/plans/tasks.pp", plan)
    @results = @project.bolt('plan', 'run', 'demo::tasks')
  end
  after(:all) { @project&.close }

  def result(name)
    @results.fetch(name) { raise "the plan failed: #{@results}" }.fetch('value')
  end

  it 'stores text as a Sensitive, data, and random text that it makes itself' do
    expect(%w[put data made].map { |name| result(name) })
      .to eq(%w[token data made].map { |name| { 'key' => "plan/#{name}", 'written' => true } })
    stored = %w[token data made].map { |name| File.read("#{@project.root}/store/environments/production/plan/#{name}") }
    expect(stored).to match([/"__ptype":"Sensitive","__pvalue":"pl4nted-token"/, /\A{"value":{"ports":\[80,443\]}/,
                             /\A{"value":"[A-Za-z0-9]{20}",.*"expires":/])
  end

  it 'stores an empty text, which the command does not read from standard input' do
    expect(result('empty')).to include('key' => 'plan/data', 'written' => true)
  end

  it 'stores nothing in noop, and says whether the key exists' do
    expect(result('tried')).to eq('key' => 'plan/other', 'written' => false, 'exists' => false)
    expect(result('list')['keys'].keys).to eq(%w[data made secret token])
  end

  it 'reads a value, which plans can unwrap, and Bolt neither prints nor logs' do
    expect(result('get')).to eq('key' => 'plan/token', '_sensitive' => 'Sensitive [value redacted]')
    expect(@results).to include('same' => true, 'read' => { 'n' => 1 })
    expect([@results.to_json, @project.log]).to all(satisfy { |text| !text.include?('pl4nted-') })
  end

  it 'makes a secret, which a plan gets, too, and Bolt neither prints nor logs' do
    expect(result('secret')).to eq('key' => 'plan/secret', '_sensitive' => 'Sensitive [value redacted]')
    expect(@results).to include('one' => true)
  end

  it 'tells what is known of a key without its value and metadata' do
    expect(result('stat')).to eq('key' => 'plan/token', 'text' => true, 'sensitive' => true, 'earlier' => 0)
    expect(result('known')).to include('sensitive' => false, 'expires' => /\A\d{4}-/)
  end

  it 'shows a value if that is wanted' do
    expect(result('shown')).to eq('value' => { 'ports' => [80, 443] }, 'metadata' => {})
  end

  it 'lists, examines, and tells the state of the site' do
    expect(result('list')['keys']['token']).to include('type' => 'Sensitive')
    expect(result('doctor')['findings']).to include(include('what' => 'writing', 'state' => 'unknown'))
    expect(result('status')).to include('state' => 'ok', 'servers' => Hash, 'nodes' => Hash)
  end

  it 'fails with the message of the command and its exit code' do
    expect(%w[refused missing].map { |name| result(name)['_error'] })
      .to match([include('kind' => 'simpkv/not-found', 'details' => { 'exitcode' => 66 }),
                 include('kind' => 'simpkv/not-found', 'msg' => /'--help': Key not found/)])
  end

  # The commands of the page name a target that a site has.
  it 'of the page does what the page says' do
    extend(PageCommands)

    lines = commands('bolt-and-deferred.md', 'Tasks of Bolt').gsub('store.example.com', 'localhost').lines
    expect(lines.map { |line| @project.bolt(*line.split.drop(1)).fetch('items').first['value'] })
      .to match([{ 'key' => 'app1/token', 'written' => true }, { 'findings' => include(include('what' => 'reading')) }])
  end

  # Runs the file of the tasks as a target does.
  def target(task, parameters, environment = {})
    input = JSON.generate(parameters.merge('_task' => "simpkv::#{task}"))
    output, status = Open3.capture2({ 'PATH' => '/usr/bin:/bin' }.merge(environment),
                                    "#{Bolt::MODULE}/tasks/run.sh", stdin_data: input)
    [JSON.parse(output), status.exitstatus]
  end

  # The same, with a program in place of the command.
  def with_command(script, task, parameters = {})
    Dir.mktmpdir do |folder|
      File.write("#{folder}/simpkv", "#!/bin/sh\n#{script}\n", perm: 0o755)
      target(task, parameters, 'PATH' => "#{folder}:/usr/bin:/bin")
    end
  end

  it 'fails if the machine has no command simpkv, or no Ruby' do
    missing = { '_error' => include('kind' => 'simpkv/not-installed', 'details' => { 'exitcode' => 127 }) }
    expect(target('list', {})).to match([missing, 127])
    script = File.read("#{Bolt::MODULE}/tasks/run.sh").sub(/^PATH=.*/, 'PATH=/nowhere')
    output, status = Open3.capture2('/bin/sh', stdin_data: script)
    expect([JSON.parse(output), status.exitstatus]).to match([missing, 127])
  end

  it 'fails if the command prints no JSON, or is killed, and shows none of its output' do
    result, code = with_command('echo pl4nted-output', 'get', 'key' => 'k')
    expect([result.keys, result['_error']['msg'], code]).to match([['_error'], /\Athe command printed no JSON/, 70])
    result, code = with_command('echo pl4nted-output; kill -9 $$', 'get', 'key' => 'k')
    expect([result.keys, result['_error']['msg'], code]).to eq([['_error'], 'the command failed', 137])
  end

  it 'fails if doctor finds a problem, or something is critical, and returns all findings' do
    findings = [{ 'state' => 'problem', 'what' => 'folder' }, { 'state' => 'ok', 'what' => 'reading' }]
    result, code = with_command("echo '#{JSON.generate(findings)}'; exit 69", 'doctor')
    expect([result['findings'], result['_error']['msg'], code]).to eq([findings, 'problems: folder', 69])
    state = { 'state' => 'critical', 'alerts' => [{ 'level' => 'critical', 'text' => 'ldap1 is down' }] }
    result, code = with_command("echo '#{JSON.generate(state)}'; exit 2", 'status')
    expect([result.slice('state', 'alerts'), result['_error']['msg'],
            code]).to eq([state, 'critical: ldap1 is down', 2])
  end

  it 'succeeds if status has a warning only' do
    state = { 'state' => 'warning', 'alerts' => [{ 'level' => 'warning', 'text' => 'ldap1 lags behind' }] }
    expect(with_command("echo '#{JSON.generate(state)}'; exit 1", 'status')).to eq([state, 0])
  end

  it 'refuses a put of nothing, of two values, of what is not Base64, and a NUL' do
    [{}, { 'value' => 'v', 'generate' => 8 }, { 'generate' => 8, 'base64' => true }, { 'key' => "k\0", 'value' => 'v' }]
      .each do |parameters|
        expect(target('put', { 'key' => 'k' }.merge(parameters)))
          .to match([{ '_error' => include('kind' => 'simpkv/usage') }, 64])
      end
    expect(target('put', { 'key' => 'k', 'value' => 'pl4nted-?', 'base64' => true }))
      .to eq([{ '_error' => { 'kind' => 'simpkv/data', 'msg' => "'value' is not Base64, as 'base64' says",
                              'details' => { 'exitcode' => 65 } } }, 65])
  end
end
