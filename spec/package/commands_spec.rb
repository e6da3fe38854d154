# frozen_string_literal: true

require 'fileutils'
require 'net/http'
require 'open3'
require 'tmpdir'
require_relative '../support/packages'

RSpec.describe 'bin/setup' do
  # Writes a Rakefile whose task `compile` runs that Ruby.
  def write_rakefile(clone, compile)
    File.write(File.join(clone, 'Rakefile'), "require 'rake/extensiontask'\ntask(:compile) { #{compile} }\n")
  end

  def setup(clone)
    Packages.run('bin/setup', 'demo', folder: clone, environment: { 'SIMPKV_GEMS' => Bundler.settings[:path] })
  end

  it 'shows the number of compiled files while it builds (it printed nothing)' do
    Dir.mktmpdir do |clone|
      FileUtils.cp_r(%w[bin Gemfile].map { |name| File.join(Packages::ROOT, name) }, clone)
      write_rakefile(clone, '45.times { puts "cc -O2 -c file.c" }')
      expect(setup(clone).lines(chomp: true)).to end_with(
        [1, 20, 40].map { |count| "Building the native parts, files compiled: #{count}" }
      )
      write_rakefile(clone, "puts 'cc -c bad.c', 'bad.c:1: error'; exit 1")
      expect { setup(clone) }.to raise_error(/bad.c:1: error\n.*native parts could not be built/m)
    end
  end

  it 'removes its temporary files when a signal ends it (it left /usr/sbin/policy-rc.d behind)' do
    Dir.mktmpdir do |clone|
      FileUtils.cp_r(%w[bin Gemfile].map { |name| File.join(Packages::ROOT, name) }, clone)
      FileUtils.mkdir(temporary = File.join(clone, 'tmp'))
      write_rakefile(clone, "puts 'cc -c file.c'; $stdout.flush; sleep 0.01 until File.exist?('tmp/end')")
      environment = { 'SIMPKV_GEMS' => Bundler.settings[:path].to_s, 'TMPDIR' => temporary }
      status = Packages.start('bin/setup', 'demo', folder: clone, environment: environment) do |setup|
        setup.each_line.find { |line| line.include?('files compiled: 1') }
        expect(Dir.children(temporary).length).to eq(1)
        Process.kill('TERM', setup.pid)
        FileUtils.touch(File.join(temporary, 'end'))
        setup.read
      end
      expect(status.exitstatus).to eq(130)
      expect(Dir.children(temporary)).to eq(['end'])
    end
  end

  it 'makes `bundle exec` find the installed gems in a new clone (only bin/ found them)' do
    Dir.mktmpdir do |clone|
      FileUtils.cp_r(%w[bin Gemfile].map { |name| File.join(Packages::ROOT, name) }, clone)
      write_rakefile(clone, "puts 'built'")
      setup(clone)
      without = { 'BUNDLE_WITHOUT' => 'test:lint', 'HOME' => clone }
      said = Packages.run('bundle', 'exec', 'rake', 'compile', folder: clone, environment: without)
      expect(said).to end_with("built\n")
    end
  end
end

