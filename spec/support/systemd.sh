#!/bin/sh
# systemd.sh FOLDER CHECKOUT GEMS: starts systemd as process 1 of namespaces of its own, over a copy of this machine's
# file systems that is dropped at the end, and runs FOLDER/script there as a unit. FOLDER is /work in it, where the
# script finds what it needs and leaves what it prints in `log`. `simpkv` is the command of CHECKOUT, with the gems of
# GEMS. Needs root, and the packages systemd and util-linux.
set -eu
folder=$1 checkout=$2 gems=$3
if [ "${IN_NAMESPACE:-}" != yes ]; then
  IN_NAMESPACE=yes unshare --mount --pid --fork --cgroup --uts --ipc --kill-child=KILL "$0" "$@" &
  process=$!
  # systemd would stop only what it has started.
  trap 'kill -KILL "$process"' EXIT
  trap 'exit 1' INT TERM
  for _ in $(seq 600); do
    if [ -e "$folder/ended" ]; then exit 0; fi
    sleep 0.2
  done
  echo 'the script has not ended in two minutes' >&2
  exit 1
fi

mount --make-rprivate /
space=$folder/space
mkdir "$space"
mount -t tmpfs tmpfs "$space"
root=$space/root
mkdir "$space/upper" "$space/workdir" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$space/upper,workdir=$space/workdir" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
mkdir "$root/sys/fs/cgroup/systemd"
mount -t cgroup -o none,name=systemd,xattr systemd "$root/sys/fs/cgroup/systemd"
mount --rbind /dev "$root/dev"
for name in run tmp; do mount -t tmpfs tmpfs "$root/$name"; done
mkdir -p "$root/work" "$root/srv/simpkv" "$root/srv/gems"
mount --bind "$folder" "$root/work"
mount --bind "$checkout" "$root/srv/simpkv"
mount --bind "$gems" "$root/srv/gems"

# Nothing of this machine is started, or set.
units=$root/etc/systemd/system
rm -rf "$root"/lib/systemd/system/*.wants "$units"/*.wants "$root"/lib/systemd/system-generators/*
rm -f "$root"/lib/systemd/system/*.mount "$root"/lib/systemd/system/*.automount "$root"/lib/systemd/system/*.socket
for name in systemd-udevd systemd-journald systemd-sysctl systemd-modules-load; do
  ln -sf /dev/null "$units/$name.service"
done
cat > "$root/usr/local/bin/simpkv" << 'END'
#!/bin/sh
GEM_PATH=/srv/gems:$(ruby -e 'print Gem.default_path.join(":")') exec ruby /srv/simpkv/exe/simpkv "$@"
END
chmod 755 "$root/usr/local/bin/simpkv"
cat > "$units/script.service" << 'END'
[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
ExecStart=/bin/sh /work/script
ExecStopPost=/bin/touch /work/ended
StandardOutput=append:/work/log
StandardError=append:/work/log
END

cd "$root"
pivot_root . mnt
umount -l /mnt
container=specs exec /lib/systemd/systemd --system --unit=script.service --log-target=null --show-status=no
