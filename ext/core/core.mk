# The core: libsimpkv.so, its tests, and the builds that find defects. Needs GNU make, a C11 compiler, jansson, PCRE2,
# libldap, libxcrypt's libcrypt and OpenSSL's libcrypto.
#
#   ./configure             writes the Makefile that includes this
#   make                    libsimpkv.so
#   make install            below DESTDIR and PREFIX (LIBDIR, INCLUDEDIR)
#   make test               the C tests; ONLY="test_pool test_dn" names some of them
#   make test-quick         those that start no server
#   make asan tsan chaos    the same tests with AddressSanitizer and UBSan, with TSan, with each allocation failing in turn
#   make valgrind analyze tidy format
#   make fuzz SECONDS=60    libFuzzer (clang)

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
CC ?= cc
CFLAGS ?= -O2 -g
BUILD ?= build/release
SECONDS ?= 60
# Changes of the checks that .clang-tidy names.
TIDY ?=
FUZZ_CC ?= clang
LDAP_LIBS ?= -lldap -llber

this := $(abspath $(lastword $(MAKEFILE_LIST)))
root := $(dir $(this))
abi := $(shell sed -n 's/^.define SKV_ABI //p' $(root)include/simpkv.h)
VERSION ?= $(shell sed -n "s/.*VERSION = '\(.*\)'.*/\1/p" $(root)../../lib/simpkv/version.rb)

# Hardening against memory errors. Fortification needs optimisation and does not work with sanitizers; a value that the
# compiler or the caller's flags define stays. -fcf-protection exists on x86 only.
macros := $(shell $(CC) $(CPPFLAGS) $(CFLAGS) -dM -E -x c /dev/null 2> /dev/null | \
  sed -n 's/^.define \(_FORTIFY_SOURCE\|__OPTIMIZE__\) .*/\1/p')
fortify := $(if $(findstring -fsanitize,$(CFLAGS)),,$(if $(filter __OPTIMIZE__,$(macros)),-D_FORTIFY_SOURCE=2))
hardening := -fstack-protector-strong $(if $(filter _FORTIFY_SOURCE,$(macros)),,$(fortify)) \
  $(shell $(CC) -fcf-protection -fsyntax-only -x c /dev/null 2> /dev/null && echo -fcf-protection)
ldflags := -Wl,-z,relro,-z,now $(LDFLAGS)

warnings := -Wall -Wextra -Wconversion -Wshadow
cppflags := -D_GNU_SOURCE -DSKV_VERSION='"$(VERSION)"' -I$(root)include -I$(root)src $(CPPFLAGS)
cflags := -std=c11 -fPIC -fvisibility=hidden -pthread $(hardening) $(warnings) $(WERROR) $(CFLAGS)
libs := -ljansson -lpcre2-8 $(LDAP_LIBS) -lcrypto -lcrypt -lm -pthread

