# frozen_string_literal: true

require 'English'
require 'fileutils'
require 'open3'
require 'rbconfig'
require 'shellwords'
require 'tmpdir'

# The packages that `rake package` builds, once for all examples, and an environment to install them in. The environment
# excludes the bundle of the specs, and the programs or headers that an example removes.
module Packages
  ROOT = File.expand_path('../..', __dir__)
  MODULE = "simp-simpkv-#{Simpkv::VERSION}.tar.gz"
  # The gems above it.
  OTHERS = %w[operations estate access server rspec].map { |name| "simpkv-#{name}-#{Simpkv::VERSION}.gem" }.freeze
  GEMS = { ruby: "simpkv-#{Simpkv::VERSION}.gem", java: "simpkv-#{Simpkv::VERSION}-java.gem" }.freeze

  # Settings with which JRuby starts fast, and the core and the extension compile fast: extconf.rb reads CONFIGURE_ARGS.
  # The option --dev of JRuby reads its settings from a file that Debian's package does not have.
  ENVIRONMENT = { 'PATH' => '/usr/bin:/usr/sbin', 'MAKEFLAGS' => '-j2', 'CFLAGS' => '-O0',
                  'CONFIGURE_ARGS' => "--with-cflags='-O0 -fPIC'", 'JRUBY_OPTS' => '',
                  'JAVA_OPTS' => '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' }.freeze

  # The names of compilers in /usr/bin.
  COMPILERS = /\A(.*-)?(cc|gcc|clang)(-[\d.]+)?\z/.freeze
  private_constant :COMPILERS

  # @return [String] the path of a package
  def self.file(name)
    @built ||= build
    File.join(@built, name)
  end

  # Builds all packages. Specs that run at the same time build them as well, each for itself.
  #
  # @param checkout [String] the folder of the sources
  # @param date [String] that of the commit, if the sources are without git
  # @return [String] the folder with the packages, which exists until the end of the specs
  def self.build(checkout: ROOT, date: nil)
    folder = Dir.mktmpdir('simpkv-packages')
    RSpec.configuration.after(:suite) { FileUtils.remove_entry(folder) }
    bundle = ENV.to_h.slice('PATH', 'BUNDLE_GEMFILE', 'BUNDLE_PATH', 'BUNDLE_WITHOUT', 'RUBYOPT', 'RUBYLIB')
    run('flock', File.join(checkout, 'Rakefile'), 'sh', '-c',
        "rake -C #{checkout} package && find #{checkout}/pkg -maxdepth 1 -type f -exec cp -t #{folder} {} +",
        environment: bundle.merge('SOURCE_DATE_EPOCH' => date))
    folder
  end

  # Builds all packages from a copy of the checkout that only its owner may read.
  def self.build_of_private_copy
    Dir.mktmpdir('simpkv-checkout') do |copy|
      run('sh', '-c', "tar -c --exclude=build --exclude='*.so' --anchored --exclude=pkg --exclude=spec * | " \
                      "(umask 077 && tar -x --no-same-permissions -C #{copy})", folder: ROOT)
      build(checkout: copy, date: run('git', 'log', '-1', '--format=%ct', folder: ROOT).strip)
    end
  end

  # @return [String] the output of a command, which must succeed
  def self.run(*command, **options)
    output, success = try(*command, **options)
    raise "#{command.first(5).join(' ')} ... failed:\n#{output}" unless success

    output
  end

  # @return [Array(String, Boolean)] the output of a command, and whether it succeeds
  def self.try(*command, environment: {}, folder: '/')
    output, status = Open3.capture2e(clean(environment), *command, chdir: folder)
    [output, status.success?]
  end

  # Starts a command, which has no terminal, and waits for its end after the block.
  #
  # @yieldparam output [IO] of the command, with `pid`
  # @return [Process::Status]
  def self.start(*command, environment: {}, folder: '/', &block)
    IO.popen(clean(environment), command, err: %i[child out], chdir: folder, &block)
    $CHILD_STATUS
  end

  # @return [Hash{String => String, nil}] the environment of commands
  def self.clean(environment)
    ENV.select { |name, _| name.start_with?('BUNDLE', 'RUBY', 'GEM', 'SIMPKV_') }.transform_values { nil }
       .merge(ENVIRONMENT, environment)
  end
  private_class_method :clean

  # @return [String] the folder into which the command of docs/install.md put the gem for MRI, once for all examples
  def self.installed_in_mri
    @installed_in_mri ||= Dir.mktmpdir('simpkv-mri').tap do |folder|
      RSpec.configuration.after(:suite) { FileUtils.rm_r([folder, "#{folder}.features"]) }
      @said_to_install = install_without_registry(
        File.read(File.join(ROOT, 'docs/install.md'))[/^gem install --local .*/], folder
      )
    end
  end

  # A folder of gems for Debian's Ruby that takes no compiler: the gems in it are links to the code of this checkout.
  #
  # @return [String]
  def self.linked_for_mri
    @linked_for_mri ||= Dir.mktmpdir('simpkv-linked').tap do |folder|
      RSpec.configuration.after(:suite) { FileUtils.remove_entry(folder) }
      { 'simpkv' => %w[simpkv simpkv.rb].map { |name| "#{ROOT}/lib/#{name}" },
        **%w[simpkv-estate simpkv-access].to_h { |name| [name, Dir["#{ROOT}/gems/#{name}/lib/*"]] } }
        .each { |name, code| link(folder, name, code) }
    end
  end

  def self.link(folder, name, code)
    library = FileUtils.mkdir_p("#{folder}/gems/#{name}-#{Simpkv::VERSION}/lib").first
    code.each { |file| File.symlink(file, File.join(library, File.basename(file))) }
    FileUtils.mkdir_p("#{folder}/specifications")
    File.write("#{folder}/specifications/#{name}-#{Simpkv::VERSION}.gemspec", <<~RUBY)
      Gem::Specification.new('#{name}', '#{Simpkv::VERSION}') { |gem| gem.summary = gem.author = 'simpkv' }
    RUBY
  end
  private_class_method :link

  # @return [String] what `gem install` has shown on its terminal then
  def self.said_to_install
    installed_in_mri && @said_to_install
  end

  # @return [Array<String>] the command that runs another one on a terminal, and prints what that shows
  def self.on_terminal(*command)
    ['script', '--quiet', '--return', '--command', Shellwords.join(command), '/dev/null']
  end

  # @return [Array<String>] the Ruby files that its installation has loaded, RubyGems and extconf.rb
  def self.loaded_to_install
    File.readlines("#{installed_in_mri}.features", chomp: true)
  end

  # Runs a command without access to a registry, in a folder with the files that an administrator copies: the folder
  # pkg and the gem of the progress bar.
  def self.install_without_registry(command, home)
    Dir.mktmpdir('simpkv-copied') do |copied|
      FileUtils.mkdir(File.join(copied, 'pkg'))
      FileUtils.cp([*GEMS.values, *OTHERS].map { |name| file(name) }, File.join(copied, 'pkg'))
      FileUtils.cp(progressbar, copied)
      record = { 'RUBYOPT' => "-r#{ROOT}/spec/support/loaded_features", 'LOADED_FEATURES' => "#{home}.features" }
      File.write(gemrc = File.join(copied, 'gemrc'), "gem: --no-document\n:sources: ['http://127.0.0.1:9/']\n")
      run(*on_terminal('sh', '-c', command), folder: copied, environment: record.merge(
        'GEM_HOME' => home, 'GEM_PATH' => home, 'GEMRC' => gemrc
      ))
    end
  end
  private_class_method :install_without_registry

  # Unpacks the gem for JRuby, which has the sources of the core.
  # @return [String] the folder of the sources
  def self.unpack(folder)
    run('gem', 'unpack', file(GEMS[:java]), '--target', folder)
    File.join(folder, GEMS[:java].delete_suffix('.gem'))
  end

  # Runs `gem install` of a built gem, in the folder of ruby-progressbar's: RubyGems takes dependencies from there.
  #
  # @param gem [Array<String>] the command: `gem`, or `jruby -S gem`
  # @param arguments [Array<String>] for its configure or extconf.rb
  # @param terminal [Boolean] whether it has one
  # @return [Array(String, Boolean)] as try() does
  def self.install(gem, platform, folder, arguments: [], environment: {}, terminal: false)
    command = [*gem, 'install', '--local', '--no-document', '--install-dir', folder, file(GEMS.fetch(platform)),
               '--', *arguments]
    try(*(terminal ? on_terminal(*command) : command), environment: environment, folder: File.dirname(progressbar))
  end

  # @return [String] the package of ruby-progressbar, which the gem for MRI needs
  def self.progressbar
    Gem::Specification.find_by_name('ruby-progressbar').cache_file
  end

  # Yields a PATH without the commands that match.
  def self.without_commands(pattern)
    Dir.mktmpdir('commands') do |folder|
      Dir.children('/usr/bin').each do |name|
        File.symlink("/usr/bin/#{name}", File.join(folder, name)) unless pattern.match?(name)
      end
      yield folder
    end
  end

  def self.without_compiler(&block)
    without_commands(COMPILERS, &block)
  end

  # Yields a PATH with compilers that find every header except these.
  def self.without_header(*names)
    Dir.mktmpdir('headers') do |headers|
      Dir.each_child('/usr/include') { |name| File.symlink("/usr/include/#{name}", File.join(headers, name)) }
      names.each { |name| File.unlink(File.join(headers, name)) }
      without_compiler do |folder|
        ['cc', RbConfig::CONFIG['CC']].each { |name| write_compiler(File.join(folder, name), headers) }
        yield folder
      end
    end
  end

  def self.write_compiler(file, headers)
    own, machine = `cc -print-file-name=include; cc -print-multiarch`.split
    File.write(file, "#!/bin/sh\nexec /usr/bin/cc -nostdinc -isystem #{own} -isystem #{headers} " \
                     "-isystem /usr/include/#{machine} \"$@\"\n")
    File.chmod(0o755, file)
  end
  private_class_method :write_compiler
end
