# frozen_string_literal: true

require 'digest'
require 'json'
require 'pathname'
require 'rubygems/package'
require 'stringio'
require 'time'
require 'zlib'

# The bill of materials of a package, as CycloneDX 1.7 in JSON: the files that it contains, and what it needs. The same
# package and date make the same bytes.
class BillOfMaterials
  # The C libraries that libsimpkv.so and the extension for MRI are linked with. spec/package/release_spec.rb compares
  # them with the dynamic sections of both.
  LIBRARIES = {
    'jansson' => { sonames: %w[libjansson], license: 'MIT', range: '*' },
    'pcre2' => { sonames: %w[libpcre2-8], license: 'BSD-3-Clause', range: '*' },
    'openssl' => { sonames: %w[libcrypto], license: 'Apache-2.0', range: '>=1.1.1' },
    'libxcrypt' => { sonames: %w[libcrypt], license: 'LGPL-2.1-or-later', range: '*' },
    'openldap' => { sonames: %w[libldap liblber], license: 'OLDAP-2.8', range: '*' }
  }.freeze

  # The licences of the gems and modules that packages need: a build does not have all of them.
  # spec/distribution/debian_spec.rb compares those of gems with their specifications.
  LICENSES = {
    'erubi' => 'MIT', 'parslet' => 'MIT', 'puma' => 'BSD-3-Clause', 'rack' => 'MIT', 'roda' => 'MIT',
    'rspec' => 'MIT', 'ruby-progressbar' => 'MIT', 'simpkv' => 'Apache-2.0', 'simpkv-access' => 'Apache-2.0',
    'simpkv-estate' => 'Apache-2.0', 'sqlite3' => 'BSD-3-Clause', 'tilt' => 'MIT',
    'puppetlabs-sshkeys_core' => 'Apache-2.0'
  }.freeze

  # The name of the bill of a package.
  #
  # @param package [String] the path of a package
  # @return [String] the path of its bill, beside it
  def self.path(package)
    "#{package.sub(/\.(gem|tar\.gz)\z/, '')}.cdx.json"
  end

  # @param package [String] the path of a package
  # @return [Array<String>] what is wrong with the bill of the package
  def self.problems(package)
    bill = JSON.parse(File.read(path(package)))
    wrong = schema.validate(bill).map { |error| error.fetch('error') }
    stated = bill.dig('metadata', 'component', 'hashes', 0, 'content')
    wrong << 'it is the bill of another file' unless stated == Digest::SHA256.file(package).hexdigest
    wrong.map { |problem| "#{File.basename(path(package))}: #{problem}" }
  end

  # @return [JSONSchemer::Schema] CycloneDX's, of the package of npm that package.json names
  def self.schema
    require 'bundler'
    require 'json_schemer'
    folder = Pathname(Bundler.settings[:path]).join('npm/node_modules/@cyclonedx/cyclonedx-library/res/schema')
    others = ->(uri) { JSON.parse(folder.join(File.basename(uri.path)).read) }
    @schema ||= JSONSchemer.schema(folder.join('bom-1.7.SNAPSHOT.schema.json'), ref_resolver: others)
  end
  private_class_method :schema

  # @param package [String] the path of a gem or of a module; {DistributionBill} knows those of distributions
  # @param date [Time] when it was built
  def initialize(package, date)
    @package = package
    @date = date
  end

  # @return [String] the bill, as JSON
  def to_s
    "#{JSON.pretty_generate(document)}\n"
  end

  private

  def document
    { '$schema' => 'http://cyclonedx.org/schema/bom-1.7.schema.json',
      'bomFormat' => 'CycloneDX', 'specVersion' => '1.7', 'serialNumber' => serial_number, 'version' => 1,
      'metadata' => { 'timestamp' => @date.utc.iso8601, 'lifecycles' => [{ 'phase' => 'build' }],
                      'tools' => { 'components' => [component('application', 'rake package of simpkv', nil, nil)] },
                      'supplier' => { 'name' => supplier },
                      'component' => subject.merge('hashes' => hashes(File.binread(@package)), 'components' => files) },
      'components' => needed,
      'dependencies' => [{ 'ref' => subject['bom-ref'], 'dependsOn' => needed.map { |part| part['bom-ref'] } }] }
  end

  # Returns a UUID of version 8, whose digits are those of the checksum of the package.
  def serial_number
    digits = Digest::SHA256.file(@package).hexdigest
    variant = ((digits[16].hex & 0x3) | 0x8).to_s(16)
    "urn:uuid:#{digits[0, 8]}-#{digits[8, 4]}-8#{digits[13, 3]}-#{variant}#{digits[17, 3]}-#{digits[20, 12]}"
  end

  def gem?
    @package.end_with?('.gem')
  end

  def spec
    @spec ||= Gem::Package.new(@package).spec
  end

  # Returns the metadata.json of the module.
  def metadata
    @metadata ||= JSON.parse(contents.find { |name, _| name.end_with?('/metadata.json') && name.count('/') == 1 }.last)
  end

  def subject
    return component('library', metadata['name'], nil, metadata['license'], version: metadata['version']) unless gem?

    platform = spec.platform == Gem::Platform::RUBY ? '' : "?platform=#{spec.platform}"
    component('library', spec.name, "pkg:gem/#{spec.name}@#{spec.version}#{platform}", spec.licenses,
              version: spec.version.to_s)
  end

  def component(type, name, url, license, version: nil, range: nil)
    { 'type' => type, 'bom-ref' => url || name, 'name' => name, 'version' => version,
      'versionRange' => range, 'isExternal' => range ? true : nil, 'purl' => url,
      'licenses' => license && [*license].map { |id| { 'license' => { 'id' => id } } } }.compact
  end

  # @return [String] who has built the package
  def supplier
    gem? ? spec.authors.first : metadata['author']
  end

  def hashes(bytes)
    [{ 'alg' => 'SHA-256', 'content' => Digest::SHA256.hexdigest(bytes) }]
  end

  # Returns what the environment must provide: components that the package does not contain.
  def needed
    @needed ||= gem? ? gems + libraries : modules
  end

  def gems
    spec.runtime_dependencies.sort_by(&:name).map do |dependency|
      component('library', dependency.name, "pkg:gem/#{dependency.name}", LICENSES.fetch(dependency.name),
                range: "vers:gem/#{range(dependency.requirement)}")
    end
  end

  # A gem that compiles needs the libraries of the core.
  def libraries
    return [] if spec.extensions.empty?

    LIBRARIES.map do |name, library|
      component('library', name, "pkg:generic/#{name}", library[:license], range: "vers:generic/#{library[:range]}")
    end
  end

  # The module loads the gem of its major version, and names the modules that it needs.
  def modules
    version = Gem::Version.new(metadata['version'])
    gem = Gem::Requirement.new(">= #{version}", "< #{version.segments.first + 1}.0.0")
    own = component('library', 'simpkv', 'pkg:gem/simpkv', metadata['license'], range: "vers:gem/#{range(gem)}")
    [own] + metadata['dependencies'].map do |needed|
      constraints = Gem::Requirement.new(needed['version_requirement'].scan(/[<>=]+ *[\d.]+/))
      name = needed['name']
      component('library', name, "pkg:puppet/#{name.sub('-', '/')}", LICENSES.fetch(name),
                range: "vers:generic/#{range(constraints)}")
    end
  end

  # @return [String] a requirement in the syntax of vers: sorted constraints of versions
  def range(requirement)
    constraints = requirement.requirements.flat_map do |operator, version|
      operator == '~>' ? [['>=', version], ['<', version.bump]] : [[operator, version]]
    end
    constraints.sort_by(&:last).map { |operator, version| "#{operator unless operator == '='}#{version}" }.join('|')
  end

  def files
    contents.sort.map do |name, bytes|
      { 'type' => 'file', 'bom-ref' => "file:#{name}", 'name' => name, 'hashes' => hashes(bytes) }
    end
  end

  # @return [Hash{String => String}] the files of the package, by name
  def contents
    @contents ||= File.open(@package, 'rb') do |file|
      archive = gem? ? StringIO.new(data(file)) : file
      entries(Zlib::GzipReader.new(archive))
    end
  end

  # Returns the archive of the files in a gem.
  def data(file)
    Gem::Package::TarReader.new(file).each { |entry| return entry.read if entry.full_name == 'data.tar.gz' }
  end

  def entries(archive)
    files = Gem::Package::TarReader.new(archive).each.map do |entry|
      [entry.full_name, entry.read.to_s] if entry.file?
    end
    files.compact.to_h
  end
end
