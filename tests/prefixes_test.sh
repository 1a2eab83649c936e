#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prefixes_test.sh LIBRARIES PREFIXES ROOT: names say their room.
#
# LIBRARIES lists the static libraries of the build, one per line: folder, archive. PREFIXES is the table of
# tests/prefixes.txt: what functions and objects that the libraries of a folder export, and types in the headers of the
# folder, may begin with. Errors: a name without prefix; a folder with a library and without a row; a row without a
# library; a prefix that no name has, or that two rooms have (driver/ is linked apart, and tests are). A type may also be
# the prefix itself, without the underscore. Names of C++ carry
# their class or namespace and are left out; names with a dot are the compiler's.
set -eu
libraries=$1 prefixes=$2 root=$3
names=$(mktemp)
trap 'rm -f "$names"' EXIT

# "folder kind name place" for each exported symbol of each archive.
symbols() {
  while read -r folder archive; do
    [ -f "$archive" ] || { echo "$archive is not built" >&2; exit 1; }
    nm -g --defined-only "$archive" | awk -v folder="$folder" -v archive="${archive##*/}" '
      NF == 3 && $2 ~ /^[A-Z]$/ && $3 !~ /^_Z|\./ { print folder, "symbol", $3, archive }'
  done <"$libraries"
}

# The same for each struct, union, enum and typedef in the headers of each folder.
types() {
  cut -d' ' -f1 "$libraries" | sort -u | while read -r folder; do
    for header in "$root/$folder"/*.h; do
      if [ ! -f "$header" ] || grep -q '^namespace ' "$header"; then continue; fi
      awk -v folder="$folder" -v file="${header#"$root/"}" '
        function found(name) { print folder, "type", name, file ":" FNR }
        function cut(line, before, behind) { sub(before, "", line); sub(behind, "", line); found(line) }
        /^(typedef )?(struct|union|enum) [a-z_0-9]+ \{/ { cut($0, "^(typedef )?(struct|union|enum) ", " .*") }
        /^struct [a-z_0-9]+;/ { cut($0, "^struct ", ";.*") }
        /^(typedef (struct|union|enum) \{.*)?\} [a-z_0-9]+;/ { cut($0, ".*\\} ", ";.*") }
        /^typedef [a-z_0-9 ]+[ *][a-z_0-9]+(\[[^;]*)?;/ { cut($0, "^typedef [a-z_0-9 ]+[ *]", "[[;].*") }
        /^typedef [a-z_0-9 ]+[ *][a-z_0-9]+\(/ { line = $0; sub(/\(.*/, "", line); cut(line, ".*[ *]", "$") }
        /^typedef [a-z_0-9 *]+\(\*[a-z_0-9]+\)\(/ { cut($0, "^[^(]*\\(\\*", "\\).*") }' "$header"
    done
  done
}

symbols >"$names"
types >>"$names"

awk '
  FNR == 1 { file++ }
  file == 1 { sub(/#.*/, "") }
  file == 1 && NF > 0 { count[$1] = NF - 1; for (i = 2; i <= NF; i++) prefix[$1, i - 1] = $i }
  file == 1 && NF > 0 && !/^driver\/|\/tests / {
    split($1, room, "/")
    for (i = 2; i <= NF; i++) {
      if ($i in owner && owner[$i] != room[1]) { print room[1] "/ and " owner[$i] "/ share the prefix " $i; bad = 1 }
      owner[$i] = room[1]
    }
  }
  file == 2 { present[$1] = 1 }
  file == 3 {
    good = 0
    for (i = 1; i <= count[$1] && !good; i++) {
      p = prefix[$1, i]
      good = index($3, p) == 1 || $3 "_" == p
      if (good) used[$1, p] = 1
    }
    if (!good) { print $4 ": " $2 " " $3 " has no prefix of " $1 "/"; bad = 1 }
  }
  END {
    for (folder in present) if (!(folder in count)) { print "tests/prefixes.txt has no row for " folder "/"; bad = 1 }
    for (folder in count) {
      if (!(folder in present)) { print folder "/ makes no library, but tests/prefixes.txt has a row"; bad = 1; continue }
      for (i = 1; i <= count[folder]; i++)
        if (!((folder, prefix[folder, i]) in used)) { print folder "/: no name begins with " prefix[folder, i]; bad = 1 }
    }
    exit bad
  }' "$prefixes" "$libraries" "$names"
echo "$(grep -c ' symbol ' "$names") exported names, $(grep -c ' type ' "$names") types, $(wc -l <"$libraries") libraries"
