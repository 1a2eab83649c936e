#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs everything below a temporary folder and uses it there, with the source tree and the build out of sight: behind
# an empty folder of a private mount namespace, where the system allows one. No installed file names them.
# usage: install_test.sh BUILD SOURCE
set -eu
build=$1 source=$2
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DESTDIR=$work/root cmake --install "$build" --strip >"$work/install.log" || { cat "$work/install.log"; exit 1; }
prefix=$work/root$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")

# The path of the checkout as a whole: share/doc/weft does not name the checkout /weft.
pattern="(^|[^a-z0-9_.-])$(printf '%s' "$source" | sed 's/[][\\.*^$+?(){}|]/\\&/g')/"
if LC_ALL=C grep -rlaE -- "$pattern" "$work/root" >"$work/names"; then
  echo "installed files that name $source:"
  cat "$work/names"
  exit 1
fi
if find "$work/root" -name '*.so*' -o -name weft -type f -perm -100 | xargs readelf -d 2>/dev/null | grep -E 'R(UN)?PATH' | grep -v ORIGIN; then
  echo "an installed program looks for libraries in fixed places"
  exit 1
fi

mkdir "$work/use"
cp "$here/use.sh" "$work"
# shellcheck disable=SC2016  # for the other shell
hide='mount -t tmpfs none "$1" && shift && exec "$@"'
if unshare -rm sh -c "$hide" sh "$source" true 2>/dev/null; then
  unshare -rm sh -c "$hide" sh "$source" sh "$work/use.sh" "$prefix" "$work/use" systemc
  echo "used without the source tree"
else
  sh "$work/use.sh" "$prefix" "$work/use" systemc
  echo "used; the source tree could not be hidden here"
fi
