# frozen_string_literal: true

require 'json'
require 'yaml'
require_relative '../support/packages'

RSpec.describe 'The module that rake package builds' do
  metadata = JSON.parse(File.read(File.join(Packages::ROOT, 'metadata.json')))

  # Each entry's mode, owner and name.
  def entries
    Packages.run('tar', '--list', '--verbose', '--numeric-owner', '--file', Packages.file(Packages::MODULE))
            .lines.map { |line| line.split.values_at(0, 1, -1) }
  end

  it 'has the version of the gem' do
    expect(metadata['version']).to eq(Simpkv::VERSION)
  end

  it "has the members of metadata.json that the Forge requires, in the Forge's spelling" do
    expect(metadata).to include('name' => 'simp-simpkv', 'license' => 'Apache-2.0', 'dependencies' => Array)
    expect(metadata.values_at('author', 'summary', 'source')).to all(be_a(String).and(match(/\S/)))
    expect(metadata['summary'].length).to be <= 144
  end

  # Nothing is published yet, so that an address would be invented. Whoever publishes it adds these, and changes this.
  it 'has no address until there is one' do
    expect(metadata['source']).to eq('not published yet')
    expect(metadata.keys & %w[project_page issues_url]).to be_empty
  end

  it 'names its dependencies in .fixtures.yml, in versions that metadata.json allows' do
    fixtures = YAML.safe_load(File.read(File.join(Packages::ROOT, '.fixtures.yml'))).dig('fixtures', 'forge_modules')
    wanted = metadata['dependencies'].to_h { |each| [each['name'].tr('-', '/'), each['version_requirement']] }
    expect(fixtures.values.to_h { |each| [each['repo'], each['ref']] }.keys).to match_array(wanted.keys)
    fixtures.each_value do |each|
      requirement = Gem::Requirement.new(wanted.fetch(each['repo']).split(/ (?=[<>=])/))
      expect(requirement).to be_satisfied_by(Gem::Version.new(each['ref']))
    end
  end

  it 'is one folder of world-readable files, without links, specs and files of the gem' do
    modes, owners, names = entries.transpose
    expect(modes.uniq).to contain_exactly('drwxr-xr-x', '-rw-r--r--', '-rwxr-xr-x')
    expect(entries.select { |mode, *| mode == '-rwxr-xr-x' }.map(&:last)).to match([%r{/tasks/run\.sh\z}])
    expect(owners.uniq).to eq(['0/0'])
    top = names.map { |name| name.delete_prefix("simp-simpkv-#{Simpkv::VERSION}/")[%r{\A[^/]*/?}] }.uniq
    expect(top).to contain_exactly('', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'REFERENCE.md',
                                   'data/', 'docs/', 'examples/', 'files/', 'gems/', 'hiera.yaml', 'lib/', 'manifests/',
                                   'metadata.json', 'plans/', 'schema/', 'tasks/', 'templates/', 'types/')
    expect(names.grep(%r{/lib/[^/]+/\z}).map { |name| File.basename(name) }).to eq(%w[puppet puppet_x])
  end

  # A build by puppet-modulebuilder brought the specs, the sources of the gem and its library, which pluginsync would
  # bring to every agent. The syntax of .pdkignore is that of .gitignore.
  it 'has the files that .pdkignore leaves for a build by other tools' do
    tracked, ignored = [[], %w[--cached --ignored --exclude-from .pdkignore]].map do |options|
      Packages.run('git', 'ls-files', *options, folder: Packages::ROOT).lines(chomp: true)
    end
    names = entries.map { |entry| entry.last.delete_prefix("simp-simpkv-#{Simpkv::VERSION}/") }
    expect(names.grep_v(%r{(\A|/)\z})).to match_array(tracked - ignored)
    made = File.readlines(File.join(Packages::ROOT, '.gitignore'), chomp: true).grep(%r{\A(/[^*/]+/|[^/!]+/?)\z})
    expect(made - File.readlines(File.join(Packages::ROOT, '.pdkignore'), chomp: true)).to eq(['/.bundle/'])
  end

  it 'has every page that README.md and docs/README.md link to' do
    names = entries.map { |entry| entry.last.delete_prefix("simp-simpkv-#{Simpkv::VERSION}/").chomp('/') }
    %w[README.md docs/README.md].each do |page|
      links = File.read(File.join(Packages::ROOT, page)).scan(/\]\(([^)#]+)/).flatten.grep_v(/:/)
      expect(links).not_to be_empty
      expect(links.map { |link| Pathname(page).dirname.join(link).cleanpath.to_s } - names).to be_empty
    end
  end

  it 'installs with `puppet module install`, and compiles and applies catalogs with the installed gem' do
    Dir.mktmpdir('simpkv-module') do |folder|
      settings = ['--confdir', "#{folder}/conf", '--vardir', "#{folder}/var", '--color=false']
      Packages.run('puppet', 'module', 'install', Packages.file(Packages::MODULE), '--ignore-dependencies',
                   '--target-dir', "#{folder}/modules", *settings)
      backend = "{ 'type' => 'file', 'id' => 'x', 'root_path' => '#{folder}/kv' }"
      manifest = "simpkv::put('k', [9.898, 'λ'], {}, { 'backends' => { 'default' => #{backend} } }) " \
                 "simpkv_folder { 'app1': purge => true, backend => #{backend} } " \
                 "simpkv_key { 'app1/k': value => 'λ', backend => #{backend} }"
      Packages.run('puppet', 'apply', '--modulepath', "#{folder}/modules", *settings, '-e', manifest,
                   environment: { 'GEM_HOME' => Packages.installed_in_mri })
      expect(File.read("#{folder}/kv/environments/production/k")).to eq('{"value":[9.898,"λ"],"metadata":{}}')
      expect(File.read("#{folder}/kv/environments/production/app1/k")).to eq('{"value":"λ","metadata":{}}')
      expect(Dir.children("#{folder}/modules")).to eq(['simpkv'])
    end
  end
end
