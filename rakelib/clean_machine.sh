#!/bin/sh
# Runs a command on this machine as if Puppet and simpkv had never run here: in a mount namespace of its own, with an
# empty /opt, no store, and no settings or state of Puppet. What the command writes below /etc, /opt and /var is
# discarded. Facter leaves out one fact. Only root can make a namespace.
#
#   rakelib/clean_machine.sh COMMAND...
set -eu

if [ "${1:-}" != --inside ]; then
  exec unshare --mount --propagation private -- "$0" --inside "$@"
fi
shift

# A layer over each folder keeps the changes in memory, until the namespace ends with its last process.
layers=$(mktemp -d)
mount -t tmpfs -o mode=0755 layers "$layers"
for folder in etc opt var; do
  mkdir "$layers/$folder" "$layers/$folder.work"
  chmod --reference="/$folder" "$layers/$folder"
  mount -t overlay -o "lowerdir=/$folder,upperdir=$layers/$folder,workdir=$layers/$folder.work" layers "/$folder"
done
umount --lazy "$layers"
rmdir "$layers"

# The fixtures of puppetserver and PuppetDB copy the settings that their packages bring.
find /opt -mindepth 1 -delete
find /etc/puppet -mindepth 1 -maxdepth 1 ! -name puppetserver -exec rm -rf {} +
# Debian's package of Puppet brings folders in those of the last two.
rm -rf /etc/puppetlabs /etc/simpkv /var/simp /var/cache/puppet/*/* /var/lib/puppet/*/*

# The fact augeas reads all lenses of Augeas, which is two thirds of the processor time of Debian's Facter in each run of
# Puppet. No example needs this fact.
mkdir -p /etc/facter
echo 'facts : { blocklist : [ "augeas" ] }' > /etc/facter/facter.conf

exec "$@"
