# frozen_string_literal: true

require 'digest'
require 'yaml'
require_relative '../../rakelib/distribution_bill'
require_relative '../../rakelib/module_files'
require_relative '../support/distribution'

# The packages are built as they are released, but for the optimisation, the debug symbols and the tests in the build,
# which take most of its time: with LONG, the build has all of them, and a fresh Debian installs them.
RSpec.describe 'The Debian packages' do
  quick = 'parallel=2 noopt nocheck noautodbgsym'
  folder = nil
  before(:all) { folder = Distribution.build('deb', ENV['LONG'] ? 'parallel=2' : quick) }

  # @return [Array<String>] the files of a package, without the first slash
  def content(folder, package)
    listed = Packages.run('dpkg-deb', '--contents', *Dir["#{folder}/#{package}_*.deb"])
    listed.lines(chomp: true).map { |line| line[%r{ \./(.+)}, 1] }.compact.grep_v(%r{/\z})
  end

  it 'have no error of lintian' do
    said, success = Packages.try('lintian', '--allow-root', '--fail-on', 'error', *Dir["#{folder}/*.changes"])
    expect(said.lines.grep(/^E:/)).to eq([])
    expect(success).to be(true)
  end

  it 'have the code of the module that the Forge gets' do
    place = 'usr/share/puppet/modules.available/simp-simpkv'
    Dir.chdir(Packages::ROOT) do
      files = Dir[*ModuleFiles::CODE].select { |name| File.file?(name) }
      expect(files).to include('metadata.json', 'hiera.yaml', 'data/common.yaml', 'templates/simpkv.service.epp')
      expect(content(folder, 'puppet-module-simp-simpkv').grep(/\A#{place}/))
        .to match_array(files.map { |name| "#{place}/#{name}" })
    end
  end

  it 'have the names that the class simpkv installs, as the RPMs have' do
    names = YAML.safe_load(File.read(File.join(Packages::ROOT, 'data/common.yaml')))
                .values_at('simpkv::packages', 'simpkv::puppetserver_packages', 'simpkv::server::packages').flatten
    debs = Dir["#{folder}/*.deb"].map { |file| File.basename(file)[/\A[^_]+/] }
    expect(names - debs).to eq([])
    rpms = Distribution.rpmspec('--query').lines.map { |rpm| rpm[/\A(.+)-[^-]+-[^-]+$/, 1] }
    expect(names - rpms).to eq([])
  end

  it 'have a bill of materials, which names what the package of the service brings and needs' do
    package = DistributionBill.packages(folder).find { |name| name.include?('/simpkv-server_') }
    File.write(BillOfMaterials.path(package), DistributionBill.new(package, Time.at(0)))
    expect(BillOfMaterials.problems(package)).to eq([])
    bill = JSON.parse(File.read(BillOfMaterials.path(package)))
    gems, files = bill['metadata']['component']['components'].partition { |part| part['type'] == 'library' }
    listed = File.readlines(File.join(Packages::ROOT, 'packaging/gems.txt')).grep_v(/^#/)
    expect(gems.map { |gem| gem.values_at('name', 'version') })
      .to match_array(listed.map { |line| line.split.first(2) } + [['simpkv-server', Simpkv::VERSION]])
    expect(gems.map { |gem| gem['purl'] }).to all(start_with('pkg:gem/'))
    licenses = gems.to_h { |gem| [gem['name'], gem['licenses'].first['license']['id']] }
    expect(licenses).to include(BillOfMaterials::LICENSES.slice(*licenses.keys))
    expect(files.map { |file| file['name'] } - content(folder, 'simpkv-server')).to eq([])
    expect(bill['components']).to include(include('name' => 'libsqlite3-0',
                                                  'versionRange' => start_with('vers:deb/>=')))
  end

  it 'store and read a key, and load the library, wherever they are unpacked' do
    Dir.mktmpdir do |root|
      Dir["#{folder}/{libsimpkv?,ruby-simpkv,simpkv-server,simpkv}_*.deb"].each do |deb|
        Packages.run('dpkg-deb', '--extract', deb, root)
      end
      # None of the gems of this machine.
      environment = { 'GEM_HOME' => Dir["#{root}/usr/lib/*/rubygems-integration/*"].first,
                      'GEM_PATH' => "#{root}/usr/lib/simpkv/gems" }
      library = Dir["#{root}/usr/lib/*/libsimpkv.so.*"].first
      expect(Packages.run('packaging/smoke-test', library, folder: Packages::ROOT, environment: environment))
        .to include('the gem, the service and the library work')
      # Without RubyGems, which takes longer than the command.
      record = { 'RUBYOPT' => "-r#{Packages::ROOT}/spec/support/loaded_features", 'LOADED_FEATURES' => "#{root}/features" }
      said, = Packages.try("#{root}/usr/bin/simpkv", 'get', 'a', environment: environment.merge(record))
      expect([said, File.read("#{root}/features")]).to match([/no folder|not found/, %r{^#{root}/.*/simpkv_ext.so$}])
      expect(File.foreach("#{root}/features").grep(/rubygems\.rb/)).to eq([])
      expect(Packages.run("#{root}/usr/bin/simpkv", '--version', environment: environment)).to include(Simpkv::VERSION)
    end
  end

  it 'restart a running service after an upgrade, with its new unit, and stop it before a removal, never an upgrade' do
    Dir.mktmpdir do |control|
      Packages.run('dpkg-deb', '--control', *Dir["#{folder}/simpkv-server_*.deb"], control)
      scripts = Dir["#{control}/{pre,post}{inst,rm}"].to_h { |file| [File.basename(file), File.read(file)] }
      actions = scripts.transform_values { |script| script.scan(/(?:systemctl --system|systemd-invoke) ([a-z-]+)/) }
      expect(actions.transform_values(&:flatten).reject { |_, words| words.empty? })
        .to eq('postinst' => %w[daemon-reload try-restart], 'prerm' => %w[stop], 'postrm' => %w[daemon-reload])
      expect(scripts['prerm']).to match(/if \[ "\$1" = remove \] .*\n.*stop simpkv\.service/)
    end
  end

  it 'have the documentation that the unit names (it named a file that Debian compresses)' do
    unit = File.read(File.join(Packages::ROOT, 'examples/service/simpkv.service'))
    pages = unit[/^Documentation=(.+)/, 1].split.map { |page| page.match(/\Aman:(.+)\((\d)\)\z/).captures }
    expect(content(folder, 'simpkv'))
      .to include(*pages.map { |name, section| "usr/share/man/man#{section}/#{name}.#{section}.gz" })
  end

  it 'have the kit for unit tests beside the library' do
    kit = Dir.chdir(File.join(Packages::ROOT, 'gems/simpkv-rspec')) { Dir['lib/simpkv/{rspec,rspec/*}.rb'] }
    packed = content(folder, 'ruby-simpkv').map { |name| name[%r{/gems/simpkv-rspec-[^/]+/(.+)}, 1] }
    expect(kit - packed).to eq([])
    expect(kit).to include('lib/simpkv/rspec.rb')
  end

  describe 'in a fresh Debian', :long do
    it 'store and read a key, serve it, and leave the store when they are purged' do
      expect(Distribution.try(folder, 'command')).to include(
        a_string_ending_with('simpkv put hello world; simpkv get hello'),
        a_string_ending_with('the service answers: GET /v1/keys/hello'),
        a_string_ending_with('the packages are purged; the store is kept, and serves the next installation')
      )
    end

    catalogs = [/puppet apply .*demo\.pp$/, /a catalog of puppetserver with .*demo\.pp$/]

    it 'serve a catalog of puppetserver' do
      expect(Distribution.try(folder, 'puppetserver')).to include(*catalogs)
    end

    it 'are built by Debian 13, too, and serve a catalog of its puppetserver' do
      built = Distribution.rebuild(folder, 'trixie')
      expect(Distribution.try(built, 'puppetserver', suite: 'trixie')).to include(*catalogs)
    end
  end

  it 'are the same bytes in a second build, elsewhere', :long do
    second = Distribution.build('deb', 'parallel=2')
    sums = [folder, second].map do |there|
      Dir["#{there}/*.{deb,dsc,gz,xz}"].to_h { |file| [File.basename(file), Digest::SHA256.file(file).hexdigest] }
    end
    expect(sums.first.length).to be > 10
    expect(sums.last).to eq(sums.first)
  end
end