sources := $(sort $(wildcard $(root)src/*.c $(root)src/*/*.c))
objects := $(patsubst $(root)src/%.c,$(BUILD)/%.o,$(sources))
tests := $(patsubst $(root)test/%.c,$(BUILD)/test/%,$(sort $(wildcard $(root)test/test_*.c $(root)test/*/test_*.c)))
fuzzers := $(patsubst $(root)fuzz/%.c,$(BUILD)/%,$(sort $(wildcard $(root)fuzz/fuzz_*.c)))
harness := $(patsubst %,$(BUILD)/test/%.o,check chaos calls changes batches file_fixture pool_fixture slapd directory proxy)
library := $(BUILD)/libsimpkv.so

all: $(library)

$(BUILD)/%.o: $(root)src/%.c $(this)
	@mkdir -p $(@D)
	$(CC) $(cppflags) $(cflags) -MMD -MP -c $< -o $@
	$(if $(in_gem),@$(root)progress $(BUILD) $(words $(objects)))

$(BUILD)/test/%.o: $(root)test/%.c $(this)
	@mkdir -p $(@D)
	$(CC) $(cppflags) -I$(root)test -DTEST_CASES='"$(root)test/cases"' -DTEST_SCHEMA='"$(root)../../schema"' $(cflags) -MMD -MP -c $< -o $@

$(library): $(objects)
	$(CC) -shared -Wl,-soname,libsimpkv.so.$(abi) -Wl,--no-undefined -Wl,-z,nodelete $(cflags) $(ldflags) $^ $(libs) -o $@.new
	mv $@.new $@

wipe_tests := test_wipe test_json_wipe test_keyring_wipe test_secret_wipe test_kinds_wipe
$(filter $(addprefix %/,$(wipe_tests)),$(tests)): $(BUILD)/test/freed.o
$(filter $(BUILD)/test/crypt/%,$(tests)): $(BUILD)/test/crypt_fixture.o
$(filter $(BUILD)/test/audit/%,$(tests)): $(BUILD)/test/audit_fixture.o
# The functions of the core that a test replaces.
$(BUILD)/test/ldap/test_ldap_watch_hostile: replaced := skv_now_plus_ns
$(BUILD)/test/secret/test_secret_wipe: replaced := getrandom
$(tests): %: %.o $(harness) $(objects)
	$(CC) $(cflags) $(ldflags) $(replaced:%=-Wl,--wrap=%) $^ $(libs) -lm -ldl -o $@

# Copies under a temporary name and renames, so that a process that has mapped the old library keeps it intact.
install: $(library)
	printf 'Name: simpkv\nDescription: %s\nVersion: %s\nLibs: -L%s -lsimpkv\nCflags: -I%s\n' 'Key/value store for Puppet' \
	  '$(VERSION)' '$(LIBDIR)' '$(INCLUDEDIR)' > $(BUILD)/simpkv.pc
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)
	install -m 755 $(library) $(DESTDIR)$(LIBDIR)/libsimpkv.so.$(abi).new
	mv $(DESTDIR)$(LIBDIR)/libsimpkv.so.$(abi).new $(DESTDIR)$(LIBDIR)/libsimpkv.so.$(abi)
	ln -sfn libsimpkv.so.$(abi) $(DESTDIR)$(LIBDIR)/libsimpkv.so
	install -m 644 $(BUILD)/simpkv.pc $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 $(root)include/*.h $(DESTDIR)$(INCLUDEDIR)
	@echo 'Now run ldconfig, as root. If the system does not search $(LIBDIR), set this variable for programs that load it:'
	@echo 'SIMPKV_LIBRARY=$(LIBDIR)/libsimpkv.so.$(abi)'

# Tests are named without their folder: ONLY="test_pool test_dn".
wanted := $(filter-out $(addprefix %/,$(WITHOUT)),$(if $(ONLY),$(filter $(addprefix %/,$(ONLY)),$(tests)),$(tests)))
unknown := $(strip $(foreach name,$(ONLY),$(if $(filter %/$(name),$(tests) $(fuzzers)),,$(name))))
$(if $(unknown),$(error there is no test $(unknown)))
run-tests: $(wanted:%=%.run)

$(tests:%=%.run): %.run: %
	@$(RUN) $<

test:
	$(MAKE) run-tests BUILD=build/test CFLAGS="-O1 -g"

# Those that take less than a second and start no server.
test-quick:
	$(MAKE) test ONLY="test_base test_document test_double test_reader test_tree test_dn test_key test_uri \
	  test_transport test_gate test_resolve test_file_access test_store test_answer test_crypt test_keys test_page \
	  test_audit test_form"

# Sanitizers replace free(), and so do the tests of wiped memory. If another thread allocates during a fork, as in
# test_fork, the locks of a sanitizer stay taken in the child (a hang in some 40 runs).
alone := test_fork $(wipe_tests)
test-alone:
	$(MAKE) test ONLY="$(alone)"

# The reports of sanitizers name lines, but no variables. -g1 is enough for that, and compiles faster than -g.
asan:
	$(MAKE) run-tests BUILD=build/asan WITHOUT="$(alone)" \
	  CFLAGS="-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"

# TSan finds nothing in a process with one thread. These tests start no other, and have neither a proxy nor a server.
# test_store_many has a server, and no other thread: other tests of batches have threads.
single = test_store_many $(basename $(notdir $(shell grep -L 'thread\|proxy\|slapd\|directory\|pool_fixture' \
  $(wildcard $(root)test/test_*.c $(root)test/*/test_*.c))))
tsan:
	$(MAKE) run-tests BUILD=build/tsan WITHOUT="$(single) $(alone)" \
	  CFLAGS="-O1 -g1 -fsanitize=thread" RUN="env TSAN_OPTIONS=suppressions=$(root)test/tsan.supp"

