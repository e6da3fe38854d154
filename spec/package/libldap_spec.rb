# frozen_string_literal: true

require_relative '../support/packages'

# EL 8 has two libldaps, and only the one called ldap_r may be used by several threads at once.
RSpec.describe 'A build' do
  # Compiles a library of that name that reports whether it is thread-safe.
  def make_library(folder, name, safe)
    source = File.join(folder, "#{name}.c")
    File.write(source, "int ldap_get_option(void *ld, int option, void *out)\n" \
                       "{ (void)ld; (void)option; (void)out; return #{safe ? 0 : -1}; }\n")
    Packages.run('cc', '-shared', '-fPIC', source, '-o', File.join(folder, "lib#{name}.so"))
  end

  # @param build [Array<String>] the command that writes a Makefile into the folder it is called in
  # @param libraries [Hash{String => Boolean}] which there are, and whether they are thread-safe
  # @return [String] what the command prints, and the Makefile, if there is one
  def configure(build, libraries)
    Dir.mktmpdir('configure') do |folder|
      libraries.each { |name, safe| make_library(folder, name, safe) }
      FileUtils.cp(File.join(Packages::ROOT, 'ext/core/configure'), folder)
      paths = { 'LDFLAGS' => '-L.', 'LD_LIBRARY_PATH' => folder }
      output, = Packages.try(*build, folder: folder, environment: paths)
      output + Dir[File.join(folder, 'Makefile')].map { |file| File.read(file) }.join
    end
  end

  # EL and Ubuntu build packages so. skv_free() wipes all that malloc gave, which is more than was asked for.
  it 'runs with link-time optimization and _FORTIFY_SOURCE (it was ended as a buffer overflow)' do
    Dir.mktmpdir('fortified') do |folder|
      File.write("#{folder}/main.c", <<~SOURCE)
        #include "base/buf.h"
        int main(void) { skv_free(skv_alloc(100)); return 0; }
      SOURCE
      sources = File.join(Packages::ROOT, 'ext/core/src')
      Packages.run('cc', '-O2', '-flto=auto', '-D_FORTIFY_SOURCE=2', "-I#{sources}", "#{folder}/main.c",
                   "#{sources}/base/buf.c", '-o', "#{folder}/main")
      expect(Packages.try("#{folder}/main").last).to be(true)
    end
  end

  extconf = File.join(Packages::ROOT, 'ext/simpkv/extconf.rb')
  { 'configure' => %w[sh configure], 'extconf.rb' => ['ruby', extconf, '--with-ldflags=-L.'] }.each do |name, build|
    it "links libldap if it is thread-safe (#{name})" do
      expect(configure(build, 'ldap' => true, 'ldap_r' => true)).to match(/^(LDAP_LIBS :?|LIBS) *= .*-lldap /)
    end

    it "links libldap_r if libldap is not thread-safe (#{name})" do
      expect(configure(build, 'ldap' => false, 'ldap_r' => true)).to match(/^(LDAP_LIBS :?|LIBS) *= .*-lldap_r /)
    end

    it "fails if there is no thread-safe libldap (#{name})" do
      said = configure(build, 'ldap' => false, 'ldap_r' => false)
      expect(said).to match(/simpkv: missing: a thread-safe libldap\./)
      expect(said).not_to include('LIBS')
    end
  end
end
