# frozen_string_literal: true

require 'json'
require 'yaml'
require_relative '../support/rspec_puppet'
require 'simpkv/config/site_check'

# The facts of each system of metadata.json that the classes read.
module Systems
  METADATA = JSON.parse(File.read(File.join(PuppetWorld::PROJECT, 'metadata.json')))

  # @return [Hash{String => Hash}] facts by the name of the system
  def self.all
    METADATA.fetch('operatingsystem_support').flat_map do |system|
      name = system['operatingsystem']
      system['operatingsystemrelease'].map do |release|
        os = { 'name' => name, 'family' => name == 'Debian' ? 'Debian' : 'RedHat', 'release' => { 'major' => release } }
        ["#{name} #{release}", { os: os }]
      end
    end.to_h
  end
end

Systems.all.each do |system, facts|
  debian = facts[:os]['family'] == 'Debian'

  RSpec.describe 'simpkv', type: :class do
    let(:facts) { facts }
    let(:backends) { { 'default' => { 'type' => 'file', 'id' => 'site', 'root_path' => '/srv/simpkv' } } }

    it "compiles on #{system}, and installs the gem with what its build needs" do
      is_expected.to compile.with_all_deps
      is_expected.to contain_package('simpkv').with(ensure: 'installed', provider: 'gem')
                                              .that_requires("Package[#{debian ? 'libldap-dev' : 'openldap-devel'}]")
      is_expected.to contain_package(debian ? 'ruby-dev' : 'ruby-devel')
      is_expected.to contain_package('simpkv-access').with(provider: 'gem', source: nil)
                                                     .that_requires('Package[simpkv-estate]')
      is_expected.to contain_package('simpkv-estate').that_requires('Package[simpkv-operations]')
      is_expected.to contain_package('simpkv-operations').that_requires('Package[simpkv]')
      is_expected.not_to contain_file('/etc/simpkv/simpkv.yaml')
    end

    context 'with a registry' do
      let(:params) { { gem_source: 'https://gems.example.org', gems: { 'simpkv-estate' => :undef } } }

      it "takes all gems from there, and only those that are named, on #{system}" do
        is_expected.to contain_package('simpkv-estate').with_source('https://gems.example.org')
        is_expected.not_to contain_package('simpkv-access')
      end
    end

    context 'with a file' do
      let(:params) { { gem_source: '/srv/simpkv.gem' } }

      it "asks for the files of the other gems, on #{system}" do
        is_expected.to compile.and_raise_error(/files of simpkv-operations, simpkv-estate, simpkv-access in 'gems'/)
      end
    end

    context 'with files' do
      let(:params) { { gem_source: '/srv/simpkv.gem', gems: { 'simpkv-estate' => '/srv/estate.gem' } } }

      it { is_expected.to contain_package('simpkv-estate').with_source('/srv/estate.gem') }
    end

    context 'with the packages of Puppet, and puppetserver' do
      let(:facts) { super().merge(aio_agent_version: '8.10.0') }
      let(:params) { { puppetserver: true, options: { 'backends' => backends }, estate: { 'reports' => 9 } } }

      it "compiles on #{system}, and restarts puppetserver after changes" do
        is_expected.to compile.with_all_deps
        is_expected.to contain_package('simpkv').with(provider: 'puppet_gem')
        is_expected.to contain_package('simpkv for puppetserver').with(name: 'simpkv', provider: 'puppetserver_gem')
        is_expected.to contain_package('simpkv-access for puppetserver')
          .with(name: 'simpkv-access', provider: 'puppetserver_gem')
          .that_requires('Package[simpkv-estate for puppetserver]')
        is_expected.not_to contain_package(debian ? 'ruby-dev' : 'ruby-devel')
        is_expected.to contain_exec('simpkv: restart puppetserver').with_refreshonly(true)
        %w[Class[simpkv::install] File[/etc/simpkv/simpkv.yaml]].each do |change|
          is_expected.to contain_exec('simpkv: restart puppetserver').that_subscribes_to(change)
        end
      end
    end
  end

  RSpec.describe 'simpkv::server', type: :class do
    let(:facts) { facts }
    let(:pre_condition) { "class { 'simpkv': group => 'puppet' }" }

    it "compiles on #{system}, and runs the unit that the examples have" do
      is_expected.to compile.with_all_deps
      # The gem does not install the manual pages, as the packages do.
      unit = File.read(File.join(PuppetWorld::PROJECT, 'examples/service/simpkv.service'))
      expect(unit).to include("\nLimitCORE=0\n") # A core dump would have secrets.
      unit = unit.sub(/^Documentation=.*\n/, '')
      is_expected.to contain_file('/etc/systemd/system/simpkv.service').with_content(unit).that_requires('User[simpkv]')
      is_expected.to contain_service('simpkv').with(ensure: 'running', enable: true)
                                              .that_subscribes_to(['Class[simpkv]',
                                                                   'File[/etc/systemd/system/simpkv.service]'])
                                              .that_requires('Package[simpkv-server]')
    end

    # The gem sqlite3 did not compile without pkg-config.
    it "installs what the build of its gem needs, on #{system}" do
      is_expected.to contain_package('simpkv-server')
        .that_requires(debian ? 'Package[pkgconf]' : 'Package[pkgconf-pkg-config]')
    end
  end
