# frozen_string_literal: true

require 'date'
require 'digest'
require 'json'
require 'open3'
require 'rbconfig'
require 'tmpdir'
require 'yaml'
require_relative '../lib/simpkv/native/header'
require_relative 'bill_of_materials'

# The checklist of a release. A line is ok only if its check has come to an end and found nothing wrong: what cannot be
# read or run is wrong.
class ReleaseCheck
  # The lines, in the order in which they run, and what they check. The fast form leaves out the last ones.
  LINES = {
    version: 'the version is the same everywhere', distributions: 'packages of distributions have this version',
    changelog: 'the changelog has this version, with its date',
    addresses: 'module, gems, packages and SECURITY.md name public addresses of the project',
    interface: 'the library, its header and the pages have one interface',
    openapi: 'the description of the API has its version',
    licence: 'each package has the licence', unfinished: 'nothing is marked as unfinished',
    links: 'no link of a page is broken', pages: 'generated pages are current', tree: 'all is committed',
    packages: 'two builds in two folders are the same bytes', bills: 'each package has a valid bill of materials'
  }.freeze
  SLOW = %i[links pages tree packages bills].freeze

  # The file of the Apache License 2.0 as its authors publish it.
  LICENCE = 'cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30'

  # What loads each gemspec, and prints what the checklist needs of it.
  GEMS = <<~RUBY
    require 'json'
    puts JSON.generate(Dir['{*,gems/*/*}.gemspec'].sort.to_h { |file|
      spec = Gem::Specification.load(file) or abort("\#{file} cannot be loaded")
      [file, { version: spec.version.to_s, license: spec.license, has_it: spec.files.include?('LICENSE'),
               homepage: spec.homepage }]
    })
  RUBY

  # Addresses that somebody can reach: the names of RFC 2606 stand for others.
  ADDRESS = %r{(https://(?:[\w-]+\.)+[a-z]+[^\s>)]*|[\w.+-]+@(?:[\w-]+\.)+[a-z]+)}.freeze
  RESERVED = /\bexample\.(com|net|org)\b|\.(example|invalid|localhost|test)(?![\w-]|\.\w)/.freeze

  # The sentences that say where to write. A policy may name other sites in the others.
  WHERE_TO_WRITE = /\bwrite to\b.*?(?:[.!?]\s|\n\s*\n|\z)/im.freeze
  private_constant :LICENCE, :GEMS, :ADDRESS, :RESERVED, :WHERE_TO_WRITE

  # @param root [String] the folder of the sources
  # @param fast [Boolean] whether to leave out what is true of a release only, and what takes minutes
  # @param out [IO]
  def initialize(root, fast: false, out: $stdout)
    @root = root
    @fast = fast
    @out = out
  end

  # Runs the checks, and prints a line for each.
  #
  # @return [Boolean] whether all are ok
  def run
    lines = @fast ? LINES.keys - SLOW : LINES.keys
    lines.map { |line| report(line, problems(line)) }.all?
  end

  # @param line [Symbol] of {LINES}
  # @return [Array<String>] what is wrong
  def problems(line)
    send(line)
  rescue StandardError => e
    ["#{e.class}: #{e.message}"]
  end

  private

  def report(line, problems)
    @out.puts format('%-7<result>s %-10<line>s %<text>s', result: problems.empty? ? 'ok' : 'FAILED', line: line,
                                                          text: LINES.fetch(line))
    problems.each { |problem| @out.puts "          #{problem}" }
    problems.empty?
  end

  def version
    found = gems.to_h { |file, spec| [file, [spec['version']]] }.merge(stated)
    found['metadata.json'] = [metadata.fetch('version')]
    found['docs/simpkv.1'] = read('docs/simpkv.1').scan(/^\.TH SIMPKV .*"simpkv ([^"]+)"/).flatten
    found['docs/install.md'] = read('docs/install.md').scan(/simpkv-(\d+\.\d+\.\d+)/).flatten.uniq
    found.reject { |_, versions| versions == [number] }
         .map { |file, versions| "#{file} has #{versions.join(', ')}; lib/simpkv/version.rb has #{number}" }
  end

  # @return [Hash{String => Array<String>}] the versions that the gems state when they are loaded, by file
  def stated
    files = Dir.glob('gems/*/lib/simpkv/gems/*.rb', base: @root).sort
    files.to_h { |file| [file, read(file).scan(/Gems\.add\('[\w-]+', '([^']+)'/).flatten] }
  end

  # Before the changelog names the version, packaging/version makes one that sorts below it.
  def distributions
    patterns = { 'packaging/debian/changelog' => /\Asimpkv \((\S+)-\d+\) /,
                 'packaging/simpkv.spec' => /^Version: +(\S+)$/ }
    found = patterns.to_h { |file, pattern| [file, sh('packaging/fill', file)[pattern, 1].to_s] }
    wanted = @fast ? [number, "#{number}~dev"] : [number]
    found.reject { |_, is| wanted.include?(is) }
         .map { |file, is| "#{file} becomes #{is}; lib/simpkv/version.rb has #{number}" }
  end

  # The fast form accepts a list of changes without a version: the next release gives it one.
  def changelog
    newest = newest_changes
    return [] if @fast && newest == '[Unreleased]'

    date = newest[/\A\[#{Regexp.escape(number)}\] - (\d{4}-\d\d-\d\d)\z/, 1]
    return ["CHANGELOG.md begins with '#{newest}', not with [#{number}] - and a date"] unless date
    return [] if Date.iso8601(date) <= Date.today

    ["CHANGELOG.md: #{date} is in the future"]
  end

  # The fast form accepts missing ones as long as the changelog has no version: nothing is published yet.
  def addresses
    return [] if @fast && newest_changes == '[Unreleased]'

    found = places_of_addresses.reject do |_, text|
      text.to_s.scan(ADDRESS).flatten.any? { |address| !address.match?(RESERVED) }
    end
    found.keys.map { |place| "#{place} has no public address: write the project's there" }
  end

  # @return [Hash{String => String, nil}] what each place has, which must name an address
  def places_of_addresses
    forge = %w[source project_page issues_url].to_h { |name| ["metadata.json: #{name}", metadata[name]] }
    homepages = gems.to_h { |file, spec| ["#{file}: homepage", spec['homepage']] }
    maintainer = sh('packaging/fill', 'packaging/debian/control')[/^Maintainer: .*<(.*)>$/, 1]
    { **forge, **homepages, 'packages: Maintainer, of DEBEMAIL or packaging/fill' => maintainer,
                            'SECURITY.md' => read('SECURITY.md').scan(WHERE_TO_WRITE).join }
  end

  def newest_changes
    read('CHANGELOG.md')[/^## (.+)$/, 1].to_s
  end

  def interface
    header = Simpkv::Native::Header.read(File.join(@root, 'ext/core/include/simpkv.h'))
    interface = header.constant('SKV_ABI').to_s
    library = sh('readelf', '--dynamic', 'ext/core/build/release/libsimpkv.so')[/SONAME.*\[(.*)\]/, 1]
    built = sh(RbConfig.ruby, '-I', 'lib', '-e', 'require "simpkv"; print Simpkv::Native.version')
    pages = tracked('*.md').flat_map { |file| read(file).scan(/libsimpkv(?:\.so\.)?(\d+)/) }.flatten.uniq
    { 'the name of the built library' => [library, "libsimpkv.so.#{interface}"],
      'the version of the built library' => [built, number], 'the interface that pages name' => [pages, [interface]] }
      .reject { |_, (is, should)| is == should }
      .map { |what, (is, should)| "#{what} is #{[*is].join(', ')}, not #{[*should].join(', ')}" }
  end

  # The API has a version of its own, which is the first part of its paths.
  def openapi
    description = YAML.safe_load(read('gems/simpkv-server/lib/simpkv/server/openapi.yaml'), aliases: true)
    versions = description.fetch('paths').keys.map { |path| path[%r{\A/v(\d+)(?:/|\z)}, 1] }.compact.uniq
    is = description.fetch('info').fetch('version')
    versions == [is] ? [] : ["openapi.yaml has version #{is}, and paths of #{versions.join(', ')}"]
  end

  def licence
    wrong = gems.reject { |_, spec| spec['license'] == 'Apache-2.0' && spec['has_it'] }.keys
    wrong << 'metadata.json' unless metadata['license'] == 'Apache-2.0'
    files = Dir.glob('{,gems/*/}LICENSE', base: @root).sort
    wrong.concat(files.reject { |file| Digest::SHA256.hexdigest(read(file)) == LICENCE })
    wrong.map { |file| "#{file} is not, or has not, the Apache License 2.0" }
  end

  def unfinished
    marks = sh('git', 'grep', '--line-number', '-I', '--word-regexp', '--extended-regexp', 'TO[D]O|FI[X]ME|X[X]X',
               '--', ':!*.jsonl', codes: [0, 1])
    marks.lines(chomp: true)
  end

  def links
    Dir.mktmpdir('simpkv-site') { |folder| task("docs:site[#{folder}]") }
  end

  def pages
    task('docs:check')
  end

  def tree
    sh('git', 'status', '--porcelain').lines(chomp: true)
  end

  # The second folder is a clone, which has what is committed, and nothing else.
  def packages
    build(@root)
    Dir.mktmpdir('simpkv-release') do |folder|
      sh('git', 'clone', '--quiet', @root, folder)
      build(folder)
      sums, others = [@root, folder].map { |root| File.readlines(File.join(root, 'pkg/SHA256SUMS'), chomp: true) }
      return ['the build wrote no package'] if sums.empty?

      sh('sha256sum', '--check', '--quiet', 'SHA256SUMS', chdir: File.join(@root, 'pkg'))
      ((sums - others) | (others - sums)).map { |line| "#{line.split.last} differs" }.uniq
    end
  end

  def bills
    built = File.readlines(File.join(@root, 'pkg/SHA256SUMS'), chomp: true).map { |line| line.split.last }
    packages = built.grep_v(/\.cdx\.json\z/)
    return ['there is no package in pkg'] if packages.empty?

    packages.flat_map { |name| BillOfMaterials.problems(File.join(@root, 'pkg', name)) }
  end

  def number
    @number ||= read('lib/simpkv/version.rb')[/^ *VERSION = '(.+)'$/, 1] || raise('there is no version')
  end

  def metadata
    JSON.parse(read('metadata.json'))
  end

  def gems
    @gems ||= JSON.parse(sh(RbConfig.ruby, '-e', GEMS)).tap { |gems| raise 'there is no gemspec' if gems.empty? }
  end

  def read(file)
    File.read(File.join(@root, file), encoding: 'UTF-8')
  end

  def tracked(pattern)
    sh('git', 'ls-files', '-z', pattern).split("\0")
  end

  # Runs a task of rake, and returns the last lines of its output if it fails.
  def task(name)
    sh(RbConfig.ruby, '-S', 'rake', name)
    []
  end

  def build(folder)
    sh(RbConfig.ruby, '-S', 'rake', 'package', chdir: folder)
  end

  # @return [String] the output of a command
  # @raise [RuntimeError] it has failed
  def sh(*command, codes: [0], chdir: @root)
    output, status = Open3.capture2e(*command, chdir: chdir)
    return output if codes.include?(status.exitstatus)

    raise "#{command.join(' ').lines.first.chomp} failed: #{output.lines.last(5).join.strip}"
  end
end
