#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# packaging/release in a scratch clone: every refusal by its reason, then a release whose bytes do not depend on when and
# where it is made. .ci/lint and ./test of the clone are stand-ins that say yes or no.
# usage: release_test.sh SOURCE
set -eu
source=$1
git -C "$source" rev-parse -q --verify HEAD >/dev/null 2>&1 || { echo "skipped: no repository" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q --depth 1 "file://$source" "$work/clone" 2>"$work/log" || { cat "$work/log" && exit 1; }
cd "$work/clone"
git config user.name test && git config user.email test@localhost
keep() { git add -A && git commit -q --allow-empty -m "$1"; }
stand_in() { printf '#!/bin/sh\nexit %d\n' "$2" >"$1" && chmod +x "$1"; }
cp "$source/packaging/release" packaging/release
stand_in .ci/lint 0
stand_in test 0
keep start

release() { packaging/release "$@" >"$work/out" 2>"$work/err"; }
# refused WHAT REASON... of the options in $options
refused() {
  what=$1 && shift
  # shellcheck disable=SC2086  # the options are words
  ! release $options || { echo "$what: not refused" && exit 1; }
  [ "$(grep -c '^release:' "$work/err")" -eq $# ] || { echo "$what: not $# reasons" && cat "$work/err" && exit 1; }
  for reason in "$@"; do
    grep -qF -- "$reason" "$work/err" || { echo "$what: lacks '$reason'" && cat "$work/err" && exit 1; }
  done
}

options="9.8.7 -o $work/a"
refused 'nothing prepared' 'CMakeLists.txt has the version' 'CHANGELOG.md has no part of 9.8.7'
sed -i 's/^project(weft VERSION [0-9.]*/project(weft VERSION 9.8.7/' CMakeLists.txt
sed -i '0,/^## /s/^## /## 9.8.7, not yet released\n\nNews.\n\n## /' CHANGELOG.md
refused 'not kept, no date' 'changes that no commit has' "says '9.8.7, not yet released'"
sed -i 's/^## 9.8.7, .*/## 9.8.7, 2030-01-02/' CHANGELOG.md
keep 'Release 9.8.7'
git tag v9.8.7 HEAD~1
refused 'tag' 'the tag v9.8.7 is another'
git tag -d v9.8.7 >"$work/log"
stand_in .ci/lint 1
keep 'break lint'
refused 'lint' '.ci/lint failed'
git reset -q --hard HEAD~1
[ ! -e "$work/a/weft-9.8.7.tar.gz" ] || { echo 'a refused release left an archive' && exit 1; }

release 9.8.7 -o "$work/a"
grep -q 'git tag -a v9.8.7' "$work/err"
(cd "$work/a" && sha256sum -c --quiet weft-9.8.7.tar.gz.sha256)
mkdir "$work/tree"
tar -xzf "$work/a/weft-9.8.7.tar.gz" -C "$work/tree"
git archive HEAD | tar -t | grep -v '/$' | sort >"$work/expected"
(cd "$work/tree/weft-9.8.7" && find . ! -type d | sed 's|^\./||' | sort) | cmp - "$work/expected"
# Made again, in another place, with the tests, which the tag of this commit does not hinder.
touch ./*.md
git tag v9.8.7
release --test 9.8.7 -o "$work/b"
cmp "$work/a/weft-9.8.7.tar.gz" "$work/b/weft-9.8.7.tar.gz"
stand_in test 1
keep 'break tests'
git tag -d v9.8.7 >"$work/log"
options="9.8.7 --test -o $work/c"
refused 'tests' './test failed'
for wrong in '' 9.8 '9.8.7 1.2.3' '9.8.7 -x' '9.8.7 -o'; do
  code=0
  # shellcheck disable=SC2086
  release $wrong || code=$?
  [ $code -eq 2 ] || { echo "'$wrong': $code instead of 2" && exit 1; }
done
