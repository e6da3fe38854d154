# frozen_string_literal: true

require_relative '../support/debian_slapd'
require_relative '../support/page_commands'
require_relative 'command_helper'
require_relative 'examples/watching'

# As docs/watch.md says, with the configuration of the package.
RSpec.describe 'simpkv watch, in a directory' do
  include_context 'with the command'
  include PageCommands
  include WatchingCommand

  let(:backends) { { 'default' => { 'type' => 'ldap' }.merge(@server.options('id' => 'site')) } }

  before(:context) { @server = DebianSlapd.new.tap(&:start) }
  after(:context) { @server&.stop }

  # Runs commands, of which ldapmodify connects to this server.
  def shell(script)
    File.write(File.join(folder, 'simpkv'), Unbundled.program, perm: 0o755)
    environment = { 'PATH' => "#{folder}:#{ENV.fetch('PATH')}", 'SIMPKV_CONFIG' => config }
    said, status = Open3.capture2e(environment, 'sh', '-euc', script.gsub('ldapi:///', @server.uri), chdir: folder)
    raise said unless status.success?
  end

  def prepare
    shell('simpkv schema --form config > config.ldif; ldapmodify -Q -Y EXTERNAL -H ldapi:/// -f config.ldif')
    simpkv!('schema', '--form', 'base').then { |ldif| @server.add(ldif) }
    simpkv!('put', 'app1/old', 'x')
  end

  it 'names what is missing, and works with the page' do
    prepare
    expect(simpkv('watch', 'app1'))
      .to have_attributes(code: 65, err: /the overlay syncprov, see docs.directories.md.*--poll SECONDS/)
    shell(commands('watch.md', 'In a directory'))
    lines = watched('app1', '--count', '2') do
      simpkv!('put', 'app1/new', 'pl4nted')
      simpkv!('rm', 'app1/old')
    end
    expect(lines.map { |line| line.split(' ', 2).last }).to eq(['put new', 'delete old'])
    cookie = JSON.parse(watched('app1', '-o', 'json', '--count', '1') { simpkv!('put', 'app1/b', 'x') }.last)['cookie']
    simpkv!('put', 'app1/c', 'x')
    # The connections of this process are older than the overlay.
    keys = simpkv!('watch', 'app1', '--since', cookie, '-o', 'json', '--count', '1', process: true).lines
    expect(keys.map { |line| JSON.parse(line) }.first).to include('change' => 'put', 'cookie' => /\Aldap:20\d+/)
  end
end
