#!/bin/sh
# Compiles the native part in a chroot of another release of Debian, which is deleted afterwards, and runs a command
# there with that release's Ruby or Java. Call it in a copy of the tree that it may change: Stages::Stage#sh_in_copy.
#
#   rakelib/other_ruby.sh SUITE GEMS ruby|java ARGUMENT...
#
# GEMS is the folders of the gems that the command needs, with colons between them, and archives of Java. The command
# has those folders in RUBYLIB, and the archives in /work/tmp/jars. With ruby it has the extension, with java the
# library for FFI.
set -eu
if [ "$1" = --inside ]; then
  shift
  export STAGE="$1"
  shift
  localedef -i de_DE -f UTF-8 de_DE.UTF-8
  localedef -i ps_AF -f UTF-8 ps_AF.UTF-8
  if [ "$1" = java ]; then
    make -C /work/ext/core "-j$(nproc)" CFLAGS='-O1 -fPIC'
  else
    mkdir /work/tmp/other_ruby
    # Beside it, experimental has the Ruby of unstable.
    [ ! -e /usr/bin/ruby3.4 ] || ln -sf ruby3.4 /usr/bin/ruby
    (cd /work/tmp/other_ruby && ruby /work/ext/simpkv/extconf.rb && make "-j$(nproc)" CFLAGS='-O1 -fPIC')
    cp /work/tmp/other_ruby/simpkv_ext.so /work/lib/simpkv/
    export SIMPKV_NATIVE=cext
  fi
  cd /work
  RUBYLIB=$(printf '/work/%s:' tmp/gems/*)
  export RUBYLIB
  exec "$@"
fi

suite=$1 gems=$2
shift 2
tree=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
mkdir -p "$tree/tmp/gems" "$tree/tmp/jars"
count=0
IFS=:
for gem in $gems; do
  count=$((count + 1))
  case $gem in
    *.jar) cp "$gem" "$tree/tmp/jars/" ;;
    *) cp -R "$gem" "$tree/tmp/gems/$count" ;;
  esac
done
unset IFS
# JRuby 10 needs Java 21.
ruby='ruby ruby-dev ruby-ffi'
[ "$suite" != experimental ] || ruby='ruby3.4 ruby3.4-dev'
[ "$1" != java ] || ruby=openjdk-21-jre-headless
ldap=libldap-dev
[ "$suite" != bullseye ] || ldap=libldap2-dev
SUITE=$suite "$tree/packaging/chroot" "$tree" \
  "$ruby gcc make binutils libc6-dev libjansson-dev libpcre2-dev libssl-dev libcrypt-dev $ldap jq locales" \
  sh /work/rakelib/other_ruby.sh --inside "${STAGE:-}" "$@"