# All that asan runs, and scenarios repeatedly: in the first run the first allocation fails, in the second run the second
# one, and so on, until none fails.
chaos:
	$(MAKE) run-tests BUILD=build/chaos WITHOUT="$(alone)" CPPFLAGS=-DSKV_CHAOS \
	  CFLAGS="-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"

fuzz:
	$(MAKE) run-fuzz BUILD=build/fuzz CC="$(FUZZ_CC)" \
	  CFLAGS="-O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all"

# New inputs of a run stay in the build folder. The corpus in fuzz/ is kept small, by hand.
run-fuzz: $(patsubst %,%.run,$(if $(ONLY),$(addprefix $(BUILD)/,$(ONLY)),$(fuzzers)))

$(fuzzers:%=%.run): $(BUILD)/fuzz_%.run: $(BUILD)/fuzz_%
	@mkdir -p $(BUILD)/corpus/$*
	@$< -max_total_time=$(SECONDS) -artifact_prefix=$<- -verbosity=0 -print_final_stats=1 \
	  $(BUILD)/corpus/$* $(root)fuzz/corpus/$* > $<.log 2>&1 || \
	  { cat $<.log; echo "fuzz_$*: - faults, - operations, 1 anomalies"; exit 1; }
	@awk '/^stat::number_of_executed_units/ { print "fuzz_$*: - faults, " $$2 " operations, 0 anomalies" }' $<.log

# The functions of the core that a fuzzer replaces.
$(BUILD)/fuzz_responses: replaced := skv_connect skv_pool_borrow skv_pool_return skv_pool_detach skv_pool_mark_down \
  skv_pool_mark_timed_out skv_pool_count skv_pool_count_retry skv_tls_configure skv_tls_describe ldap_install_tls
$(BUILD)/fuzz_options: replaced := skv_pool_for
$(BUILD)/fuzz_secrets: replaced := crypt_rn PKCS5_PBKDF2_HMAC
# The thread that initialises libldap leaks some bytes in the C library. libFuzzer finds the leak of an input without
# this check.
$(BUILD)/fuzz_responses.run: export ASAN_OPTIONS := leak_check_at_exit=0

$(fuzzers): $(BUILD)/fuzz_%: $(root)fuzz/fuzz_%.c $(objects)
	$(CC) $(cppflags) -I$(root)test $(cflags) -fsanitize=fuzzer $(ldflags) $(replaced:%=-Wl,--wrap=%) $^ $(libs) -o $@

# A child process cannot free memory that another thread of its parent held at the fork. test_double, test_file_trees,
# test_keyring, test_pattern, test_rules_limits, test_store_many, test_store_many_faults and test_tls_context take long
# here; asan and chaos run them.
valgrind:
	$(MAKE) run-tests BUILD=build/test CFLAGS="-O1 -g" \
	  WITHOUT="test_double test_file_forks test_file_trees test_keyring test_pattern test_rules_limits test_store_many \
	    test_store_many_faults test_tls_context $(wipe_tests)" \
	  RUN="env SKV_VALGRIND=1 valgrind -q --leak-check=full --error-exitcode=9 --child-silent-after-fork=yes \
	    --suppressions=$(root)test/valgrind.supp"

analyze:
	$(MAKE) objects BUILD=build/analyze CFLAGS="-O1 -fanalyzer" WERROR=-Werror
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
	  -D_GNU_SOURCE -DSKV_VERSION='"x"' -Iinclude -Isrc src

objects: $(objects)

# Statuses and LDAP result codes are enum types: docs/adr/0026. gcc sees a mix-up of the two, clang also one with an int.
enums := -Wenum-conversion -Wsign-conversion -Wassign-enum

tidy:
	clang-tidy --quiet --warnings-as-errors='*' --checks='$(TIDY)' $(sources) -- $(cppflags) -std=c11 $(warnings) $(enums)

format:
	clang-format --dry-run --Werror include/*.h $(wildcard src/*.c src/*/*.[ch] test/*.[ch] test/*/*.c fuzz/*.c ../simpkv/*.[ch])

clean:
	rm -rf build/release build/test build/asan build/tsan build/chaos build/analyze build/fuzz

.PHONY: all install run-tests test test-alone asan tsan chaos valgrind analyze objects tidy format clean fuzz run-fuzz

-include $(wildcard $(BUILD)/*.d $(BUILD)/*/*.d $(BUILD)/*/*/*.d)
