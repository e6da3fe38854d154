# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'tmpdir'

# EL 8 has two libldaps, and only the one called ldap_r may be used by several threads at once.
RSpec.describe 'ext/core/configure, with a libldap' do
  # Libraries of that name that say of themselves whether they are thread-safe.
  def make_library(folder, name, safe)
    source = File.join(folder, "#{name}.c")
    File.write(source, "int ldap_get_option(void *ld, int option, void *out)\n" \
                       "{ (void)ld; (void)option; (void)out; return #{safe ? 0 : -1}; }\n")
    system('cc', '-shared', '-fPIC', source, '-o', File.join(folder, "lib#{name}.so"), exception: true)
  end

  # @param libraries [Hash{String => Boolean}] which there are, and whether they are thread-safe
  # @return [Array(String, Boolean)] what configure prints, and whether it is content
  def configure(libraries)
    Dir.mktmpdir('configure') do |folder|
      libraries.each { |name, safe| make_library(folder, name, safe) }
      FileUtils.cp(File.expand_path('../../ext/core/configure', __dir__), folder)
      output, status = Open3.capture2e({ 'LDFLAGS' => "-L#{folder}", 'LD_LIBRARY_PATH' => folder },
                                       'sh', File.join(folder, 'configure'))
      [output, status.success? && File.read(File.join(folder, 'Makefile')).include?('LDAP_LIBS')]
    end
  end

  it 'that is thread-safe, takes it' do
    expect(configure('ldap' => true, 'ldap_r' => true)).to match([/^configure: libldap: -lldap -llber$/, true])
  end

  it 'that is not, takes ldap_r instead' do
    expect(configure('ldap' => false, 'ldap_r' => true)).to match([/^configure: libldap: -lldap_r -llber$/, true])
  end

  it 'that is not, and no other, refuses' do
    expect(configure('ldap' => false, 'ldap_r' => false))
      .to match([/a libldap that several threads may use at once is missing/, false])
  end
end