end

RSpec.describe 'simpkv', type: :class do
  let(:facts) { Systems.all.fetch('Debian 12') }
  let(:options) { { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'site' } }, 'softfail' => :undef } }
  let(:secret) { RSpec::Puppet::Sensitive.new('pl4nted-password') }
  let(:written) { catalogue.resource('file', '/etc/simpkv/simpkv.yaml') }

  context 'with options and sections' do
    let(:params) { { options: options, estate: { 'reports' => 9 }, access: {}, server: { 'bind' => ['a'] } } }

    it 'writes those that are set' do
      is_expected.to contain_file('/etc/simpkv/simpkv.yaml').with(owner: 'root', group: 'root', mode: '0640',
                                                                  show_diff: false)
      expect(YAML.safe_load(written[:content]))
        .to eq('backends' => options['backends'], 'softfail' => nil, 'estate' => { 'reports' => 9 },
               'server' => { 'bind' => ['a'] })
    end
  end

  context 'with passwords' do
    let(:params) do
      { options: { 'backends' => { 'default' => { 'type' => 'memory', 'id' => 'y', 'password' => secret } } },
        password_files: RSpec::Puppet::Sensitive.new('/etc/simpkv/password' => 'pl4nted-password'), group: 'puppet' }
    end

    it 'keeps them from logs and reports' do
      is_expected.to contain_file('/etc/simpkv/password')
        .with(mode: '0640', group: 'puppet', show_diff: false, backup: false, content: secret)
      expect(written[:content]).to include('password: pl4nted-password')
      holding = catalogue.resources.select do |resource|
        resource.to_hash.any? do |_, value|
          value.to_s.include?('pl4nted')
        end
      end
      expect(holding.map { |resource| [resource.ref, resource.sensitive_parameters] })
        .to contain_exactly(['File[/etc/simpkv/simpkv.yaml]', [:content]], ['File[/etc/simpkv/password]', [:content]],
                            ['Class[Simpkv]', [:password_files]])
    end
  end

  context 'with the data of docs/install.md' do
    let(:params) do
      page = File.read(File.join(PuppetWorld::PROJECT, 'docs/install.md'), encoding: 'UTF-8')
      data = YAML.safe_load(page[/^## With Puppet\n.*?^```yaml\n(.*?)^```/m, 1])
      data.transform_keys { |name| name.delete_prefix('simpkv::').to_sym }
          .merge(password_files: RSpec::Puppet::Sensitive.new(data.fetch('simpkv::password_files')))
    end

    it { is_expected.to compile.with_all_deps }
    it { is_expected.to contain_file('/etc/simpkv/password').with_group('puppet') }
  end

  context 'with a value that YAML cannot hold' do
    let(:pre_condition) { "class { 'simpkv': options => { 'backends' => { 'a' => { 'id' => Timestamp() } } } }" }

    it { is_expected.to compile.and_raise_error(/simpkv.yaml: backends: a: id: a \S+ cannot stand in YAML/) }
  end

  # Such a file was written, and puppetserver restarted: its termini refused it.
  { { server: { 'threads' => 3 } } => /simpkv.yaml: backends: expected a Hash of backends/,
    { options: { 'backends' => { 'default' => 5 } } } => /simpkv.yaml: backends: expected a Hash of backends/,
    { options: { 'backends' => { 'default' => { 'type' => 'file' } } } } => /each a Hash with 'type' and 'id'/,
    { options: { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'site', 'root_pth' => '/a' } } } } =>
      /simpkv.yaml: Unknown option 'root_pth' of simpkv backend 'default': did you mean 'root_path'/,
    # The file did not have the option, so documents were stored in plain text.
    { options: { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'site', 'encryption_keys' => :undef } } } } =>
      /simpkv.yaml: 'encryption_keys' of simpkv backend 'default' has no value/ }
    .each do |given, message|
    context "with #{given}" do
      let(:params) { given }

      it { is_expected.to compile.and_raise_error(message) }
    end
  end

  context 'with a gem that cannot be loaded, if only the gem knows that an option is wrong' do
    let(:params) { { options: options, estate: { 'wrong' => 1 } } }

    before do
      allow(Simpkv::SiteCheck).to receive(:check).and_raise(LoadError, 'libsimpkv.so.5: no such file')
      allow(Puppet).to receive(:warning)
    end

    it 'writes the file, whose readers say so, and warns' do
      is_expected.to contain_file('/etc/simpkv/simpkv.yaml')
      expect(Puppet).to have_received(:warning).with(/options are not checked: libsimpkv.so.5/)
    end
  end

  { { '/etc/b' => '' } => /parameter 'password' expects/,
    { '/etc/../b' => 'pl4nted' } => /\A(?!.*pl4nted).*parameter 'password_files' expects/m }
    .each do |files, message|
    context "with the files of passwords #{files}" do
      let(:params) { { password_files: RSpec::Puppet::Sensitive.new(files) } }

      it { is_expected.to compile.and_raise_error(message) }
    end
  end

  context 'with packages of the distribution' do
    let(:params) { { install_from: 'distribution', ensure: '1.1.0-1', puppetserver: true } }

    it 'installs those, and no gem' do
      is_expected.to compile.with_all_deps
      is_expected.to contain_package('simpkv').with(ensure: '1.1.0-1', provider: nil)
      is_expected.to contain_package('puppetserver-simpkv').that_notifies('Exec[simpkv: restart puppetserver]')
      is_expected.not_to contain_package('gcc')
    end
  end

  context 'with a package of a build that the catalog has already' do
    let(:pre_condition) { "package { 'gcc': ensure => latest }" }

    it { is_expected.to compile.with_all_deps }
    it { is_expected.to contain_package('simpkv').that_requires('Package[gcc]') }
  end

  context 'with files for puppetserver' do
    let(:params) do
      { puppetserver: true, gem_source: '/srv/simpkv.gem', puppetserver_gem_source: '/srv/simpkv-java.gem',
        gems: { 'simpkv-estate' => '/srv/estate.gem' } }
    end

    # RubyGems looked for the gem simpkv in a registry, which such a machine cannot reach.
    it 'installs them without a registry' do
      is_expected.to contain_package('simpkv for puppetserver').with(source: '/srv/simpkv-java.gem')
      is_expected.to contain_package('simpkv-estate for puppetserver')
        .with(source: '/srv/estate.gem', install_options: ['--local'])
      is_expected.to contain_package('simpkv-estate').with(install_options: [])
    end
  end

  # RubyGems refused to remove a gem that another one needs.
  context 'with the gems absent' do
    let(:params) { { ensure: 'absent', puppetserver: true, gems: { 'simpkv-estate' => :undef, 'more' => :undef } } }

    it 'removes each gem before those that it needs' do
      is_expected.to compile.with_all_deps
      ['', ' for puppetserver'].each do |place|
        is_expected.to contain_package("more#{place}").that_comes_before("Package[simpkv-estate#{place}]")
        is_expected.to contain_package("simpkv-estate#{place}").that_comes_before("Package[simpkv#{place}]")
      end
    end
  end

  context 'if something else installs it' do
    let(:params) { { install_from: 'nothing' } }

    it { is_expected.to have_package_resource_count(0) }
  end
