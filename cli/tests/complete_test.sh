#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What shells complete is what the tool takes: every option of every verb, words of options that are choices, arrays,
# networks, files. Shells that are not installed are passed over.
# usage: complete_test.sh WEFT COMPLETION_DIR WORK_DIR
set -eu
weft=$1 completions=$2 work=$3
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work"
cd "$work"
PATH=${weft%/*}:$PATH
export PATH
: >kernel.py

# `try WORDS...` prints what bash completes the last word to.
cat >try.bash <<END
. "$completions/weft.bash"
COMP_WORDS=(weft "\$@") COMP_CWORD=\$#
_weft
printf '%s ' "\${COMPREPLY[@]}"
END
failed=0
# expect "WORDS" WORD...: completes the words to exactly these.
expect() {
  want=$1
  shift
  found=$(bash try.bash "$@" | sed 's/ *$//')
  [ "$found" = "$want" ] || { failed=1 && echo "weft $*: completed to '$found', not '$want'"; }
}
expect 'sim sweep study schedules search' s
expect 'ref cycle flow rtl systemc' sim --engine ''
expect 'kernel.py' run k
expect 'primitive loop' run --style ''
expect 'dim32' sim --array dim3
expect 'resnet18 resnet50' sim resnet
expect 'flow fusion' bench f
expect 'kernel.py' sim --wave k
expect '' sim --seed ''
"$weft" --help | sed -n '/^verbs:$/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' >verbs.txt
while read -r verb; do
  [ "$verb" != bench ] || continue
  options=$("$weft" "$verb" --help | sed -n '/^options:$/,$s/^  \(--*[a-z][a-z0-9-]*\) .*/\1/p' | tr '\n' ' ' | sed 's/ *$//')
  expect "$options" "$verb" -
  for shell in zsh fish; do
    for option in $options; do
      case $shell in
        zsh) word="'${option}[" ;;
        fish) case $option in --*) word="$verb' -l ${option#--} " ;; *) word="$verb' -s ${option#-} " ;; esac ;;
      esac
      grep -qF -- "$word" "$completions/weft.$shell" || { failed=1 && echo "weft.$shell: $verb has no $option"; }
    done
  done
done <verbs.txt
for shell in bash zsh fish; do
  ! command -v "$shell" >/dev/null || "$shell" -n "$completions/weft.$shell" || failed=1
done
echo "$(wc -l <verbs.txt) verbs"
exit $failed
