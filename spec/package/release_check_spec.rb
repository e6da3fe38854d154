# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'open3'
require 'stringio'
require 'tmpdir'
require_relative '../../rakelib/release_check'

RSpec.describe 'The checklist of a release' do
  checkout = File.expand_path('../..', __dir__)

  # A task for each that the checklist runs. The package is a gem without files but the licence.
  rakefile = <<~RUBY
    $LOAD_PATH.unshift('#{checkout}/rakelib')
    require 'bill_of_materials'
    task('docs:check')
    task('docs:site', [:folder])
    task :package do
      mkdir_p 'pkg', verbose: false
      cp 'sample-1.gem', 'pkg', verbose: false
      File.write('pkg/sample-1.cdx.json', BillOfMaterials.new('pkg/sample-1.gem', Time.at(0)))
      sh 'cd pkg && sha256sum sample-1* > SHA256SUMS', verbose: false
    end
  RUBY

  def git(*arguments)
    output, status = Open3.capture2e('git', '-c', 'user.name=spec', '-c', 'user.email=spec@example.com', *arguments,
                                     chdir: @root)
    raise output unless status.success?
  end

  # A gem with the licence, as `gem build` writes it.
  def sample_gem
    spec = Gem::Specification.new do |gem|
      gem.name = 'sample'
      gem.version = '1'
      gem.summary = gem.author = 'sample'
      gem.license = 'Apache-2.0'
      gem.files = ['LICENSE']
    end
    Dir.chdir(@root) { Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { Gem::Package.build(spec, true) } }
  end

  # Makes a project that can be released: the files of this one that the checklist reads, with a dated changelog.
  def make_project(checkout, rakefile)
    server = %w[LICENSE simpkv-server.gemspec lib/simpkv/gems/server.rb lib/simpkv/server/openapi.yaml]
    files = %w[lib/simpkv/version.rb metadata.json simpkv.gemspec LICENSE packaging/fill packaging/version
               packaging/debian/changelog packaging/debian/control packaging/simpkv.spec bin/env docs/install.md
               docs/simpkv.1 ext/core/include/simpkv.h ext/core/build/release/libsimpkv.so]
    [*files, *server.map { |file| "gems/simpkv-server/#{file}" }].each do |file|
      FileUtils.mkdir_p(File.join(@root, File.dirname(file)))
      FileUtils.cp(File.join(checkout, file), File.join(@root, file))
    end
    write('lib/simpkv.rb' => "require_relative 'simpkv/version'\nSimpkv::Native = Struct.new(:version).new(Simpkv::VERSION)\n",
          'README.md' => "A page\n", 'CHANGELOG.md' => "# Changelog\n\n## [#{Simpkv::VERSION}] - 2026-01-31\n",
          'SECURITY.md' => "Write to security@simpkv.zz\n", '.gitignore' => "/pkg/\nbuild/\n", 'Rakefile' => rakefile)
    publish
    sample_gem
    git('init', '--quiet')
    git('add', '.')
    commit
  end

  # Gives the project the addresses that this one does not have yet. Nobody will ever have the domain zz.
  def publish
    page = 'https://simpkv.zz/'
    addresses = { 'source' => page, 'project_page' => page, 'issues_url' => "#{page}issues" }
    metadata = JSON.parse(File.read(File.join(@root, 'metadata.json'))).merge(addresses)
    write('metadata.json' => JSON.pretty_generate(metadata))
    %w[simpkv gems/simpkv-server/simpkv-server].each do |gem|
      change("#{gem}.gemspec", 'spec.authors', "spec.homepage = '#{page}'\n  \\0")
    end
    change('packaging/fill', 'simpkv@example.org', 'simpkv@simpkv.zz')
  end

  def write(files)
    files.each { |name, text| File.write(File.join(@root, name), text) }
  end

  def commit
    git('commit', '--quiet', '--all', '--message', 'Change')
  end

  before(:all) do
    @made = @root = Dir.mktmpdir('simpkv-release-made')
    make_project(checkout, rakefile)
  end
  after(:all) { FileUtils.remove_entry(@made) }

  around do |example|
    Dir.mktmpdir('simpkv-release') do |folder|
      FileUtils.cp_r("#{@made}/.", folder)
      @root = folder
      example.run
    end
  end

  # @return [Array(Boolean, String)] whether all lines are ok, and what is printed
  def check(**form)
    out = StringIO.new
    [ReleaseCheck.new(@root, out: out, **form).run, out.string]
  end

  # @return [Array] the first words of each line
  def lines_that_are_ok(names)
    names.map { |name| ['ok', name.to_s] }
  end

  it 'passes if all is well, and prints a line for each check' do
    passed, printed = check
    expect(printed.lines.map { |line| line.split.first(2) }).to eq(lines_that_are_ok(ReleaseCheck::LINES.keys))
    expect(passed).to be(true)
  end

  # By line, what it prints after a change: of a part of a file, or with nil, of the whole file; `nil` twice deletes it.
  number = Simpkv::VERSION
  forge = 'metadata.json'
  changelog = 'CHANGELOG.md'
  openapi = 'gems/simpkv-server/lib/simpkv/server/openapi.yaml'
  gemspec = 'gems/simpkv-server/simpkv-server.gemspec'
  stated = 'gems/simpkv-server/lib/simpkv/gems/server.rb'
  failures = {
    version: [
      [/metadata.json has 0.9.0/, forge, number, '0.9.0'],
      [/install.md has 0.9.0, /, 'docs/install.md', "simpkv-#{number}", 'simpkv-0.9.0'],
      [/simpkv.1 has 0.9.0/, 'docs/simpkv.1', "simpkv #{number}", 'simpkv 0.9.0'],
      [/simpkv-server.gemspec has 0.9.0/, gemspec, 'version = Simpkv::VERSION', "version = '0.9.0'"],
      [%r{gems/server.rb has 0.9.0}, stated, number, '0.9.0'],
      [/No such file.*metadata.json/, forge, nil, nil],
      [/uninitialized constant Simpkv::VERSION/, 'lib/simpkv/version.rb', nil, "module Simpkv\nend\n"]
    ],
    distributions: [
      [/changelog becomes 0.9.0; /, 'packaging/debian/changelog', '@VERSION@', '0.9.0'],
      [/spec becomes 0.9.0; /, 'packaging/simpkv.spec', '@VERSION@', '0.9.0'],
      [/spec becomes #{Regexp.escape(number)}~dev; /, 'CHANGELOG.md', nil, "## [Unreleased]\n"],
      [/spec becomes ; /, 'packaging/simpkv.spec', 'Version:', 'Release:'],
      [/fill.*failed/, 'metadata.json', nil, nil]
    ],
    changelog: [
      [/begins with '\[Unreleased\]'/, changelog, nil, "## [Unreleased]\n"],
      [/begins with '\[0.9.0\] - 2026-01-31'/, changelog, number, '0.9.0'],
      [/begins with ''/, changelog, nil, "# Changelog\n"],
      [/invalid date/, changelog, '2026-01-31', '2026-02-30'],
      [/9999-01-01 is in the future/, changelog, '2026-01-31', '9999-01-01']
    ],
    addresses: [
      [/metadata.json: source has no public address/, forge, 'https://simpkv.zz/', 'not published yet'],
      [/metadata.json: issues_url has no/, forge, 'issues_url', 'issues'],
      [/metadata.json: project_page has no/, forge, /("project_page": )"[^"]+"/, '\1"https://example.org/a"'],
      [/metadata.json: source has no/, forge, 'https://simpkv.zz/', 'https://simpkv.test:443.'],
      [/\Asimpkv.gemspec: homepage has no/, 'simpkv.gemspec', 'spec.homepage', '_'],
      [/simpkv-server.gemspec: homepage has no/, gemspec, 'https://simpkv.zz', 'http://simpkv'],
      [/packages: Maintainer.* has no/, 'packaging/fill', 'simpkv.zz', 'example.org'],
      [/SECURITY.md has no/, 'SECURITY.md', 'security@simpkv.zz', "us.\nWhat others do: https://elsewhere.zz/"],
      [/No such file.*SECURITY.md/, 'SECURITY.md', nil, nil]
    ],
    interface: [
      [/library is libsimpkv.so.\d+, not libsimpkv.so.999/, 'ext/core/include/simpkv.h', /(SKV_ABI) \d+/, '\1 999'],
      [/pages name is 999, /, 'docs/install.md', /libsimpkv\.so\.\d+/, 'libsimpkv.so.999'],
      [/pages name is 999, /, 'README.md', 'A page', 'libsimpkv999'],
      [/version of the built library is 0.9.0/, 'lib/simpkv.rb', 'new(Simpkv::VERSION)', "new('0.9.0')"],
      [/readelf.*failed/, 'ext/core/build/release/libsimpkv.so', nil, nil]
    ],
    openapi: [
      [/version 7, and paths of 1/, openapi, "version: '1'", "version: '7'"],
      [/paths of 1, 7/, openapi, '/v1/', '/v7/']
    ],
    licence: [
      [/^ *LICENSE is not/, 'LICENSE', 'Apache', 'Other'],
      [/metadata.json is not/, forge, 'Apache-2.0', 'MIT'],
      [/simpkv.gemspec is not/, 'simpkv.gemspec', 'Apache-2.0', 'MIT'],
      [/simpkv-server.gemspec is not, or has not/, gemspec, "'LICENSE'", "'LICENCE'"],
      [%r{gems/simpkv-server/LICENSE is not}, 'gems/simpkv-server/LICENSE', 'Apache', 'Other']
    ],
    unfinished: [
      [/^README.md:1:/, 'README.md', 'A', "#{%w[TO DO].join}: a"],
      [/git.*failed/, '.git/HEAD', nil, nil]
    ],
    links: [[/README.md: no.md/, 'Rakefile', "site', [:folder])", "site', [:folder]) { abort 'README.md: no.md' }"]],
    pages: [[/simpkv.1 is old/, 'Rakefile', "('docs:check')", "('docs:check') { abort 'simpkv.1 is old' }"]],
    tree: [
      [/\?\? new/, 'new', nil, ''],
      [/ M LICENSE/, 'LICENSE', 'Apache', 'Other']
    ],
    packages: [
      [/sample-1.cdx.json differs/, 'Rakefile', 'Time.at(0)', 'Time.at(rand(1 << 40))'],
      [/sha256sum.*failed.*sample-1.gem: FAILED/m, 'Rakefile', /^end/, "  sh 'echo >> pkg/sample-1.gem'\nend"],
      [/wrote no package/, 'Rakefile', 'sha256sum sample-1*', ':'],
      [/rake package failed/, 'Rakefile', 'task :package do', "task :package do\n  abort 'no'"]
    ],
    bills: [
      [/sample-1.cdx.json: .*specVersion/, 'Rakefile', /^  sh/, "  sh 'sed -i s/.1[.]7.,/1.7,/ pkg/*.json'\n  sh"],
      [/there is no package in pkg/, 'Rakefile', 'sample-1* >', 'sample-1*.json >'],
      [/No such file.*cdx/, 'Rakefile', /^  sh/, "  rm 'pkg/sample-1.cdx.json'\n  sh"]
    ]
  }

  def change(file, from, to)
    path = File.join(@root, file)
    return to ? File.write(path, to) : FileUtils.rm(path) unless from

    before = File.read(path)
    File.write(path, before.sub(from, to).tap { |after| raise "#{file} is as before" if after == before })
  end

  def package
    output, status = Open3.capture2e('rake', 'package', chdir: @root)
    raise output unless status.success?
  end

  it 'has an example below in which each of its lines fails' do
    expect(failures.keys).to eq(ReleaseCheck::LINES.keys)
  end

  failures.each do |line, cases|
    cases.each do |words, *changed|
      it "fails at the line #{line}, with #{words.source}" do
        change(*changed)
        package if line == :bills
        expect(ReleaseCheck.new(@root).problems(line).join("\n")).to match(words)
      end
    end
  end

  it 'prints what is wrong below the line, and runs the others' do
    change(forge, number, '0.9.0')
    passed, printed = check(fast: true)
    expect(printed.lines.first(2)).to match([/^FAILED  version /, /^ +metadata.json has 0.9.0/])
    expect(printed.lines.drop(2)).to all(start_with('ok '))
    expect(passed).to be(false)
  end

  it 'accepts, in its fast form, changes that no release has yet' do
    write('CHANGELOG.md' => "## [Unreleased]\n", 'new' => '')
    passed, printed = check(fast: true)
    expect(printed.lines.map { |line| line.split.first }.uniq).to eq(['ok'])
    expect(passed).to be(true)
  end

  it 'is ok for this checkout, in its fast form, as a command that fails if a line does' do
    command = ['bundle', 'exec', 'rake', 'release:check[fast]']
    printed, status = Open3.capture2e(*command, chdir: checkout)
    expect(printed.lines.map { |line| line.split.first(2) })
      .to eq(lines_that_are_ok(ReleaseCheck::LINES.keys - ReleaseCheck::SLOW))
    expect(status).to be_success
    _, status = Open3.capture2e('bundle', 'exec', 'rake', 'release:check[quick]', chdir: checkout)
    expect(status).not_to be_success
  end
end