end

RSpec.describe 'simpkv::server', type: :class do
  let(:facts) { Systems.all.fetch('Debian 12') }

  context 'if the service would be in the group root' do
    it { is_expected.to compile.and_raise_error(/set 'simpkv::group' to a group that may read the configuration/) }
  end

  context 'with the gems absent' do
    let(:pre_condition) { "class { 'simpkv': group => 'puppet', ensure => absent }" }

    it 'removes its gem before those that it needs' do
      is_expected.to compile.with_all_deps
      is_expected.to contain_package('simpkv-server').that_comes_before('Class[simpkv::install]')
    end
  end

  context 'with packages of the distribution, which have the unit and its user' do
    let(:pre_condition) { "class { 'simpkv': install_from => 'distribution', group => 'puppet' }" }

    it 'configures and runs it' do
      is_expected.to compile.with_all_deps
      is_expected.to contain_service('simpkv').that_requires('Package[simpkv-server]')
      is_expected.not_to contain_file('/etc/systemd/system/simpkv.service')
      is_expected.not_to contain_user('simpkv')
      is_expected.not_to contain_package('pkgconf')
    end

    # They had no effect.
    context 'with parameters of its own' do
      let(:params) { { groups: %w[ldap puppet], read_write_paths: ['/srv/k v'], memory_max: '512M' } }
      let(:file) { '/etc/systemd/system/simpkv.service.d/puppet.conf' }

      it 'sets them in place of those of the unit' do
        is_expected.to contain_file(file).that_notifies('Service[simpkv]')
        expect(catalogue.resource('file', file)[:content].lines(chomp: true).drop(1))
          .to eq(['[Service]', 'SupplementaryGroups=', 'SupplementaryGroups=ldap puppet', 'MemoryMax=512M',
                  'ReadWritePaths=', 'ReadWritePaths="-/srv/k v"'])
      end

      [{ user: 'kv' }, { command: '/srv/simpkv' }].each do |given|
        context "with #{given}" do
          let(:params) { given }

          it { is_expected.to compile.and_raise_error(/leave out 'user' and 'command', or install the gem/) }
        end
      end
    end
  end

  context 'with parameters of its own' do
    let(:pre_condition) { "class { 'simpkv': install_from => 'nothing' }" }
    let(:params) do
      { user: 'kv', manage_user: true, groups: %w[ldap puppet], command: '/srv/a b/simpkv',
        read_write_paths: ['/srv/k v', '/srv/x%i'], memory_max: '2G', manage_service: false }
    end
    let(:unit) { catalogue.resource('file', '/etc/systemd/system/simpkv.service')[:content].lines(chomp: true) }

    # systemd took a path with a space for two, and %i for a specifier.
    it 'puts them into the unit, as systemd reads them' do
      expect(unit).to include('User=kv', 'Group=kv', 'SupplementaryGroups=ldap puppet', 'MemoryMax=2G',
                              'ExecStart="/srv/a b/simpkv" serve', 'ReadWritePaths="-/srv/k v" -/srv/x%%i')
      is_expected.to have_service_resource_count(0)
      is_expected.to contain_user('kv').with(home: '/nonexistent', gid: 'kv').that_requires('Group[kv]')
    end

    # The class used to set the home and the shell of such a user.
    context 'with the user of something else' do
      let(:params) { super().merge(user: 'puppet').reject { |name, _| name == :manage_user } }

      it 'leaves that user and its groups as they are' do
        is_expected.to compile.with_all_deps
        is_expected.to have_user_resource_count(0)
        is_expected.to have_group_resource_count(0)
        expect(unit.grep(/\A(User|Group)=/)).to eq(['User=puppet'])
      end
    end

    context 'with what a unit cannot hold, and the user root' do
      let(:params) do
        super().merge(user: 'root', groups: ['a b'], command: '/srv/../a',
                      read_write_paths: ['/a"b', "/a'b", '/a\\b', '/a$b', "/a\tb", '/../a', '/a/.'])
      end

      it 'refuses each' do
        is_expected.to compile.and_raise_error(
          /'user' expects.*'groups' index 0 expects.*'command' expects.*#{(0..6).map { |at| "index #{at} .*" }.join}/m
        )
      end
    end
  end
end
