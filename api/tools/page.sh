#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes docs/api.md from the header of libweft: its sections become headings, comments that stand alone text, and what is
# declared code. Before that comes the example.
# usage: page.sh weft.h layers.c >docs/api.md
set -eu
cat <<'END'
# The C interface

Written by `api/tools/page.sh` from `api/include/weft/weft.h`. [python.md](python.md) is the
interface of Python, which stands on this one; the packages are in [packages.md](packages.md).

`libweft.so.1` holds everything but the command line: arrays, kernels, networks, engines (`rtl` and
`systemc` need other programs), search, sweeps and their stores. Programs find it
with `pkg-config --cflags --libs weft`, or with CMake:

```cmake
find_package(weft REQUIRED)
target_link_libraries(mine PRIVATE weft::weft)
```

The steps of a network, as `api/examples/layers.c` prints them:

```c
END
sed '1,/^\/\/   cc /d' "$2"
printf '```\n\n## Rules\n\n'
awk -v width=100 '
  # Text is gathered and wrapped; code is copied between fences.
  function end_text(    n, words, i, line) {
    n = split(text, words, " ")
    line = ""
    for (i = 1; i <= n; i++) {
      if (line != "" && length(line) + 1 + length(words[i]) > width) { print line; line = "" }
      line = line == "" ? words[i] : line " " words[i]
    }
    if (n > 0) print line "\n"
    text = ""
  }
  function end_code() { if (code) print "```\n"; code = 0 }

  /^\/\/ SPDX/ || /^#/ || /^extern "C"/ { next }
  /^}$/ { next }
  /^\/\/ ---- / { end_code(); end_text(); sub(/^\/\/ ---- /, ""); print "## " $0 "\n"; next }
  /^\/\/$/ { end_code(); end_text(); next }
  /^\/\/ / { end_code(); sub(/^\/\/ /, ""); text = text " " $0; next }
  /^$/ { end_code(); end_text(); next }
  { end_text(); if (!code) print "```c"; code = 1; sub(/^WEFT_API /, ""); print }
  END { end_code(); end_text() }' "$1" | cat -s | sed -e '$ { /^$/d }'
cat <<'END'

## The tool

The `weft` command uses this interface and helpers of `base/` alone (`cli/tests/library_test.sh`).
`weft bench` runs a program of its own, which measures the floors below.
END
