# frozen_string_literal: true

require_relative 'stages'

# The Rubies and bindings that run specs.
module Rubies
  # The stack size that JRuby's launcher sets, a compiler for short runs, which halves their time, and room for the
  # objects of many examples between two collections.
  JAVA_OPTIONS = %w[-Xss2m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmn256m].freeze

  # Variables with which Debian's JRuby only interprets Ruby: compiling it to bytecode takes longer than that saves in
  # most examples. The newest JRuby compiles, and so does Debian's in the weekly stages `jruby93_compiled` and `long`.
  INTERPRETING = { 'JAVA_OPTS' => [*JAVA_OPTIONS, '-Djruby.compile.mode=OFF'].join(' ') }.freeze

  # Variables with which Debian's JRuby compiles Ruby to bytecode, as it does by default.
  COMPILING = { 'JAVA_OPTS' => JAVA_OPTIONS.join(' ') }.freeze

  # The packages that JRuby's launcher opens.
  OPENED = %w[java.io sun.nio.ch].flat_map { |name| ['--add-opens', "java.base/#{name}=ALL-UNNAMED"] }.freeze

  RUN_RSPEC = ['-e', 'require "rspec/core"; exit RSpec::Core::Runner.run(ARGV)', '--'].freeze

  # Variables that replace the bundle's Puppet 8 by Debian's Puppet 7.
  DEBIAN_PUPPET = { 'PUPPET' => 'debian', 'BUNDLE_GEMFILE' => "#{Stages::ROOT}/spec/support/puppet7.gemfile" }.freeze

  # Variables that replace OpenVox by Puppet 8.
  PUPPET8 = { 'PUPPET' => '8', 'BUNDLE_GEMFILE' => "#{Stages::ROOT}/spec/support/puppet8.gemfile" }.freeze

  # The variable that replaces the bundle by the newest JRuby 10.0.
  JRUBY10 = { 'BUNDLE_GEMFILE' => "#{Stages::ROOT}/spec/support/jruby10.gemfile" }.freeze

  # The names of the gems that JRuby loads from the bundle: those of specs and of Puppet.
  FOR_JRUBY = '\A(?!(bundler|jruby-jars)\z)'

  private_constant :JAVA_OPTIONS, :INTERPRETING, :OPENED, :RUN_RSPEC, :FOR_JRUBY

  class << self
    # @param ruby [Symbol] `:cext` or `:ffi`: MRI with that binding; `:jruby93`: Debian's JRuby with Debian's Puppet 7;
    #   `:jruby94`: the newest JRuby that Debian's Java runs, with the bundle's Puppet 8
    # @param arguments [Array<String>] files, folders and options of RSpec
    # @return [Array] a command, for {Stages::Stage#sh}
    def rspec(ruby, *arguments)
      case ruby
      when :cext, :ffi then [{ 'SIMPKV_NATIVE' => ruby.to_s }, 'bundle', 'exec', 'rspec', *arguments]
      when :jruby93 then [INTERPRETING, 'jruby', *jruby93, *RUN_RSPEC, *arguments]
      when :jruby94 then [{}, *newest_jruby(*JAVA_OPTIONS), *RUN_RSPEC, *arguments]
      else raise ArgumentError, "#{ruby} is not one of cext, ffi, jruby93, jruby94"
      end
    end

    # @param options [Array<String>] of Java
    # @return [Array<String>] a command that runs Ruby with the newest JRuby for Debian's Java, and the bundle's Puppet
    def newest_jruby(*options)
      ['java', *options, *OPENED, '-cp', jars('BUNDLE_WITH' => 'jruby').join(':'), 'org.jruby.Main',
       *pure_gems(FOR_JRUBY).map { |path| "-I#{path}" }]
    end

    # @param suite [String] the release of Debian that has the Ruby
    # @return [Array<String>] a command, for {Stages::Stage#sh_in_copy}, that runs specs with that Ruby
    def other_ruby(suite, *arguments)
      gems = pure_gems('\A(rspec|diff-lcs|ruby-progressbar)')
      ['rakelib/other_ruby.sh', suite, gems.join(':'), 'ruby', *RUN_RSPEC, *arguments]
    end

    # JRuby 10 needs Java 21, which Debian 13 has. The bundle of {JRUBY10} must be installed.
    #
    # @return [Array<String>] a command, for {Stages::Stage#sh_in_copy}, that runs specs with JRuby 10
    def jruby10(*arguments)
      gems = pure_gems(FOR_JRUBY) + jars(JRUBY10)
      ['rakelib/other_ruby.sh', 'trixie', gems.join(':'), 'java', *JAVA_OPTIONS, *OPENED, '-cp', 'tmp/jars/*',
       'org.jruby.Main', *RUN_RSPEC, *arguments]
    end

    # @return [Array<String>] the folders of the bundle's gems without extensions whose names match
    def pure_gems(names)
      bundled(<<~RUBY)
        pure = Gem.loaded_specs.values.select { |gem| gem.extensions.empty? && !gem.default_gem? }
        puts pure.select { |gem| gem.name.match?(/#{names}/) }.flat_map(&:full_require_paths)
      RUBY
    end

    private

    def jruby93
      concurrent = Dir['/usr/lib/puppetserver/vendored-jruby-gems/gems/concurrent-ruby-*/lib']
      [*pure_gems('\A(rspec|diff-lcs)'), '/usr/lib/ruby/vendor_ruby', *concurrent].map { |path| "-I#{path}" }
    end

    # @return [Array<String>] the archives of a bundle's JRuby
    def jars(variables)
      bundled('require "jruby-jars"; puts JRubyJars.core_jar_path, JRubyJars.stdlib_jar_path', variables)
    end

    # @return [Array<String>] the lines that a script prints
    def bundled(script, variables = {})
      variables = Stages.environment.merge('BUNDLE_WITH' => nil).merge(variables)
      IO.popen(variables, ['bundle', 'exec', 'ruby', '-e', script], unsetenv_others: true) do |output|
        output.readlines(chomp: true)
      end
    end
  end
end
