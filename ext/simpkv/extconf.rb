# frozen_string_literal: true

# Builds the MRI extension, one shared object: the binding in this folder and the core beside it.
require_relative '../../lib/simpkv/version'

if ARGV.include?('--use-system-library')
  abort "simpkv: --use-system-library is for JRuby's gem alone: the extension for MRI holds the library and is " \
        'always compiled. Install it without that option, where there is a compiler.'
end

# By what can be missing, the packages of Debian and of EL that provide it.
PACKAGES = {
  'ruby.h' => %w[ruby-dev ruby-devel], 'make' => %w[make make], 'a working C compiler' => %w[gcc gcc],
  'jansson' => %w[libjansson-dev jansson-devel], 'PCRE2' => %w[libpcre2-dev pcre2-devel],
  'OpenSSL' => %w[libssl-dev openssl-devel], 'libxcrypt' => %w[libcrypt-dev libxcrypt-devel],
  'libldap' => %w[libldap-dev openldap-devel]
}.freeze

# Stops with one line, which names what is missing and how to install it, unless nothing is.
#
# @param missing [Hash{String => String, nil}] by the names above, what was not found: nil for what was found
# @param rest [Boolean] whether to install all others, too: without a compiler, nobody knows what else is missing
def require_all(missing, rest: false)
  missing = missing.compact
  return if missing.empty?

  needed = rest ? PACKAGES.keys.drop(PACKAGES.keys.index(missing.keys.first)) : missing.keys
  debian, el = PACKAGES.values_at(*needed).transpose.map { |packages| packages.join(' ') }
  old = needed.include?('libldap') ? ' (before Debian 12, libldap2-dev)' : ''
  warn "simpkv: missing: #{missing.values.join(', ')}. Debian, Ubuntu: apt-get install #{debian}#{old}. " \
       "EL, Fedora: dnf install #{el}"
  exit!(1) # At a normal end, mkmf would print a page of its own options below this line.
end

# Without ruby.h, mkmf exits with a message that does not name the package.
begin
  require 'mkmf'
rescue LoadError, SystemExit
  require_all({ 'ruby.h' => 'ruby.h' }, rest: true)
end

# @return [String, nil] the header or the library, if it is not there
def absent(header, library, function, options = nil)
  return header unless have_header(header, nil, *options)

  "lib#{library}" unless have_library(library, function)
end

# EL 8 has two libldaps, of which only ldap_r is thread-safe. Other systems have one, which is thread-safe.
threads = <<~PROBE
  #include <ldap.h>
  int main(void) {
    LDAPAPIFeatureInfo info = { LDAP_FEATURE_INFO_VERSION, "THREAD_SAFE", 0 };
    return ldap_get_option(NULL, LDAP_OPT_API_FEATURE_INFO, &info) != LDAP_OPT_SUCCESS;
  }
PROBE
libldap = nil
absent_libldap = lambda do
  absent('ldap.h', 'lber', 'ber_free') || begin
    libldap = %w[-lldap -lldap_r].find { |library| checking_for(library) { try_run(threads, library) } }
    'a thread-safe libldap' unless libldap
  end
end

missing = { 'make' => ('make' unless find_executable($make.split.first)) }
require_all(missing.merge('a working C compiler' => 'a working C compiler'), rest: true) unless have_devel?
missing['jansson'] = absent('jansson.h', 'jansson', 'json_loadb')
missing['PCRE2'] = absent('pcre2.h', 'pcre2-8', 'pcre2_match_8', '-DPCRE2_CODE_UNIT_WIDTH=8')
missing['OpenSSL'] = absent('openssl/evp.h', 'crypto', 'EVP_aes_256_gcm')
missing['libxcrypt'] = absent('crypt.h', 'crypt', 'crypt_gensalt_rn')
missing['libldap'] = absent_libldap.call
require_all(missing)
$libs = "#{libldap} #{$libs} -lm"

abort 'simpkv: this Ruby has no rb_nogvl: it must be Ruby 2.6 or newer' unless have_func('rb_nogvl', 'ruby/thread.h')
have_func('rb_enc_interned_str', 'ruby/encoding.h')

# Hardens against memory errors, as ext/core/core.mk does. Fortification needs optimisation and excludes sanitizers. A
# value that the compiler or the caller's flags define stays.
append_cflags(%w[-fstack-protector-strong -fcf-protection])
append_ldflags('-Wl,-z,relro,-z,now')
if macro_defined?('__OPTIMIZE__', '') && !macro_defined?('_FORTIFY_SOURCE', '') && !$CFLAGS.include?('-fsanitize')
  $CPPFLAGS << ' -D_FORTIFY_SOURCE=2'
end

warnings = %w[-Wall -Wextra -Wshadow -Wno-unused-parameter]
warnings << '-Werror' if ENV['SIMPKV_WERROR']
$CFLAGS << " -std=gnu11 -fvisibility=hidden -pthread #{warnings.join(' ')}"
$CPPFLAGS << %( -D_GNU_SOURCE -DSKV_API= -DSKV_VERSION='"#{Simpkv::VERSION}"')
$INCFLAGS << ' -I$(srcdir)/../core/include'
$cleanfiles << 'skv'
# RubyGems shows nothing of what make prints.
gem = File.basename(File.expand_path('../..', __dir__)) == "simpkv-#{Simpkv::VERSION}"
create_makefile('simpkv/simpkv_ext') do |lines|
  lines << <<~RULES
    # The rules below come before mkmf's: make without a target built their first object only.
    .DEFAULT_GOAL := all

    # The files that exist when make runs, not when extconf.rb ran.
    OBJS = $(patsubst $(srcdir)/%.c,%.o,$(wildcard $(srcdir)/*.c)) \\
      $(patsubst $(srcdir)/../core/src/%.c,skv/%.o,$(wildcard $(srcdir)/../core/src/*.c $(srcdir)/../core/src/*/*.c))

    skv/%.o: $(srcdir)/../core/src/%.c
    \t@mkdir -p $(@D)
    \t$(CC) -I$(srcdir)/../core/src $(INCFLAGS) $(CPPFLAGS) $(CFLAGS) $(COUTFLAG)$@ -c $<
    \t#{'@$(srcdir)/../core/progress . $(words $(OBJS))' if gem}

    $(OBJS): Makefile $(wildcard $(srcdir)/*.h $(srcdir)/../core/src/*/*.h $(srcdir)/../core/include/*.h)
  RULES
end
