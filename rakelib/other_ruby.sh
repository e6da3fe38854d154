#!/bin/sh
# Compiles the extension with the Ruby of another release of Debian, in a chroot that is deleted afterwards, and runs
# specs of the library with it. Call it in a copy of the tree that it may change: Stages::Stage#sh_in_copy.
#
#   rakelib/other_ruby.sh SUITE GEMS SPEC...     GEMS is the folders of RSpec's gems, with colons between them
set -eu
if [ "$1" = --inside ]; then
  shift
  export STAGE="$1"
  shift
  localedef -i de_DE -f UTF-8 de_DE.UTF-8
  localedef -i ps_AF -f UTF-8 ps_AF.UTF-8
  mkdir /work/tmp/other_ruby
  (cd /work/tmp/other_ruby && ruby /work/ext/simpkv/extconf.rb && make "-j$(nproc)" CFLAGS='-O1 -fPIC')
  cp /work/tmp/other_ruby/simpkv_ext.so /work/lib/simpkv/
  cd /work
  SIMPKV_NATIVE=cext RUBYLIB=$(printf '%s:' tmp/gems/*) \
    exec ruby -e 'require "rspec/core"; exit RSpec::Core::Runner.run(ARGV)' -- "$@"
fi

suite=$1 gems=$2
shift 2
tree=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
mkdir -p "$tree/tmp/gems"
count=0
IFS=:
for gem in $gems; do
  count=$((count + 1))
  cp -R "$gem" "$tree/tmp/gems/$count"
done
unset IFS
ldap=libldap-dev
[ "$suite" != bullseye ] || ldap=libldap2-dev
SUITE=$suite "$tree/packaging/chroot" "$tree" \
  "ruby ruby-dev ruby-ffi gcc make libc6-dev libjansson-dev libpcre2-dev libssl-dev $ldap jq locales" \
  sh /work/rakelib/other_ruby.sh --inside "${STAGE:-}" "$@"
