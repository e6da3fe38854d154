# frozen_string_literal: true

require 'digest'
require 'json'
require_relative '../../rakelib/bill_of_materials'
require_relative '../support/packages'

RSpec.describe 'A release that rake package builds' do
  packages = [*Packages::GEMS.values, *Packages::OTHERS, Packages::MODULE]

  # @return [Hash] the bill of a package
  def bill(package)
    JSON.parse(File.read(BillOfMaterials.path(Packages.file(package))))
  end

  # Returns what a package needs, with the versions.
  def needs(package)
    bill(package)['components'].to_h { |part| part.values_at('name', 'versionRange') }
  end

  # Returns the names of the shared libraries that a file needs, without versions, and without libc, libm and libruby.
  def linked(file)
    section = Packages.run('readelf', '--dynamic', File.join(Packages::ROOT, file))
    section.scan(/NEEDED.*\[(.*?)(?:-\d\.\d+)?\.so/).flatten.grep_v(/\A(libc|libm|libruby|ld-linux.*)\z/)
  end

  it 'has the same bytes at each build, also from a checkout made under umask 077' do
    again = Packages.build_of_private_copy
    # In pkg, `rake package:all` leaves packages of distributions, too.
    files = File.readlines(Packages.file('SHA256SUMS'), chomp: true).map { |line| line.split.last }
    expect(files).to include(*packages)
    ['SHA256SUMS', *files].each do |name|
      expect(Digest::SHA256.file(File.join(again, name))).to eq(Digest::SHA256.file(Packages.file(name))), name
    end
  end

  it 'has checksums of all packages and their bills, as sha256sum reads them' do
    folder = File.dirname(Packages.file('SHA256SUMS'))
    checked = Packages.run('sha256sum', '--check', 'SHA256SUMS', folder: folder).lines(chomp: true)
    bills = packages.map { |package| BillOfMaterials.path(package) }
    expect(checked).to match_array((packages + bills).map { |name| "#{name}: OK" })
  end

  it 'is dated by the commit' do
    commit = Packages.run('git', 'log', '-1', '--format=%ct', folder: Packages::ROOT).to_i
    expect(Time.iso8601(bill(Packages::MODULE)['metadata']['timestamp'])).to eq(Time.at(commit))
    listed = Packages.run('tar', '--list', '--verbose', '--utc', '--full-time', '--file', Packages.file(Packages::MODULE))
    expect(listed.lines.map { |line| line[/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/] }.uniq)
      .to eq([Time.at(commit).utc.strftime('%F %T')])
  end

  # rake used to date the files without a word.
  it 'is dated by SOURCE_DATE_EPOCH without a commit, and a line says so if that is not set' do
    Dir.mktmpdir do |folder|
      File.write("#{folder}/Rakefile", "load '#{Packages::ROOT}/rakelib/release.rake'\n" \
                                       "task(default: :source_date) { puts ENV.fetch('SOURCE_DATE_EPOCH') }\n")
      without, with = [nil, '1795683600'].map do |date|
        Packages.run('rake', folder: folder, environment: { 'SOURCE_DATE_EPOCH' => date }).lines(chomp: true)
      end
      expect(without).to match([/\Asource_date: .*1980-01-02.*set SOURCE_DATE_EPOCH/, '315619200'])
      expect(with).to eq(['1795683600'])
    end
  end

  packages.each do |package|
    describe "has a bill of materials of #{package}, which" do
      it 'is valid by the schema of CycloneDX 1.7, and names the bytes of the package' do
        expect(BillOfMaterials.problems(Packages.file(package))).to eq([])
      end

      it 'names each file in it, with its checksum' do
        Dir.mktmpdir do |folder|
          unpack = package.end_with?('.gem') ? 'tar -xO data.tar.gz' : 'cat'
          Packages.run('sh', '-c', "#{unpack} < #{Packages.file(package)} | tar -xz -C #{folder}")
          there = Dir.glob('**/*', File::FNM_DOTMATCH, base: folder).select { |name| File.file?(File.join(folder, name)) }
          named = bill(package)['metadata']['component']['components']
          expect(named.map { |file| [file['name'], file['hashes'][0]['content']] })
            .to match_array(there.map { |name| [name, Digest::SHA256.file(File.join(folder, name)).hexdigest] })
        end
      end
    end
  end

  it 'is refused by the check of its bill if the bill is invalid, or that of another file' do
    Dir.mktmpdir do |folder|
      package = File.join(folder, packages.first)
      FileUtils.cp([Packages.file(packages.first), BillOfMaterials.path(Packages.file(packages.first))], folder)
      File.write(package, 'changed', mode: 'a')
      expect(BillOfMaterials.problems(package)).to match([/bill of another file/])
      File.write(BillOfMaterials.path(package), JSON.generate(bill(packages.first).merge('specVersion' => 1.7)))
      expect(BillOfMaterials.problems(package)).to include(/specVersion.*is not a string/)
    end
  end

  it 'names the licence of all that a package needs' do
    parts = packages.flat_map { |package| bill(package)['components'] }
    expect(parts).to all(include('licenses', 'purl'))
    expect(BillOfMaterials::LICENSES['ruby-progressbar'])
      .to eq(Gem::Specification.find_by_name('ruby-progressbar').license)
  end

  it 'names the gems and modules that each package needs' do
    libraries = BillOfMaterials::LIBRARIES.transform_values { |library| "vers:generic/#{library[:range]}" }
    ruby, java, operations, estate, access, server, kit, puppet = packages.map { |package| needs(package) }
    expect(java).to eq(libraries)
    expect(ruby).to eq(libraries.merge('ruby-progressbar' => 'vers:gem/>=1.11|<2'))
    expect([operations, estate, access].map(&:keys)).to eq([%w[simpkv], %w[simpkv], %w[simpkv-estate]])
    expect(kit.keys).to eq(%w[rspec simpkv])
    expect(server).to include('simpkv-access' => "vers:gem/#{Simpkv::VERSION}", 'puma' => 'vers:gem/>=8.0.2|<9')
    gemspec = File.join(Packages::ROOT, 'gems/simpkv-server/simpkv-server.gemspec')
    wanted = Gem::Specification.load(gemspec).runtime_dependencies
    expect(server.keys).to match_array(wanted.map(&:name))
    modules = JSON.parse(File.read("#{Packages::ROOT}/metadata.json"))['dependencies'].map { |needed| needed['name'] }
    expect(puppet.keys).to match_array(['simpkv', *modules])
  end

  it 'names the C libraries that both builds of the core are linked with' do
    named = BillOfMaterials::LIBRARIES.values.flat_map { |library| library[:sonames] }
    %w[ext/core/build/release/libsimpkv.so lib/simpkv/simpkv_ext.so].each do |file|
      expect(linked(file)).to match_array(named)
    end
  end
end
