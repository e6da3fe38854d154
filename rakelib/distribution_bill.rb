# frozen_string_literal: true

require 'erb'
require 'open3'
require 'tmpdir'
require_relative 'bill_of_materials'

# The bill of materials of a package of a distribution: the gems that it brings, its files, and the packages that it
# needs.
class DistributionBill < BillOfMaterials
  PROJECT = File.expand_path('..', __dir__)

  # @param folder [String]
  # @return [Array<String>] the packages in it that get a bill: those that are installed
  def self.packages(folder)
    Dir["#{folder}/*.{deb,rpm}"].grep_v(/\.src\.rpm\z/).sort
  end

  private

  def deb?
    @package.end_with?('.deb')
  end

  def metadata
    @metadata ||= JSON.parse(File.read(File.join(PROJECT, 'metadata.json')))
  end

  def subject
    name, version = deb? ? %w[Package Version].map { |field| deb(field) } : [rpm('NAME'), rpm('VERSION', 'RELEASE')]
    component('application', name, nil, metadata['license'], version: version)
  end

  # @return [String] a field of the package
  def deb(field)
    sh('dpkg-deb', '--field', @package, field)
  end

  # @return [String] tags of the package
  def rpm(*tags)
    sh('rpm', '--query', '--queryformat', tags.map { |tag| "%{#{tag}}" }.join('-'), '--package', @package)
  end

  # The packages that it needs, and of alternatives the first.
  def needed
    @needed ||= requirements.group_by(&:first).sort.map do |name, all|
      component('library', name, nil, nil, range: range(all.map(&:last).compact))
    end
  end

  # @return [String] constraints in the syntax of vers: lower bounds first
  def range(constraints)
    constraints = ['*'] if constraints.empty?
    sorted = constraints.uniq.sort_by { |constraint| constraint.tr('>', ' ') }
    "vers:#{deb? ? 'deb' : 'rpm'}/#{sorted.join('|')}"
  end

  # @return [Array(String, String)] names and constraints; nil for any version
  def requirements
    lines = deb? ? deb('Depends').split(/, */) : sh('rpm', '--query', '--requires', '--package', @package).lines
    lines.grep_v(/\Arpmlib\(/).map do |line|
      name, operator, version = line.split('|').first.match(/\A(\S+)(?: +\(?([<>=]+) ([^)\s]+)\)?)?/).captures
      operator = { '=' => '', '<<' => '<', '>>' => '>' }.fetch(operator, operator)
      [name, operator && "#{operator}#{ERB::Util.url_encode(version)}"]
    end
  end

  # The gems in it are parts of it, as its files are.
  def files
    gems + super
  end

  def gems
    specifications.map do |spec|
      platform = spec.platform == Gem::Platform::RUBY ? '' : "?platform=#{spec.platform}"
      component('library', spec.name, "pkg:gem/#{spec.name}@#{spec.version}#{platform}", spec.licenses,
                version: spec.version.to_s)
    end
  end

  def specifications
    Dir.mktmpdir do |folder|
      contents.select { |name, _| name.match?(%r{/specifications/[^/]+\.gemspec\z}) }.sort.map do |name, text|
        file = File.join(folder, File.basename(name))
        File.write(file, text)
        Gem::Specification.load(file)
      end
    end
  end

  def contents
    @contents ||= Dir.mktmpdir do |folder|
      unpack = deb? ? 'dpkg-deb --extract "$0" "$1"' : 'rpm2archive - < "$0" | tar -xz -C "$1"'
      sh('sh', '-c', unpack, @package, folder)
      names = Dir.glob('**/*', File::FNM_DOTMATCH, base: folder).reject do |name|
        File.symlink?(File.join(folder, name)) || !File.file?(File.join(folder, name))
      end
      names.to_h { |name| [name, File.binread(File.join(folder, name))] }
    end
  end

  def sh(*command)
    output, status = Open3.capture2(*command)
    raise "#{command.first} failed for #{@package}" unless status.success?

    output.chomp
  end
end
