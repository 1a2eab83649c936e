#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian packages, installs them on a bare Debian (debootstrap, in a chroot) with what they depend on, and uses
# them there. Needs root, debootstrap and the machine's package mirror; takes three minutes and 1 GB.
# usage: chroot_test.sh BUILD WORK_DIR
set -eu
build=$1 work=$2
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 1; }
command -v debootstrap >/dev/null || { echo "debootstrap not found; install it with: apt-get install debootstrap"; exit 1; }
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
. /etc/os-release
root=$work/root
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work"
mkdir -p "$work/packages"

(cd "$work/packages" && cpack --config "$build/CPackConfig.cmake" -B "$work/packages" >"$work/cpack.log" 2>&1) || { cat "$work/cpack.log"; exit 1; }
ls "$work"/packages/*.deb
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" >"$work/debootstrap.log" 2>&1 || { tail "$work/debootstrap.log"; exit 1; }
trap 'umount "$root/proc" 2>/dev/null && rm -rf "$root"' EXIT
mount -t proc none "$root/proc"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
[ ! -d /etc/apt/apt.conf.d ] || cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
cp "$work"/packages/*.deb "$here/use.sh" "$root/tmp/"
chroot "$root" sh -c 'export DEBIAN_FRONTEND=noninteractive && apt-get -q update && apt-get -q install -y --no-install-recommends /tmp/*.deb' \
  >"$work/install.log" 2>&1 || { tail -n 20 "$work/install.log"; exit 1; }
chroot "$root" sh -c 'mkdir /tmp/use && sh /tmp/use.sh /usr /tmp/use systemc && python3 -c "import weft; print(weft.version())" && weft --version'
