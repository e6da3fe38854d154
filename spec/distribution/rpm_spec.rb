# frozen_string_literal: true

require_relative '../../rakelib/distribution_bill'
require_relative '../../rakelib/module_files'
require_relative '../support/distribution'

# Debian's rpmbuild builds them, against Debian's libraries. Nothing here installs them.
RSpec.describe 'The RPMs', :long do
  folder = nil
  before(:all) { folder = Distribution.build('rpm') }

  # @return [Array<String>] the files of a package
  def content(folder, package)
    files = Dir["#{folder}/#{package}-[0-9]*.rpm"].grep_v(/\.src\.rpm\z/)
    Packages.run('rpm', '--query', '--list', '--package', *files).lines(chomp: true)
  end

  it 'are built, with their %check, and have the command, the library and the code of the module' do
    expect(content(folder, 'simpkv')).to include('/usr/bin/simpkv')
    expect(content(folder, 'libsimpkv')).to include(a_string_matching(%r{/libsimpkv\.so\.\d+\z}))
    expect(content(folder, 'rubygem-simpkv')).to include(a_string_ending_with('/lib/simpkv/rspec.rb'))
    Dir.chdir(Packages::ROOT) do
      files = Dir[*ModuleFiles::CODE].select { |name| File.file?(name) }
      packed = content(folder, 'puppet-module-simp-simpkv')
      expect(packed).to include(*files.map { |name| a_string_ending_with("/simpkv/#{name}") })
    end
  end

  it 'have bills of materials' do
    DistributionBill.packages(folder).each do |package|
      File.write(BillOfMaterials.path(package), DistributionBill.new(package, Time.at(0)))
      expect(BillOfMaterials.problems(package)).to eq([])
    end
    bill = JSON.parse(File.read(Dir["#{folder}/simpkv-server-[0-9]*.cdx.json"].first))
    expect(bill['metadata']['component']['components']).to include(include('purl' => %r{\Apkg:gem/puma@}))
  end

  it 'can be built again from their source package, without this checkout' do
    Dir.mktmpdir do |top|
      said = Packages.run('rpmbuild', '--nodeps', '--define', "_topdir #{top}", '-rp',
                          *Dir["#{folder}/*.src.rpm"])
      expect(said).to include('%prep')
    end
  end
end

RSpec.describe 'The scripts of the RPM of the service' do
  # @param remaining [Integer] the number of versions that stay: 0 for a removal, 1 for an upgrade
  # @return [Array<String>] what a script has systemctl do
  def run(script, remaining)
    systemctl = 'systemctl() { echo "systemctl $*" >&3; }; exec 3>&1;'
    Packages.run('sh', '-c', "#{systemctl} #{script}", 'sh', remaining.to_s).lines(chomp: true)
  end

  it 'stop and disable it before a removal, and restart it after an upgrade' do
    scripts = Distribution.rpmspec('--parse')
    preun, postun = %w[preun postun].map { |name| scripts[/^%#{name} server\n(.*?)^%/m, 1] }
    expect(run(preun, 0)).to eq(['systemctl --no-reload disable --now simpkv.service'])
    expect(run(preun, 1)).to eq([])
    expect(run(postun, 1)).to eq(['systemctl try-restart simpkv.service'])
    expect(run(postun, 0)).to eq([])
  end
end
