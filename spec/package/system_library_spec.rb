# frozen_string_literal: true

require 'simpkv/native/header'
require_relative '../support/packages'

# A site that forbids compilers builds the library elsewhere, from the sources in the gem, and installs it.
RSpec.describe 'A system-wide libsimpkv.so' do
  library = "libsimpkv.so.#{Simpkv::Native.abi}"
  headers = Simpkv::Native::Header::PATHS.map { |path| File.basename(path) }

  before(:all) do
    @unpacked = Dir.mktmpdir('simpkv-system')
    @sources = Packages.unpack(@unpacked)
    @core = File.join(@sources, 'ext', 'core')
    @system = File.join(@unpacked, 'system')
    Packages.run('./configure', '--prefix=/opt/x', folder: @core)
    Packages.run('make', folder: @core)
    @said = Packages.run('sh', '-c', "umask 077 && make install DESTDIR=#{@system}", folder: @core)
    @lib = "#{@system}/opt/x/lib"
  end
  after(:all) { FileUtils.remove_entry(@unpacked) }

  around { |example| Dir.mktmpdir('simpkv-library') { |folder| (@folder = folder) && example.run } }

  # Compiles C into a shared library.
  # @return [String] its path
  def make_library(source)
    file = File.join(@folder, 'other.so')
    File.write("#{file}.c", source)
    Packages.run('cc', '-shared', '-fPIC', "#{file}.c", '-o', file)
    file
  end

  it 'is installed below DESTDIR and PREFIX, with header and pkg-config file, readable by all users' do
    found = Packages.run('find', '.', '-type', 'f', '-printf', '%m %P\n', folder: @system).lines.map(&:chomp)
    expect(found).to contain_exactly("755 opt/x/lib/#{library}", '644 opt/x/lib/pkgconfig/simpkv.pc',
                                     *headers.map { |name| "644 opt/x/include/#{name}" })
    expect(File.readlink(File.join(@lib, 'libsimpkv.so'))).to eq(library)
    expect(File.stat(@lib).mode & 0o777).to eq(0o755)
    expect(@said).to include('ldconfig', "SIMPKV_LIBRARY=/opt/x/lib/#{library}")
  end

  it 'follows PREFIX on the command line of make with all of its files (only the header did)' do
    Packages.run('make', 'install', "DESTDIR=#{@folder}", 'PREFIX=/opt/y', folder: @core)
    expect(Dir.glob('**/*', base: @folder).grep(/\./))
      .to contain_exactly("opt/y/lib/#{library}", 'opt/y/lib/libsimpkv.so', 'opt/y/lib/pkgconfig/simpkv.pc',
                          *headers.map { |name| "opt/y/include/#{name}" })
    expect(File.read("#{@folder}/opt/y/lib/pkgconfig/simpkv.pc")).to include('-L/opt/y/lib ', '-I/opt/y/include')
  end

  it 'stays in the folder of --libdir for any PREFIX' do
    FileUtils.cp_r(@core, copy = File.join(@folder, 'core'))
    Packages.run('./configure', '--libdir=/opt/x/lib64', folder: copy)
    install = Packages.run('make', '--dry-run', 'install', 'PREFIX=/opt/y', folder: copy)
    expect(install).to include('/opt/x/lib64/pkgconfig', '/opt/y/include')
  end

  it 'links with a C program that is compiled with the flags of simpkv.pc' do
    File.write("#{@folder}/main.c", <<~SOURCE)
      #include <simpkv.h>
      #include <stdio.h>
      int main(void) { return printf("%s %d", skv_version(), skv_abi() == SKV_ABI) < 0; }
    SOURCE
    flags = File.read("#{@lib}/pkgconfig/simpkv.pc").scan(/^(?:Libs|Cflags): (.*)/).join(' ')
    Packages.run('cc', '-Werror', 'main.c', '-o', 'main', *flags.gsub('/opt', "#{@system}/opt").split, folder: @folder)
    expect(Packages.run("#{@folder}/main", environment: { 'LD_LIBRARY_PATH' => @lib })).to eq("#{Simpkv::VERSION} 1")
  end

  it 'is loaded by the gem for JRuby, installed with --use-system-library and without a compiler', :long do
    installed = Packages.without_compiler do |path|
      Packages.install(%w[jruby -S gem], :java, @folder, arguments: ['--use-system-library'],
                                                         environment: { 'PATH' => path })
    end
    expect(installed).to match([/Successfully installed/, true])
    script = "gem 'simpkv'; require 'simpkv'; puts File.read('/proc/self/maps')[/\\S*libsimpkv\\S*/]"
    there = { 'GEM_HOME' => @folder, 'GEM_PATH' => @folder, 'LD_LIBRARY_PATH' => @lib }
    expect(Packages.run('jruby', '-e', script, environment: there)).to include("#{@lib}/#{library}")
  end

  ruby_with_ffi = ['ruby', '-I', Gem.loaded_specs.fetch('ffi').full_require_paths.join(':')]
  { 'MRI' => ruby_with_ffi, 'JRuby' => ['jruby'] }.each do |name, ruby|
    it "is refused on #{name} if its version differs, with both versions and the remedy; then the right one loads" do
      older = make_library('int skv_abi(void) { return 0; } const char *skv_version(void) { return "0.9"; }')
      script = <<~RUBY
        #{[older, '/none.so', "#{@lib}/#{library}"].inspect}.each do |library|
          ENV['SIMPKV_LIBRARY'] = library
          begin
            require 'simpkv'
            puts "loaded \#{Simpkv::Native.version}"
          rescue LoadError => e
            puts e.message
          end
        end
      RUBY
      said = Packages.run(*ruby, '-I', "#{@sources}/lib", '-e', script, environment: { 'SIMPKV_NATIVE' => 'ffi' })
      expect(said).to include("simpkv #{Simpkv::VERSION} needs interface #{Simpkv::Native.abi} of libsimpkv, but " \
                              "#{older} is that of simpkv 0.9, with interface 0. Install the same version of both.")
      expect(said).to match(%r{SIMPKV_LIBRARY names.*'/none.so'}).and end_with("loaded #{Simpkv::VERSION}\n")
      expect(said).not_to include('warning')
    end
  end
end
