#!/bin/sh
# Builds libldap from Debian's source of openldap, with OpenSSL as on Enterprise Linux, once for each version of Debian's
# package. Prints the folder that it is installed into.
set -eu

# Downloads the source. For this call only, apt reads sources lists that are derived from those of the machine.
fetch_openldap() {
  mkdir -p parts lists/partial
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    case $file in
      *.list) expression='s/^deb /deb-src /p' ;;
      *.sources) expression='s/^Types:.*/Types: deb-src/; p' ;;
      *) continue ;;
    esac
    [ ! -e "$file" ] || sed -n "$expression" "$file" > "parts/${file##*/}"
  done
  set -- -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$PWD/parts" -o Dir::State::Lists="$PWD/lists" \
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User="$(id -un)"
  # apt-get fails when one of the repositories offers no sources; the download below tells whether that matters.
  apt-get "$@" update || :
  apt-get "$@" source openldap
}

version=$(dpkg-query -W -f '${source:Version}' libldap-dev)
libldap=${XDG_CACHE_HOME:-$HOME/.cache}/simpkv/libldap-openssl-$version
if [ ! -e "$libldap/built" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' HUP INT TERM
  rm -rf "$libldap"
  mkdir -p "$libldap"
  cd "$work"
  {
    fetch_openldap
    cd openldap-*/
    ./configure --prefix="$libldap" --with-tls=openssl --with-cyrus-sasl --disable-slapd --disable-static
    make depend
    make -j2 -C libraries
    make -C libraries install
    make -C include install
    touch "$libldap/built"
  } >&2
fi
echo "$libldap"
