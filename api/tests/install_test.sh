#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The example of libweft is built against the installed package, found by pkg-config and by CMake, and says what the tool
# says.
# usage: install_test.sh BUILD WEFT EXAMPLE WORK_DIR CC
set -eu
build=$1 weft=$2 example=$3 work=$4 cc=$5
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work"
cd "$work"
prefix=$work/root
for component in libweft1 libweft-dev; do
  cmake --install "$build" --prefix "$prefix" --component "$component" >install.log
done
library=$(find "$prefix" -name 'libweft.so.1')
pc=$(find "$prefix" -name weft.pc)
[ -n "$library" ] && [ -n "$pc" ] || { echo "the library or weft.pc is not installed"; exit 1; }
LD_LIBRARY_PATH=${library%/*}
PKG_CONFIG_PATH=${pc%/*}
export LD_LIBRARY_PATH PKG_CONFIG_PATH

# shellcheck disable=SC2046  # flags are words
"$cc" -std=c17 -Wall -Wextra -Werror "$example" $(pkg-config --cflags --libs weft) -o by_pkg_config
[ "$(pkg-config --modversion weft)" = "$("$weft" --version | cut -d' ' -f2)" ] || { echo "weft.pc has another version"; exit 1; }

mkdir -p find && cat >find/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.20)
project(example C)
find_package(weft 0.1 REQUIRED)
add_executable(by_cmake $example)
target_link_libraries(by_cmake PRIVATE weft::weft)
END
cmake -S find -B find/build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" >find.log 2>&1 || { cat find.log; exit 1; }
cmake --build find/build >>find.log 2>&1 || { cat find.log; exit 1; }

# A C++ compiler reads the header, too.
printf '#include <weft/weft.h>\nint main() { return weft_version()[0] == 0; }\n' >version.cpp
# shellcheck disable=SC2046
c++ -Wall -Wextra -Werror version.cpp $(pkg-config --cflags --libs weft) -o version && ./version

"$weft" array show gemmini-default | sed 's/^\( *capacity_kib: \)256/\1512/' >array.yaml
cycles=$("$weft" sim resnet18 --array array.yaml --size 64 --divisor 4 --json - --quiet |
  sed -n 's/^\t"cycles":\t\([0-9]*\),$/\1/p')
for program in ./by_pkg_config find/build/by_cmake; do
  "$program" >out.txt 2>progress.txt || { cat progress.txt; exit 1; }
  grep -qx "$cycles cycles, 0 bytes wrong" out.txt || { echo "$program: $(tail -1 out.txt), the tool: $cycles"; exit 1; }
done
! ./by_pkg_config resnet >out.txt 2>err.txt || { echo "an unknown network is taken"; exit 1; }
grep -q '^resnet: error:' err.txt || { echo "no message about an unknown network"; cat err.txt; exit 1; }
echo "$cycles cycles"
