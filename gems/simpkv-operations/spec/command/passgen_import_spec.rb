# frozen_string_literal: true

require 'fileutils'
require_relative '../../../../spec/support/command'
require_relative '../../../../spec/support/slapd'

# The passwords of simplib::passgen in files, as keys.
RSpec.describe 'simpkv passgen import' do
  include_context 'with the command'

  let(:vardir) { File.join(folder, 'vardir') }

  # @param files [Hash{String => String}] by name
  def legacy(environment, files)
    target = File.join(vardir, 'simp/environments', environment, 'simp_autofiles/gen_passwd')
    FileUtils.mkdir_p(target)
    files.each { |name, text| File.write(File.join(target, name), text) }
  end

  def import(*arguments, **more)
    simpkv('passgen', 'import', '--vardir', vardir, *arguments, **more)
  end

  # @return [Hash] value and metadata
  def stored(id, environment = 'production')
    JSON.parse(simpkv!('-e', environment, 'get', "gen_passwd/#{id}", '-o', 'json'))
  end

  it 'stores password and salt, and the former ones as history' do
    legacy('production', 'app1' => "pl4nted-now\n", 'app1.salt' => "salt1\n",
                         'app1.last' => "pl4nted-before\n", 'app1.salt.last' => "salt0\n")
    outcome = import
    expect(outcome.code).to eq(0)
    expect(outcome.out + outcome.err).not_to include('pl4nted-')
    expect(stored('app1')).to eq('value' => { 'password' => 'pl4nted-now', 'salt' => 'salt1' },
                                 'metadata' => { 'complexity' => 0, 'complex_only' => false,
                                                 'history' => [%w[pl4nted-before salt0]] })
  end

  it 'stores the complexity of the options' do
    legacy('production', 'app1' => 'p', 'app1.salt' => 's')
    expect(import('--complexity', '2', '--complex-only').code).to eq(0)
    expect(stored('app1')['metadata']).to eq('complexity' => 2, 'complex_only' => true, 'history' => [])
    expect(import('--complexity', '3')).to have_attributes(code: 64)
  end

  it 'imports all environments, or one' do
    %w[production dev].each { |environment| legacy(environment, 'app1' => environment, 'app1.salt' => 's') }
    import('-e', 'dev')
    expect(simpkv('exists', 'gen_passwd/app1').code).to eq(1)
    import
    expect(stored('app1')['value']['password']).to eq('production')
    expect(stored('app1', 'dev')['value']['password']).to eq('dev')
  end

  it 'keeps the bytes of a password but for one newline at its end' do
    legacy('production', 'app1' => "Ω \\ \" '\t\n\n", 'app1.salt' => "s\r\n")
    import
    expect(stored('app1')['value']).to eq('password' => "Ω \\ \" '\t\n", 'salt' => "s\r")
  end

  it 'reports a missing salt, and stores an empty one' do
    legacy('production', 'app1' => 'p')
    expect(import).to have_attributes(code: 0, err: %r{production/gen_passwd/app1': it has no salt})
    expect(stored('app1')['value']).to eq('password' => 'p', 'salt' => '')
  end

  it 'imports ids that end like the names of the other files' do
    legacy('production', 'x.last' => 'p1', 'x.last.salt' => 's1', 'y.salt' => 'p2', 'y.salt.salt' => 's2')
    import
    expect(simpkv!('ls', 'gen_passwd').split).to eq(%w[x.last y.salt])
    expect(stored('x.last')['value']).to eq('password' => 'p1', 'salt' => 's1')
  end

  it 'treats ids with capital letters by --capitals' do
    legacy('production', 'App1' => 'p', 'App1.salt' => 's')
    expect(import).to have_attributes(code: 65, err: %r{gen_passwd/App1})
    expect(import('--capitals', 'lower').code).to eq(0)
    expect(stored('app1')['value']['password']).to eq('p')
  end

  it 'names unreadable files, and stores the rest' do
    legacy('production', 'app1' => "\xFF", 'app1.salt' => 's', 'app2' => 'p', 'app2.salt' => 's')
    expect(import).to have_attributes(code: 65, err: /app1': it is not UTF-8/)
    expect(stored('app2')['value']['password']).to eq('p')
  end

  it 'follows no links' do
    File.write(File.join(folder, 'elsewhere'), 'pl4nted-')
    legacy('production', 'app1' => 'p', 'app1.salt' => 's')
    File.symlink(File.join(folder, 'elsewhere'), "#{Dir[File.join(vardir, '**/gen_passwd')].first}/link")
    expect(import).to have_attributes(code: 65, err: %r{gen_passwd/link': it is no file})
    expect(simpkv!('ls', 'gen_passwd')).to eq("app1\n")
  end

  it 'keeps a password that was changed since' do
    legacy('production', 'app1' => 'p', 'app1.salt' => 's')
    import
    simpkv!('put', 'gen_passwd/app1', '--json', '{"password": "newer", "salt": "t"}')
    expect(import).to have_attributes(code: 65, err: /other documents/)
    expect(import('--existing', 'keep').code).to eq(0)
    expect(stored('app1')['value']['password']).to eq('newer')
  end

  it 'stores nothing with --dry-run' do
    legacy('production', 'app1' => 'p', 'app1.salt' => 's')
    expect(import('-n').out).to match(/^to store: +1$/)
    expect(simpkv('exists', 'gen_passwd/app1').code).to eq(66)
  end

  it 'undoes an import' do
    legacy('production', 'app1' => 'p', 'app1.salt' => 's')
    import
    import('--rollback', Dir[File.join(folder, '*.journal')].first)
    expect(simpkv('exists', 'gen_passwd/app1').code).to eq(1)
  end

  it 'names the missing folder' do
    expect(import).to have_attributes(code: 66, err: %r{vardir/simp/environments: there is no such folder: --vardir})
  end

  it 'stores passwords in a directory' do
    legacy('production', 'app1' => 'p', 'app1.salt' => 's')
    Slapd.run do |server|
      backends['default'] = { 'type' => 'ldap' }.merge(server.options)
      expect(import.code).to eq(0)
      expect(stored('app1')['value']).to eq('password' => 'p', 'salt' => 's')
    end
  end
end
