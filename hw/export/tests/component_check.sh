#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# weft.xml as a tool that imports it would see it: the schema beside this script, and what a schema cannot say: names that
# are referred to are there, ports are those of the RTL, each once. usage: component_check.sh WEFT.XML XMLLINT
set -eu
file=$1 xmllint=$2 schema=$(dirname -- "$0")/component.rng
dir=$(dirname -- "$file")
# values PATH: the texts of the elements of this path, of local names, a line each.
values() {
  "$xmllint" --xpath "$(echo "//$1" | sed "s|/\([A-Za-z][A-Za-z]*\)|/*[local-name()='\1']|g")/text()" "$file" 2>/dev/null | tr ' ' '\n' | grep . || true
}
# within WHAT A B: each line of A is in B.
within() {
  values "$2" | sort -u >"$file.used"
  values "$3" | sort -u >"$file.known"
  [ -s "$file.used" ] || { echo "$file: nothing is $1"; exit 1; }
  comm -23 "$file.used" "$file.known" | grep . && { echo "$file: $1 that is not there"; exit 1; }
  return 0
}
once() {
  values "$1" | sort | uniq -d | grep . && { echo "$file: two of the same: $1"; exit 1; }
  return 0
}
"$xmllint" --noout --relaxng "$schema" "$file" 2>"$file.log" || { cat "$file.log"; exit 1; }
within "a physical port" physicalPort/name ports/port/name
within "an instantiation" view/componentInstantiationRef componentInstantiation/name
within "a set of files" fileSetRef/localName fileSet/name
within "a parameter of the module" moduleParameter/value parameters/parameter/name
for path in ports/port/name physicalPort/name logicalPort/name file/name parameters/parameter/name; do once $path; done
# Names in the widths are parameters.
{ values vector/left && values vector/right; } | grep -o '[A-Z][A-Z_]*' | sort -u >"$file.used"
values parameters/parameter/name | sort -u >"$file.known"
comm -23 "$file.used" "$file.known" | grep . && { echo "$file: a width of a name that is none"; exit 1; }
# The files are there, and the ports are those of the top.
values file/name | while read -r name; do [ -f "$dir/$name" ] || { echo "$file: no $name"; exit 1; }; done
sed -n '/^) ($/,/^);$/p' "$dir/rtl/$(values componentInstantiation/moduleName).sv" | sed 's|//.*||' | grep -oE '[a-z0-9_]+_(i|o|ni)\b' | sort >"$file.used"
values ports/port/name | sort >"$file.known"
diff "$file.used" "$file.known" >&2 || { echo "$file: other ports than the RTL"; exit 1; }
rm -f "$file.used" "$file.known" "$file.log"
