# frozen_string_literal: true

# Builds the MRI extension, one shared object: the binding in this folder and the core beside it.
require_relative '../../lib/simpkv/version'

if ARGV.include?('--use-system-library')
  abort "simpkv: --use-system-library is for JRuby's gem alone: the extension for MRI holds the library and is " \
        'always compiled. Install it without that option, where there is a compiler.'
end

# Stops with what to install.
def missing(what)
  abort <<~MESSAGE
    simpkv: #{what} is missing. Install what the build needs:
      Debian, Ubuntu:  apt-get install gcc make ruby-dev libjansson-dev libpcre2-dev libssl-dev libldap-dev    (before Debian 12: libldap2-dev)
      EL, Fedora:      dnf install gcc make ruby-devel jansson-devel pcre2-devel openssl-devel openldap-devel
  MESSAGE
end

# Without ruby.h, mkmf exits with a message that does not name the package.
begin
  require 'mkmf'
rescue LoadError, SystemExit
  missing("Ruby's header ruby.h")
end

missing('make') unless find_executable($make.split.first)
missing('a working C compiler') unless have_devel?
missing('jansson (its header jansson.h)') unless have_header('jansson.h')
missing('jansson (its library)') unless have_library('jansson', 'json_loadb', 'jansson.h')
missing('PCRE2 (its header pcre2.h)') unless have_header('pcre2.h', nil, '-DPCRE2_CODE_UNIT_WIDTH=8')
missing('PCRE2 (its library)') unless have_library('pcre2-8', 'pcre2_match_8')
missing('OpenSSL (its header openssl/evp.h)') unless have_header('openssl/evp.h')
missing('OpenSSL (its library libcrypto)') unless have_library('crypto', 'EVP_aes_256_gcm', 'openssl/evp.h')
missing('libldap (its header ldap.h)') unless have_header('ldap.h')
missing('liblber') unless have_library('lber', 'ber_free', 'lber.h')

# EL 8 has two libldaps, of which only ldap_r is thread-safe. Other systems have one, which is thread-safe.
threads = <<~PROBE
  #include <ldap.h>
  int main(void) {
    LDAPAPIFeatureInfo info = { LDAP_FEATURE_INFO_VERSION, "THREAD_SAFE", 0 };
    return ldap_get_option(NULL, LDAP_OPT_API_FEATURE_INFO, &info) != LDAP_OPT_SUCCESS;
  }
PROBE
libldap = %w[-lldap -lldap_r].find { |library| checking_for(library) { try_run(threads, library) } }
missing('a thread-safe libldap') unless libldap
$libs = "#{libldap} #{$libs}"

missing('rb_nogvl (Ruby 2.6 or newer)') unless have_func('rb_nogvl', 'ruby/thread.h')
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
create_makefile('simpkv/simpkv_ext') do |lines|
  lines << <<~RULES
    # The files that exist when make runs, not when extconf.rb ran.
    OBJS = $(patsubst $(srcdir)/%.c,%.o,$(wildcard $(srcdir)/*.c)) \\
      $(patsubst $(srcdir)/../core/src/%.c,skv/%.o,$(wildcard $(srcdir)/../core/src/*.c $(srcdir)/../core/src/*/*.c))

    skv/%.o: $(srcdir)/../core/src/%.c
    \t@mkdir -p $(@D)
    \t$(CC) -I$(srcdir)/../core/src $(INCFLAGS) $(CPPFLAGS) $(CFLAGS) $(COUTFLAG)$@ -c $<

    $(OBJS): Makefile $(wildcard $(srcdir)/*.h $(srcdir)/../core/src/*/*.h $(srcdir)/../core/include/*.h)
  RULES
end
