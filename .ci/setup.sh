# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Set-up shared by ./run, ./test and .ci/run: finds what is missing and installs it from Debian's packages.
# Sourced, not run. WEFT_ROOT is the checkout. Plain POSIX sh; quick when nothing is missing.

# One line per need: Debian package, kind of probe, what to look for.
#   cmd: a command   lib: a pkg-config module   file: a path
weft_needs_build='
build-essential cmd cc
g++ cmd g++
cmake cmd cmake
ninja-build cmd ninja
pkg-config cmd pkg-config
libyaml-dev lib yaml-0.1
libcjson-dev lib libcjson
libcmocka-dev lib cmocka
libsqlite3-dev lib sqlite3
zlib1g-dev lib zlib
libopenmpi-dev cmd mpicc
openmpi-bin cmd mpirun
libjs-chart.js file /usr/share/javascript/chart.js/chart.min.js
gnuplot-nox cmd gnuplot
verilator cmd verilator
libsystemc-dev lib systemc
libprotobuf-c-dev lib libprotobuf-c
protobuf-c-compiler cmd protoc-c
libonnx-dev file /usr/include/onnx/onnx.proto
gcc-riscv64-unknown-elf cmd riscv64-unknown-elf-gcc
picolibc-riscv64-unknown-elf file /usr/lib/picolibc/riscv64-unknown-elf/lib/libc.a
'
weft_needs_test="$weft_needs_build"'
git cmd git
qemu-system-misc cmd qemu-system-riscv64
iverilog cmd iverilog
libonnx-testdata file /usr/share/libonnx-testdata/data/node/test_abs/model.onnx
chromium cmd chromium
python3-cffi file /usr/lib/python3/dist-packages/cffi/__init__.py
python3-numpy file /usr/lib/python3/dist-packages/numpy/__init__.py
python3-nbclient file /usr/lib/python3/dist-packages/nbclient/__init__.py
python3-ipykernel file /usr/lib/python3/dist-packages/ipykernel/__init__.py
'
# shellcheck disable=SC2034  # for ./test
weft_needs_fuzz="$weft_needs_test"'
clang cmd clang
libclang-rt-14-dev file /usr/lib/llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.fuzzer-x86_64.a
'
# shellcheck disable=SC2034  # for .ci/lint
weft_needs_lint='
git cmd git
shellcheck cmd shellcheck
clang-format cmd clang-format
'

weft_have() {
  case $1 in
    cmd) command -v "$2" >/dev/null 2>&1 ;;
    lib) command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "$2" ;;
    file) [ -e "$2" ] ;;
  esac
}

# The packages of a list of needs that are not there.
weft_missing() {
  printf '%s' "$1" | while read -r package kind what; do
    [ -z "$package" ] || weft_have "$kind" "$what" || printf '%s ' "$package"
  done
}

weft_die() {
  printf 'weft: error: %s\n' "$1" >&2
  exit 1
}

# The same, after the end of the log of what failed.
weft_log_die() {
  tail -n 40 "$weft_log" >&2
  weft_die "$1"
}

# Sets weft_root to the words that make the next command run as root: nothing, or sudo; or says what is missing.
weft_find_root() {
  weft_root=
  [ "$(id -u)" != 0 ] || return 0
  if command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    weft_root='sudo env DEBIAN_FRONTEND=noninteractive'
    return 0
  fi
  weft_die "missing packages: $weft_absent
  hint: they need root; run this as root (or with sudo): apt-get install $weft_absent"
}

# picolibc has 978 MB of libraries for other RISC-V variants: only the default one (rv64imafdc/lp64d) is unpacked.
weft_install() {
  command -v apt-get >/dev/null 2>&1 || weft_die "missing: $weft_absent
  hint: this system has no apt-get; install these Debian packages' equivalents yourself"
  weft_find_root
  # shellcheck disable=SC2153  # set by the script that sources this
  mkdir -p "$WEFT_ROOT/build"
  weft_log="$WEFT_ROOT/build/install.log"
  printf 'weft: installing, which takes a minute or two (log: build/install.log): %s\n' "$weft_absent" >&2
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086  # lists are meant to be split
  $weft_root apt-get -q -o DPkg::Lock::Timeout=550 update >"$weft_log" 2>&1 || weft_log_die "apt-get update failed"
  # shellcheck disable=SC2086
  $weft_root apt-get -q -o DPkg::Lock::Timeout=550 install -y --no-install-recommends \
    -o 'DPkg::options::=--path-exclude=/usr/lib/picolibc/riscv64-unknown-elf/lib/rv*' \
    -o 'DPkg::options::=--path-exclude=/usr/lib/picolibc/riscv64-unknown-elf/lib/release/*' \
    $weft_absent >>"$weft_log" 2>&1 || weft_log_die "apt-get install failed: $weft_absent"
}

# weft_setup NEEDS: installs what is missing of the list.
weft_setup() {
  weft_absent=$(weft_missing "$1")
  [ -z "$weft_absent" ] || weft_install
  weft_absent=$(weft_missing "$1")
  [ -z "$weft_absent" ] || weft_die "still missing after the installation: $weft_absent"
}

# weft_configure PRESET [OPTION...]: configures the preset; quick when nothing changes.
weft_configure() {
  weft_preset=$1
  shift
  weft_log="$WEFT_ROOT/build/$weft_preset.log"
  mkdir -p "$WEFT_ROOT/build"
  (cd "$WEFT_ROOT" && cmake --preset "$weft_preset" "$@") >"$weft_log" 2>&1 || weft_log_die "configuration failed"
}

# weft_build PRESET [TARGET...]: configures once and builds; says nothing when there is nothing to do.
weft_build() {
  weft_preset=$1
  shift
  weft_log="$WEFT_ROOT/build/$weft_preset.log"
  mkdir -p "$WEFT_ROOT/build"
  if [ ! -e "$WEFT_ROOT/build/$weft_preset/build.ninja" ]; then
    printf 'weft: configuring %s\n' "$weft_preset" >&2
    weft_configure "$weft_preset"
  fi
  if ninja -C "$WEFT_ROOT/build/$weft_preset" -n "$@" 2>/dev/null | grep -q 'no work to do'; then return 0; fi
  printf 'weft: building %s\n' "$weft_preset" >&2
  ninja -C "$WEFT_ROOT/build/$weft_preset" "$@" >"$weft_log" 2>&1 || weft_log_die "build failed"
}