RSpec.describe 'A rake task that needs the gems of the group lint' do
  # Writes a bundle in which only rake is installed.
  def write_bundle(folder)
    installed = Gem.loaded_specs.fetch('rake').version
    File.write(File.join(folder, 'Gemfile'), <<~RUBY)
      source 'https://gems.example.com/'
      gem 'rake'
      group(:lint, optional: true) { gem 'rubocop', '999' }
    RUBY
    File.write(File.join(folder, 'Gemfile.lock'), <<~LOCK)
      GEM
        remote: https://gems.example.com/
        specs:
          rake (#{installed})
          rubocop (999)

      PLATFORMS
        ruby
        x86_64-linux

      DEPENDENCIES
        rake
        rubocop (= 999)
    LOCK
  end

  it 'names the command that installs them (Bundler printed a backtrace)' do
    Dir.mktmpdir do |folder|
      write_bundle(folder)
      File.write(File.join(folder, 'Rakefile'), "load '#{File.join(Packages::ROOT, 'rakelib/lint.rake')}'\n")
      variables = { 'BUNDLE_PATH' => Bundler.settings[:path].to_s }
      said, succeeded = Packages.try('bundle', 'exec', 'rake', 'rubocop', folder: folder, environment: variables)
      expect(said).to eq("The gems of the group lint are missing. Run: BUNDLE_WITH=lint bin/setup\n")
      expect(succeeded).to be(false)
    end
  end
end

RSpec.describe 'bin/demo' do
  # The command, and the environment of a demo whose files are in that folder.
  def command(*arguments)
    [File.join(Packages::ROOT, 'bin/demo'), *arguments]
  end

  def environment(folder)
    { 'TMPDIR' => folder, 'SIMPKV_GEMS' => Bundler.settings[:path], 'CFLAGS' => nil }
  end

  # @return [String] what a demo prints, with long lines in one piece
  def demo(kind, folder)
    said = Packages.run(*command(kind), environment: environment(folder))
    expect(said.lines.map { |line| line.chomp.length }.max).to be <= 120
    said.gsub(/\n {8,}/, ' ')
  end

  { 'files' => /root_path: (.*)/, 'ldap' => %r{ldap_uri: ldapi://(.*)%2Fldapi} }.each do |kind, place|
    it "stores in temporary #{kind}, and removes them (it used the default store)" do
      Dir.mktmpdir do |folder|
        said = demo(kind, folder)
        expect(said[place, 1].gsub('%2F', '/')).to start_with("#{folder}/")
        expect(said).to include('globals/simpkv_demo/shared exists for every environment',
                                '"value":"for every environment"')
        expect(said).not_to include('/var/simp')
        expect(Dir.children(folder)).to eq([])
      end
    end
  end

  it 'kills a server of a pair, fails no catalog that reads, and moves writes there and back' do
    Dir.mktmpdir do |folder|
      said = demo('ha', folder)
      killed, moved, = said.split(/^== /).drop(3)
      expect(killed).to match(/the same password.*put app1.color blue.*connection refused.*exit code 69/m)
      expect(moved).to include("write_uri: ldap2\nsimpkv put app1/color blue\n")
      expect(said).to match(/reads: +[1-9]\d+, failed: 0$.*succeeded, ldap1 lacks 0, and ldap2 lacks 0$/m)
      expect(said).to match(/ok +replication: ldap2 has the \d+ keys of ldap1$/)
      expect(said).to include('Both servers are stopped.')
      expect(Dir.children(folder)).to eq([])
    end
  end

  it 'serves a rule, a node and a key over HTTP, and stops the service' do
    Dir.mktmpdir do |folder|
      said = demo('serve', folder)
      expect(said).to match(/== A rule.*"role":"web".*== A key.*  201$.*"status":412.*"value":"first".*== Metrics/m)
      expect(said).to include('The service and slapd are stopped.')
      expect(Dir.children(folder)).to eq([])
    end
  end

  # The next example serves them, and the stage console looks at each.
  it 'shows the pages of the console, and stops the service', :long do
    Dir.mktmpdir do |folder|
      said = demo('console', folder)
      pages = File.readlines(File.join(Packages::ROOT, 'examples/console/pages.txt'), chomp: true).grep_v(/\A#/)
      expect(said.scan(/^  200 (.*)$/).flatten).to eq(pages)
      expect(said).to include('The service and both servers are stopped.')
      expect(Dir.children(folder)).to eq([])
    end
  end

  it 'serves the pages of the console in the background until SIGTERM, and removes what it has made' do
    Dir.mktmpdir do |folder|
      said = +''
      status = Packages.start(*command('console', '--serve'), environment: environment(folder)) do |output|
        said << (output.gets || raise(said)) until said =~ /^Open (\S+)/
        page = Net::HTTP.get(URI("#{Regexp.last_match(1)}nodes"), 'Accept' => 'text/html')
        expect(page).to include('1 to 50 of 200')
      ensure
        Process.kill(:TERM, output.pid)
        said << output.read
      end
      expect(status.exitstatus).to eq(0)
      expect(said).to end_with("The service and both servers are stopped.\n")
      expect(Dir.children(folder)).to eq([])
    end
  end

  # The signal ended the shell around curl, which went on for up to a minute.
  it 'ends the client that watches keys' do
    Dir.mktmpdir do |folder|
      File.write(client = File.join(folder, 'curl'), <<~'SH', perm: 0o700)
        #!/bin/sh
        case "$*" in *watch=true*) ;; *) exit 0 ;; esac
        echo $$ > "$work/pid"
        printf 'event: ready\nevent: put\n'
        exec sleep 60 2> "$work/errors"
      SH
      FileUtils.touch(File.join(folder, 'token'))
      environment = { 'PATH' => "#{File.dirname(client)}:#{ENV.fetch('PATH')}", 'root' => Packages::ROOT,
                      'work' => folder, 'libraries' => '.', 'secure' => 'https://localhost' }
      Packages.run('sh', '-ec', 'print_lines() { cat; }; . "$root/bin/demo_console"; show_watch',
                   environment: environment)
      pid = Integer(File.read(File.join(folder, 'pid')))
      expect { Process.kill(:TERM, pid) }.to raise_error(Errno::ESRCH)
    end
  end

  it 'exports and collects resources in temporary files and in a directory, and removes them', :long do
    Dir.mktmpdir do |folder|
      said = demo('estate', folder)
      in_files, in_directory = said.split("== In a directory\n")
      collected = %r{monitor/hosts.d/web1: 192\.0\.2\.11 web1\b.*^  web1 +simpkv_demo .*: removed$.*^  none$}m
      expect([in_files, in_directory]).to all(match(collected))
      expect(in_directory).to include('ldap_uri: ldapi://', 'slapd is stopped.')
      expect(Dir.children(folder)).to eq([])
    end
  end

  it 'makes, changes and purges keys as resources, and shows no secret', :long do
    Dir.mktmpdir do |folder|
      said = demo('keys', folder)
      before, told, done, again, shown = said.split(/^== .*\n/).drop(1)
      expect(before).to include('color', 'Color (old)', 'worker.lock')
      expect(told).to match(%r{app1/color.*noop}).and match(/app1:unnamed-2.*noop/)
      expect(done).to match(%r{app1/color\]/ensure: }).and match(/app1:unnamed-2\]/).and include('worker.lock')
      expect(done[/^simpkv tree.*/m]).not_to match(/color/i)
      expect(again).not_to include('Simpkv_')
      expect(shown).to include("simpkv_key { 'app1/token':", "simpkv_key { 'app1/url':")
      expect(said).not_to include('correct horse')
      expect(Dir.children(folder)).to eq([])
    end
  end

  it 'makes users, roles and rights in a directory, mends them, and deletes them', :long do
    Dir.mktmpdir do |folder|
      said = demo('access', folder)
      planned, rights, mended, deleted = said.split(/^== .*\n/).drop(1)
      expect(planned.scan('create user compiler-dev').length).to eq(2)
      expect(rights).to match(/^  url$.*'write' on 'environments.production.app1'.*code 77.*^  prod +environments/m)
      expect(mended).to match(/role prod lacks the member.*^simpkv access apply$.*set the password of.*^  url$/m)
      expect(deleted).to match(/delete user compiler-dev.*^  rules +- +present +-$.*url/m)
      expect(Dir.children(folder)).to eq([])
    end
  end

  it 'replaces a password when it has expired, restores it, and deletes it', :long do
    Dir.mktmpdir do |folder|
      said = demo('rotation', folder)
      made, replaced, restored, deleted = said.split(/^== .*\n/).drop(1)
      first = made[/The database accepts (\h{12})\b/, 1]
      expect(made).to match(/and no other$.*^  0 +2026-01-01T08:00:00Z +expires 2026-04-01T08:00:00Z$/m)
      second = replaced[/The database accepts (\h{12}) and #{first}\b/, 1]
      expect(replaced).to match(/exit code 66.*logs in with #{first}\b.*^  #{first}$.*logs in with #{second}\b/m)
      expect(restored).to match(/^  0 +2026-04-03T08:00:00Z +expires 2026-07-01T.*^  -1 +2026-04-02T08:00:00Z +-$/m)
      expect(deleted).to match(/1 key to delete$.*1 key deleted$.*exit code 66/m)
      expect(Dir.children(folder)).to eq([])
    end
  end

  it 'classifies, completes and refuses machines with inspection rules' do
    Dir.mktmpdir do |folder|
      said = demo('rules', folder)
      classified, completed, refused = said.split(/^== .*\n/).drop(1)
      expect(classified).to include('role::web', 'bern', '[redacted]')
      expect(completed).to include('role::db', 'zurich', 'billing')
      expect(refused).to include("'ACME' is no vendor of this site", 'exit code 1')
      expect(said).not_to include('correct horse')
      expect(Dir.children(folder)).to eq([])
    end
  end
end
