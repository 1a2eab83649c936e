#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the manual page weft(1) from what the tool says of itself: its verbs, and the options of each.
# usage: man.sh WEFT VERSION >weft.1
set -eu
weft=$1 version=$2

# Text for roff: backslashes, hyphens, and a first character that would be a request.
escape() { sed 's/\\/\\e/g; s/-/\\-/g; s/^\([.'"'"']\)/\\\&\1/'; }

# The help of a verb as a section: usage, what it does (as it is laid out), options.
section() {
  # shellcheck disable=SC2086  # one or two words
  "$weft" $1 --help | escape | awk '
    NR == 1 { sub(/^usage: /, ""); print ".SS " $0; next }
    /^options:$/ { if (filled) print ".fi"; filled = 0; options = 1; next }
    options && /^  \\-/ {
      sub(/^ +/, "")
      # Where option and argument are wider than their column, one blank follows.
      gap = match($0, /  +/)
      if (gap == 0) { $1 = $1 " " $2; $2 = ""; gap = match($0, /  +/) }
      text = substr($0, gap + RLENGTH)
      print ".TP\n.B " substr($0, 1, gap - 1) "\n" (text ~ /^\./ ? "\\&" : "") text
      next
    }
    options && /^  weft / { sub(/^ +/, ""); print ".br\n" $0; next }
    options && /^[^ ]/ { print ".PP\n" $0; next }
    options && NF > 0 { sub(/^ +/, ""); print; next }
    !options && NF == 0 && !filled { next }
    !options { if (!filled) print ".PP\n.nf"; filled = 1; print }
    END { if (filled) print ".fi" }'
}

# The names in the list of verbs or benches.
names() { sed -n '/^\(verbs\|benches\):$/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'; }

cat <<END
.TH WEFT 1 "" "weft $version" "User Commands"
.SH NAME
weft \\- simulate, compile for and search systolic\\-array accelerators
.SH SYNOPSIS
.B weft
.I VERB
.RI [ OPTIONS ]
.I ARGUMENTS
.SH DESCRIPTION
One description of an array drives simulators, compiler, search and hardware.
Results go to stdout, progress and messages to stderr.
.B weft
.I VERB
.B \\-\\-help
explains a verb,
.B weft \\-\\-version
prints the version.
.SH VERBS
END
for verb in $("$weft" --help | names); do
  section "$verb"
  [ "$verb" = bench ] || continue
  for bench in $("$weft" bench --help | names); do section "bench $bench"; done
done
cat <<'END'
.SH EXIT STATUS
.TP
.B 0
success
.TP
.B 1
bad input
.TP
.B 2
usage
.TP
.B 3
cannot map or build
.TP
.B 4
mismatch: two results that must be equal differ
.TP
.B 5
the simulated program ended with another code than 0
.TP
.B 6
a trap that the program does not handle
.TP
.B 7
an illegal custom instruction
.TP
.B 8
a scratchpad or accumulator row that does not exist
.TP
.B 9
the accelerator reached outside main memory
.TP
.B 10
instruction limit, a program that never ends, or an accelerator without progress
.TP
.B 70
out of memory
.SH ENVIRONMENT
.TP
.B WEFT_CACHE
where compiled hardware is kept (default: $XDG_CACHE_HOME/weft, else ~/.cache/weft)
END
