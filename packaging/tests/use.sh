#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Uses an installation as its users do: the tool with every engine that needs no compiler, shipped kernels and sweeps, the
# manual page, completion, the library from C where there is a compiler, and from Python where cffi and numpy are.
# usage: use.sh PREFIX WORK_DIR [ENGINE..]     further engines to run
set -eu
prefix=$1 work=$2
shift 2
cd "$work"
weft=$prefix/bin/weft share=$prefix/share
fail() {
  echo "installed: $*"
  exit 1
}

"$weft" --version >/dev/null || fail "the tool does not start"
"$weft" run "$share/weft/kernels/gemm.py" --shape M=64,N=64,K=64 >run.txt || fail "a shipped kernel does not run"
grep -q "as the oracle's" run.txt || fail "a shipped kernel gives another result"
for engine in cycle ref flow "$@"; do
  "$weft" run "$share/weft/kernels/gemm.py" --shape M=32,N=32,K=32 --engine "$engine" --quiet || fail "engine $engine does not run"
done
"$weft" example run gemm >example.txt 2>&1 || fail "an example does not run: $(tail -n 3 example.txt)"
"$weft" sim resnet18 --size 32 --divisor 8 --quiet || fail "a network does not run"
"$weft" search "$share/weft/layers/conv.yaml" --starts 2 --steps 4 >search.txt || fail "a shipped layer table is not searched"
"$weft" bench graph lstm --divisor 64 --quiet || fail "a bench does not run"
"$weft" array check "$share/weft/arrays/dim4.yaml" >/dev/null || fail "a shipped array is refused"
"$weft" rtl dim4 -o rtl >/dev/null 2>&1 || "$weft" rtl --array dim4 -o rtl >/dev/null || fail "no RTL is written"
"$weft" sweep "$share/weft/sweeps/resnet50.yaml" --plan >plan.txt || fail "a shipped sweep is refused"
"$weft" study "$share/weft/studies/stack.yaml" --plan >plan.txt || fail "a shipped study is refused"
[ -s "$share/man/man1/weft.1" ] || [ -s "$share/man/man1/weft.1.gz" ] || fail "no manual page"
for file in bash-completion/completions/weft zsh/vendor-completions/_weft fish/vendor_completions.d/weft.fish \
  doc/weft/README.md doc/weft/docs/cli.md doc/libweft-dev/examples/layers.c weft/driver/include/weft/tiled.h; do
  [ -s "$share/$file" ] || fail "no $share/$file"
done

library=$(find "$prefix/lib" -name libweft.so.1)
[ -n "$library" ] || fail "no libweft.so.1"
LD_LIBRARY_PATH=${library%/*}
PKG_CONFIG_PATH=${library%/*}/pkgconfig
export LD_LIBRARY_PATH PKG_CONFIG_PATH
if command -v cc >/dev/null && command -v pkg-config >/dev/null; then
  # shellcheck disable=SC2046  # flags are words
  cc "$share/doc/libweft-dev/examples/layers.c" $(pkg-config --cflags --libs weft) -o layers || fail "the example does not build"
  ./layers >layers.txt 2>/dev/null || fail "the example does not run"
fi
if /usr/bin/python3 -c 'import cffi, numpy' 2>/dev/null; then
  unset LD_LIBRARY_PATH  # the package knows where its library lies
  PYTHONPATH=$prefix/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c '
import weft
assert weft.run("resnet18", "gemmini-default", image=32, divisor=8, check=True).wrong == 0' || fail "Python cannot use it"
fi
