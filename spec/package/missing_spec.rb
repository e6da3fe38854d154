# frozen_string_literal: true

require_relative '../support/packages'

# Each way to build the gem names the missing prerequisite and the packages that provide it.
RSpec.describe 'A gem that is installed without a prerequisite' do
  around { |example| Dir.mktmpdir('simpkv-missing') { |folder| (@folder = folder) && example.run } }

  # Unpacks the gem for JRuby, which has the sources of the core.
  before(:all) do
    @sources = Packages.unpack(@unpacked = Dir.mktmpdir('simpkv-unpacked'))
  end
  after(:all) { FileUtils.remove_entry(@unpacked) }

  builds = {
    'extconf.rb, run by RubyGems,' => lambda do |path|
      Packages.install(['gem'], :ruby, @folder, environment: { 'PATH' => path })
    end,
    'configure' => lambda do |path|
      Packages.try("#{@sources}/ext/core/configure", environment: { 'PATH' => path })
    end
  }
  # Without a compiler, the line named only that: the headers came in the next try, since nothing can look for them.
  debian = %w[ruby-dev make gcc libjansson-dev libpcre2-dev libssl-dev libcrypt-dev libldap-dev]
  redhat = %w[ruby-devel make gcc jansson-devel pcre2-devel openssl-devel libxcrypt-devel openldap-devel]
  all_after = lambda do |first|
    from = debian.index(first)
    ["#{debian.drop(from).join(' ')} (before Debian 12, libldap2-dev)", redhat.drop(from).join(' ')]
  end
  # By what is taken away, the words for it, and the packages that bring it back.
  missing = {
    'compiler' => [->(&block) { Packages.without_compiler(&block) }, /C compiler( 'cc')?/, *all_after['gcc']],
    'make' => [->(&block) { Packages.without_commands(/\Amake\z/, &block) }, /make/, 'make', 'make'],
    'header of jansson' => [->(&block) { Packages.without_header('jansson.h', &block) }, /jansson\.h/,
                            'libjansson-dev', 'jansson-devel'],
    'header of PCRE2' => [->(&block) { Packages.without_header('pcre2.h', &block) }, /pcre2\.h/,
                          'libpcre2-dev', 'pcre2-devel'],
    'header of OpenSSL' => [->(&block) { Packages.without_header('openssl', &block) }, %r{openssl/evp\.h},
                            'libssl-dev', 'openssl-devel'],
    'header of libxcrypt' => [->(&block) { Packages.without_header('crypt.h', &block) }, /crypt\.h/,
                              'libcrypt-dev', 'libxcrypt-devel'],
    'header of libldap' => [->(&block) { Packages.without_header('ldap.h', &block) }, /ldap\.h/,
                            'libldap-dev (before Debian 12, libldap2-dev)', 'openldap-devel'],
    'header of jansson and that of libldap' => [
      ->(&block) { Packages.without_header('jansson.h', 'ldap.h', &block) }, /jansson\.h, ldap\.h/,
      'libjansson-dev libldap-dev (before Debian 12, libldap2-dev)', 'jansson-devel openldap-devel'
    ]
  }

  # The line that names what is missing, and the packages of Debian and EL, and nothing else.
  def line_for(words, debian, redhat)
    install = "Debian, Ubuntu: apt-get install #{debian}. EL, Fedora: dnf install #{redhat}"
    /\Asimpkv: missing: [^,.]*#{words}\. #{Regexp.escape(install)}(\. Where|$)/
  end

  builds.each do |name, build|
    missing.each do |what, (without, words, debian, el)|
      # extconf.rb runs configure.
      long = name != 'configure' && !what.match?(/make|jansson and/)
      it "#{name} says in one line that the #{what} is missing, and which packages to install", long: long do
        output, success = without.call { |path| instance_exec(path, &build) }
        expect(output.lines.grep(/simpkv: /)).to match([line_for(words, debian, el)])
        expect(success).to be(false)
      end
    end
  end

  it "says that Ruby's headers are missing (mkmf would only name ruby.h)" do
    File.write(File.join(@folder, 'without.rb'), "require 'rbconfig'\nRbConfig::CONFIG['rubyhdrdir'] = '/none'\n")
    output, success = Packages.install(['gem'], :ruby, @folder, environment: { 'RUBYOPT' => "-r#{@folder}/without" })
    expect(output.lines.grep(/simpkv: /)).to match([line_for(/ruby\.h/, *all_after['ruby-dev'])])
    expect(success).to be(false)
  end

  it 'refuses --use-system-library, which is for JRuby only (MRI silently built its own library)' do
    output, success = Packages.install(['gem'], :ruby, @folder, arguments: ['--use-system-library'])
    expect(output).to match(/--use-system-library is for JRuby's gem alone/)
    expect(success).to be(false)
  end

  it 'names the command to run if there is no extension for this Ruby, as after an upgrade of Ruby' do
    output, success = Packages.try('ruby', '-I', "#{@sources}/lib", '-e', 'require "simpkv"')
    expect(output).to match(/extension is not built for this Ruby .*gem pristine simpkv.*simpkv_ext/)
    expect(success).to be(false)
  end

  it 'names the option of Java to set if JRuby cannot load FFI, for example because /tmp is mounted noexec' do
    hide = %w[jffi.boot.library.path java.library.path].map { |option| "-J-D#{option}=/none" }
    output, success = Packages.try('jruby', *hide, '-I', "#{@sources}/lib", '-e', 'require "simpkv"')
    expect(output).to match(/Could not load FFI Provider.*noexec.*-Djava.io.tmpdir/m)
    expect(success).to be(false)
  end

  it "shows configure's message on JRuby", :long do
    output, success = Packages.without_compiler do |path|
      Packages.install(%w[jruby -S gem], :java, @folder, environment: { 'PATH' => path })
    end
    expect(output.lines.grep(/simpkv: /)).to match([line_for("the C compiler 'cc'", *all_after['gcc'])])
    expect(output).to include('--use-system-library')
    expect(success).to be(false)
  end
end
