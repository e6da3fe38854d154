# frozen_string_literal: true

require_relative 'doctor_helper'
require_relative '../support/standing_clock'

RSpec.describe 'simpkv doctor, with files' do
  include_context 'with doctor'

  let(:root) { File.join(folder, 'keys') }

  it 'finds no problem in a new folder' do
    simpkv!('init')
    files = -> { Dir.glob('**/*', File::FNM_DOTMATCH, base: root).sort }
    before = files.call
    expect([findings, files.call]).to eq([[], before])
  end

  it 'finds a missing folder' do
    expect(findings).to contain_exactly(problem('folder', /#{root} is not there/, /simpkv init/))
  end

  it 'finds a world-readable folder' do
    simpkv!('init')
    File.chmod(0o755, root)
    expect(findings).to contain_exactly(warning('rights', /open to every local user \(mode 0755\)/, /chmod o-rwx/))
  end

  it 'refuses an unknown user' do
    expect(simpkv('doctor', '--user', 'nosuch').to_a).to eq(['', "simpkv: there is no user 'nosuch'\n", 64])
  end

  # Doctor reported it twice.
  it 'reports a wrong option of the backend once' do
    backends['default']['id'] = 'a/b'
    expect(findings).to contain_exactly(problem('configuration', /'id' of simpkv backend/, /correct/))
  end

  it 'finds an unknown option' do
    backends['default']['rot_path'] = '/x'
    simpkv('init')
    expect(simpkv('doctor').err).to include("Unknown option 'rot_path'", "did you mean 'root_path'")
  end

  it 'finds a problem in an unknown option with strict_options' do
    simpkv!('init')
    backends['default']['rot_path'] = '/x'
    File.write(config, { 'strict_options' => true, 'backends' => backends }.to_yaml)
    expect(findings).to include(problem('configuration', /'rot_path' of.*did you mean 'root_path'/, /correct/))
    expect(simpkv('put', 'a', '1')).to have_attributes(code: 78, out: '', err: /Unknown option 'rot_path'/)
  end

  # It said that there are none.
  it 'names the backends that there are in place of a wrong one' do
    backends['other'] = backends['default'].merge('id' => 'other', 'root_path' => File.join(folder, 'other'))
    missing = /No simpkv backend 'othr'.* has 'default' and 'other': did you mean 'other'/
    expect(simpkv('get', '-b', 'othr', 'a')).to have_attributes(code: 78, out: '', err: missing)
  end

  # Secrets went to the default folder without a word.
  it 'finds a misspelt simpkv::options in the data of any environment, and in global data' do
    simpkv!('init')
    data = { 'code/environments/dev/data/nodes/web1.yaml' => { 'simpkv::option' => { 'backends' => {} } },
             'code/environments/prod/hiera.yaml' => { 'version' => 5, 'defaults' => { 'datadir' => 'site/%{::x}/h' } },
             'code/environments/prod/site/a/b.json' => { 'simpkv::optoins' => {} },
             'code/environments/prod/data/common.yaml' => { 'simpkv::options' => {}, 'a' => { 'simpkv::opts' => 1 } },
             'data/common.yaml' => { 'simpkv:options' => {} } }
    data.each do |name, content|
      FileUtils.mkdir_p(File.dirname(File.join(folder, name)))
      File.write(File.join(folder, name), name.end_with?('.json') ? content.to_json : content.to_yaml)
    end
    expect(findings.map { |finding| finding.values_at('state', 'what') }.uniq).to eq([['warning', 'Hiera data']])
    expect(findings.map { |finding| finding['why'] })
      .to contain_exactly(%r{'simpkv::option' in #{folder}/code.*web1.yaml, .* mean 'simpkv::options'}, /optoins/,
                          %r{'simpkv:options' in #{folder}/data/common.yaml})
    FileUtils.rm_r(%w[prod/site dev].map { |name| File.join(folder, 'code/environments', name) })
    File.write(File.join(folder, 'puppet.conf'), "[main]\nenvironmentpath = $confdir/code/environments\n")
    FileUtils.rm_r(File.join(folder, 'data'))
    expect(findings).to eq([])
    expect(simpkv!('doctor')).to match(/^ok +Hiera data: no misspelt simpkv::options, files: \d+$/)
  end

  it 'finds wrong options of any backend' do
    simpkv!('init')
    backends['other'] = { 'type' => 'ldap', 'id' => 'x', 'page_size' => 'pl4nted-' }
    File.write(config, { 'backends' => backends }.to_yaml)
    expect(findings).to contain_exactly(problem("options of backend 'other'", /'page_size' .* must be/,
                                                /simpkv.yaml/))
  end

  it 'names the keys that an earlier doctor has left, and deletes none' do
    simpkv!('-g', 'put', 'simpkv-doctor-0123abcd/k', 'x')
    simpkv!('-g', 'put', 'simpkv-doctor-notes/k', 'x')
    expect(findings).to contain_exactly(warning('leftovers', /0123abcd/, /simpkv rm -r -g simpkv-doctor-0123abcd/))
    expect(simpkv!('-g', 'get', 'simpkv-doctor-0123abcd/k')).to eq('x')
  end

  # Doctor did not report them.
  it 'names the temporary files of killed writers, but none of a live one, and other commands show none' do
    %w[new old].each { |key| simpkv!('-g', 'put', "app/#{key}", 'x') }
    name = File.join(root, 'globals/app/.skv~000000000000000')
    # One name is not UTF-8.
    ['1', '2', "\xFF"].each { |number| File.write("#{name}#{number}", 'pl4nted') }
    File.link(File.join(root, 'globals/app/new'), "#{name}3") # The writer had not removed its second name.
    File.open("#{name}2") do |file|
      file.flock(File::LOCK_EX)
      found = findings
      expect(found).to contain_exactly(warning('temporary files', /left #{name}1, #{name}3, #{name}\S+$/, /: find/))
      system(found.first['fix'][/find .*/])
    end
    expect(Dir.glob("#{name}*")).to eq(["#{name}2"])
    shown = [%w[ls app], %w[tree], %w[export]].map { |arguments| simpkv!('-g', *arguments) }
    expect(shown).to all(include('old')).and all(satisfy { |output| !output.include?('skv~') })
  end

  it 'checks one backend of a configuration that functions refuse' do
    backends['move'] = backends.delete('default')
    expect(simpkv('init', '-b', 'move').code).to eq(0)
    expect(findings('-b',
                    'move')).to contain_exactly(warning('configuration', /functions would refuse it/, /functions/))
  end

  it 'needs no home folder' do
    simpkv!('init')
    expect(simpkv('doctor', environment: { 'HOME' => nil }).code).to eq(0)
  end

  it 'names files whose names no key can have' do
    simpkv!('put', '-g', 'sound', 'x')
    File.write(File.join(root, 'globals', "lat\xE9".b), '{"value":1}')
    expect(findings).to contain_exactly(
      problem("key 'globals/lat\\xE9'", /no key can be called that/, /delete it: by hand/),
      problem('reading', /1 of 2 keys cannot be read/, /delete/)
    )
  end

  # Doctor did not report them.
  it 'names keys with empty or corrupt documents and the command that deletes them, and quotes nothing' do
    %w[good app1/cut].each { |key| simpkv!('put', key, 'pl4nted') }
    simpkv!('put', '-g', 'empty', 'x')
    File.write(File.join(root, 'globals/empty'), '')
    File.write(File.join(root, 'environments/production/app1/cut'), '{"value":"pl4nted')
    found = findings
    expect(found).to contain_exactly(
      problem("key 'globals/empty'", /empty/, /simpkv rm -g empty, or by hand$/),
      problem("key 'environments/production/app1/cut'", /corrupt \(17 bytes\)/,
              %r{simpkv rm -e production app1/cut,}),
      problem('reading', /2 of 3 keys cannot be read/, /repair or delete them/)
    )
    expect(found.to_s).not_to include('pl4nted')
    found.first(2).each { |finding| simpkv!(*finding['fix'][/simpkv (rm .*), or by hand/, 1].split) }
    expect(findings).to eq([])
  end

  # Doctor and copy said nothing of them.
  it 'names keys whose values simpkv 1.0.0 has lost, by what is lost' do
    simpkv!('put', 'app1/password', 'Sensitive [value redacted]')
    simpkv!('put', 'app1/users', '--json', '{"dba": ["Sensitive [value redacted]"], "other": "pl4nted"}')
    simpkv!('put', 'app1/motd', 'Sensitive')
    simpkv!('put', 'app1/call', '--json', %q(["Deferred({'name' => 'x'})"]))
    File.write(File.join(root, 'environments/production/app1/twice'), '{"value":{"1":"pl4nted","1":2}}')
    found = findings
    expect(found).to contain_exactly(
      warning('lost values', %r{2 keys .*secret: environments/\S+/app1/password, \S+/app1/users\z}, /store .* anew/),
      warning('lost values', %r{1 key .* of an object: \S+/app1/call\z}, /store .* anew/),
      warning('lost values', %r{1 key .* a name twice, .*: \S+/app1/twice\z}, /store .* anew/)
    )
    expect(found.to_s).not_to include('pl4nted')
  end

  describe 'with times' do
    include StandingClock

    it 'counts expired keys, and names keys with malformed times and histories' do
      simpkv!('put', 'a', 'x', '--expires-after', '1h')
      simpkv!('put', 'b', 'x', '--expires-after', '1d', '--history', '1')
      at(7200) do
        expect(findings).to eq([])
        expect(simpkv!('doctor', '--user', 'root')).to match(/^ok +expiry: 1 key expired \(simpkv expire --dry-run/)
      end
      ['"expires":"tomorrow"', '"history":["pl4nted"]'].each_with_index do |member, index|
        File.write(File.join(root, "environments/production/wrong#{index}"), %({"value":"pl4nted",#{member}}))
      end
      found = findings
      expect(found).to contain_exactly(
        problem("key 'environments/production/wrong0'", /'expires' is not a time/, /simpkv rm -e production wrong0,/),
        problem("key 'environments/production/wrong1'", /'history' is not a list/, /simpkv rm -e production wrong1,/),
        problem('reading', /2 of 4 keys cannot be read/, /repair or delete them/)
      )
      expect(found.to_s).not_to include('pl4nted')
    end
  end

  it 'names ten of many unreadable keys, and counts all' do
    simpkv!('put', '-g', 'sound', 'x')
    12.times { |number| File.write(File.join(root, 'globals', "k#{number}"), '') }
    found = findings
    expect(found.length).to eq(11)
    expect(found.last)
      .to problem('reading', /12 of 13 keys cannot be read, .* 10 of each kind are named/, /repair or delete them/)
  end

  # Doctor printed 'ok folder', and then 'PROBLEM folder'.
  it 'reports an unusable folder as a problem only' do
    simpkv!('init')
    FileUtils.rm_r(File.join(root, 'globals'))
    File.write(File.join(root, 'globals'), '')
    outcome = simpkv('doctor')
    expect(outcome.out).to match(/^PROBLEM +(folder|reading)/)
    expect(outcome.out.lines.grep(/folder:/).length).to eq(1)
  end

  # The remedy was to run as the owner of the keys.
  it 'names the remedy for a read-only file system' do
    simpkv!('put', 'a', 'x')
    read_only(root) do
      expect(findings).to contain_exactly(problem('writing', /Read-only file system/, /mount .*#{root} for writing/))
      expect(findings('--read-only').map { |finding| finding['state'] }).to eq(['unknown'])
    end
  end

  # Mounts the folder on itself, read-only.
  def read_only(folder)
    system('mount', '--bind', folder, folder, exception: true)
    system('mount', '-o', 'remount,bind,ro', folder, exception: true)
    yield
  ensure
    system('umount', folder)
  end

  it 'stores nothing with --read-only' do
    simpkv!('init')
    before = File.stat(File.join(root, 'globals')).mtime
    expect(findings('--read-only').map { |finding| finding['state'] }).to eq(['unknown'])
    expect(File.stat(File.join(root, 'globals')).mtime).to eq(before)
  end
end
