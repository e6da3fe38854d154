# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require 'yaml'
require_relative '../support/packages'
require_relative '../support/page_commands'
require_relative '../support/puppet_command'
require_relative '../support/unbundled'

# Runs the commands of a page as a reader does, in a folder of their own.
RSpec.describe 'The commands' do
  include PageCommands

  # Writes the programs `puppet`, `simpkv`, as the gem of this checkout would provide it, and `eyaml`, with the gems
  # that it needs.
  def write_programs(folder)
    eyaml = "GEM_PATH=#{Gem.path.join(':')} exec #{RbConfig.ruby} #{Gem.bin_path('hiera-eyaml', 'eyaml')}"
    { 'puppet' => @puppet, 'simpkv' => Unbundled.program, 'eyaml' => "#!/bin/sh\n#{eyaml} \"$@\"\n" }
      .each { |name, script| File.write(File.join(folder, name), script, perm: 0o755) }
  end

  before(:context) do
    @puppet = PuppetCommand::Debian.program(Dir["#{Packages::ROOT}/{lib,gems/*/lib}"])
  end

  # @return [String] commands that find the module simpkv in this checkout
  def with_module(script, folder)
    modules = File.join(folder, 'modules').tap { |name| Dir.mkdir(name) }
    File.symlink(Packages::ROOT, File.join(modules, 'simpkv'))
    script.gsub('puppet apply', "puppet apply --modulepath #{modules}:/usr/share/puppet/modules")
  end

  # @return [String] the output of commands that use no folder but their own. Afterwards the shell is in no deleted
  #   folder, and uses no configuration of theirs
  def run_commands(script, folder)
    write_programs(folder)
    script += "[ -d \"$PWD\" ] && [ -z \"${SIMPKV_CONFIG-}\" ]\n"
    Packages.run('sh', '-ex', '-c', script, environment: { 'PATH' => "#{folder}:/usr/bin:/usr/sbin:/bin" })
  end

  # The commands for nodes and facts run before the node is removed.
  it 'of docs/exported-resources.md export, collect and remove resources on one machine, and show its nodes', :long do
    Dir.mktmpdir do |folder|
      page = 'exported-resources.md'
      script = commands(page, 'On one machine, in files').gsub('/tmp/estate', "#{folder}/estate")
      script.sub!(/^(?=simpkv node deactivate)/) { commands(page, 'Nodes and facts') }
      said = run_commands(script, folder)
      expect(said.lines(chomp: true))
        .to include('192.0.2.11 web1', /^web1 +production /, '    "name": "web1",', 'added: classes.role::web',
                    /hosts.d.web1.*ensure: removed/)
      expect(said).not_to match(/Error: (?!Facter)/)
      expect(File.exist?("#{folder}/estate")).to be(false)
    end
  end

  it 'of docs/inspection-rules.md classify a new node, and refuse one of an unknown vendor' do
    Dir.mktmpdir do |folder|
      script = ['A rule in five minutes', 'Five examples'].map { |heading| commands('inspection-rules.md', heading) }
      said = run_commands(script.join.gsub('/tmp/rules', "#{folder}/rules"), folder)
      expect(said).to include('role::web', 'ntp1.bern.example.org', "'ACME' is no vendor of this site",
                              '52:54:00:00:04:12', '[redacted]')
      expect(said.lines.grep(/correct horse/).grep_v(/value: correct horse/)).to eq([])
      expect(File.exist?("#{folder}/rules")).to be(false)
    end
  end

  it 'of docs/keys.md store keys as resources, and purge a folder' do
    Dir.mktmpdir do |folder|
      script = commands('keys.md', 'Keys in five minutes').gsub('/tmp/keys', "#{folder}/keys")
      said = run_commands(script, folder)
      told, done, shown = said.split(/\+ puppet .*\n/).drop(1)
      expect(told).to match(%r{Simpkv_key\[app1/old\].*noop}).and match(/\bold$/)
      expect(done).to match(%r{Simpkv_key\[app1/old\]/ensure: }).and include("\nhttps://app1.example.org")
      expect(done).not_to match(/\bold$/)
      expect(shown).to include("simpkv_key { 'app1/url':", "simpkv_key { 'app1/token':")
      expect(shown).not_to include('https://app1.example.org')
      expect(said.lines.grep(/correct horse/).grep_v(/value +=> Sensitive/)).to eq([])
      expect(said).not_to match(/Error: (?!Facter)/)
      expect(File.exist?("#{folder}/keys")).to be(false)
    end
  end

  it 'of docs/keys.md install the gem with a provider that this Puppet has (puppet_gem was not functional here)' do
    Dir.mktmpdir do |folder|
      page = File.read(File.join(Packages::ROOT, 'docs/keys.md'), encoding: 'UTF-8')
      File.write("#{folder}/site.pp", page[/^package \{ 'simpkv':\n.*?^\}\n/m])
      said = run_commands("puppet apply --noop --confdir #{folder} --vardir #{folder}/var #{folder}/site.pp\n", folder)
      expect(said).to include('Notice: Applied catalog')
      expect(said).not_to match(/Error: (?!Facter)/)
    end
  end

  it 'of docs/moving.md import the secrets of eyaml, which Hiera then finds without the files' do
    Dir.mktmpdir do |folder|
      script = commands('moving.md', 'Secrets of Hiera \\(eyaml\\)').gsub('/tmp/secrets', "#{folder}/secrets")
      said = run_commands(with_module(script, folder), folder)
      expect(said).to include('data/nodes/db1.yaml: app1::db_password -> environments/production/hiera/nodes/db1/app',
                              'Sensitive [value redacted]').and match(/^stored: +2$.*^verified: +true$/m)
      expect(said.lines.grep(/correct horse|battery/).grep_v(/\A\+ eyaml encrypt/)).to eq([])
      expect(said).not_to match(/Error: (?!Facter)/)
      expect(File.exist?("#{folder}/secrets")).to be(false)
    end
  end

  # Writes programs that print what those of Vault and Consul print.
  def write_vault_and_consul(folder)
    secret = { 'request_id' => 'b5c5', 'lease_id' => '',
               'data' => { 'data' => { 'password' => 'correct horse' }, 'metadata' => { 'version' => 3 } } }
    exported = [{ 'key' => 'app1/url', 'flags' => 0, 'value' => ['https://app1'].pack('m0') }]
    File.write(File.join(folder, 'vault'), <<~SHELL, perm: 0o755)
      #!/bin/sh
      case "$2 $4" in
      'list secret/app1') echo '["db", "folder/"]' ;;
      'get secret/app1/db') echo '#{JSON.generate(secret)}' ;;
      *) exit 2 ;;
      esac
    SHELL
    File.write(File.join(folder, 'consul'), "#!/bin/sh\necho '#{JSON.generate(exported)}'\n", perm: 0o755)
  end

  it 'of docs/moving.md import what Vault and Consul have' do
    Dir.mktmpdir do |folder|
      write_vault_and_consul(folder)
      backend = { 'type' => 'file', 'id' => 'site', 'root_path' => File.join(folder, 'keys') }
      File.write(File.join(folder, 'site.yaml'), { 'backends' => { 'default' => backend } }.to_yaml)
      said = run_commands("cd #{folder}\nexport SIMPKV_CONFIG=#{folder}/site.yaml\n" \
                          "#{commands('moving.md', 'Vault and Consul')}" \
                          "simpkv get app1/db\nsimpkv get consul/app1/url\nunset SIMPKV_CONFIG\n", folder)
      expect(said).to include("app1/db -> environments/production/app1/db\n", '{"password":"correct horse"}', 'https://app1')
      expect(said.scan('correct horse').length).to eq(1)
    end
  end

  it 'of docs/moving.md write values for other programs' do
    Dir.mktmpdir do |folder|
      script = commands('moving.md', 'Values for other programs').gsub('/tmp/values', "#{folder}/values")
      said = run_commands(script, folder)
      expect(said.lines(chomp: true)).to include('https://app1.example.org', 'simpkv: 2 keys exported')
      expect(said).not_to include('correct horse')
      expect(File.exist?("#{folder}/values")).to be(false)
    end
  end

  it 'of docs/rotation.md make a password, keep it, and replace it after 91 days', :long do
    Dir.mktmpdir do |folder|
      script = commands('rotation.md', 'Rotation in five minutes').gsub('/tmp/rotation', "#{folder}/rotation")
      said = run_commands(with_module(script, folder), folder)
      passwords = said.scan(/password: (\h{48}), before: (\h{48}|none)\b/)
      first, noop, last = passwords.map(&:first).values_at(0, 2, 3)
      # A run with --noop replaced the password.
      expect(passwords).to match([[first, 'none'], [first, 'none'], [noop, anything], [last, first]])
      expect([first, noop, last].uniq.length).to eq(3)
      expect(said).to include("this node runs in noop, and 'noop_writes' is skip")
      expect(said).not_to match(/Error: (?!Facter)/)
      expect(File.exist?("#{folder}/rotation")).to be(false)
    end
  end

  it 'of docs/ssh-keys.md import keys, and leave one of them in the file', :long do
    Dir.mktmpdir do |folder|
      script = commands('ssh-keys.md', 'Keys in five minutes').gsub('/tmp/ssh', "#{folder}/ssh")
      said = run_commands(with_module(script, folder), folder)
      unnamed = [1, 2].map { |number| "#{folder}/ssh/authorized_keys:unnamed-#{number}" }
      expect(said).to include('stored: ssh/felix/felix-laptop-', "removed keys in lines 2, 3 (#{unnamed.join(', ')})")
      expect(said).not_to match(/Error: (?!Facter)/)
      expect(said.lines.grep(/^ssh-ed25519/)).to match([/ felix@laptop$/])
      expect(File.exist?("#{folder}/ssh")).to be(false)
    end
  end

  it 'of docs/monitoring.md check and test the alerts, and ask a store in files that has no problem' do
    Dir.mktmpdir do |folder|
      config = File.join(folder, 'simpkv.yaml')
      backend = { 'type' => 'file', 'id' => 'site', 'root_path' => File.join(folder, 'keys') }
      File.write(config, { 'backends' => { 'default' => backend } }.to_yaml)
      checks, asking = ['With Prometheus', 'Without Prometheus'].map { |heading| commands('monitoring.md', heading) }
      checks.gsub!('examples/', "#{Packages::ROOT}/examples/")
      script = "#{checks}export SIMPKV_CONFIG=#{config}\nsimpkv init\n#{asking}unset SIMPKV_CONFIG\n"
      said = run_commands(script, folder)
      expect(said).to match(/SUCCESS: \d+ rules found/).and match(/^  SUCCESS$/)
        .and match(/^backend: +file/).and include('ok       nodes: 0 nodes')
    end
  end
end
