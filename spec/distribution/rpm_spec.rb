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
