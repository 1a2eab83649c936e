#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes shell completion from what the tool says of itself: its verbs, and the options of each with their arguments.
# Arrays and networks are asked for when a word is completed.
# usage: complete.sh WEFT bash|zsh|fish
set -eu
weft=$1 shell=$2

# The names and summaries in the list of verbs or benches: "NAME<tab>SUMMARY".
names() { sed -n '/^\(verbs\|benches\):$/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)/\1	\2/p'; }

# "VERB<tab>OPTION<tab>ARGUMENT<tab>HELP" of every option; of a flag the argument is empty.
options() {
  # shellcheck disable=SC2086  # one or two words
  "$weft" $1 --help | awk -v verb="$1" '
    /^options:$/ { inside = 1; next }
    inside && /^  -/ {
      option = $1
      line = $0
      sub(/^ *-[^ ]+ ?/, "", line)
      argument = ""
      if (line !~ /^ /) { argument = line; sub(/ .*/, "", argument); sub(/^[^ ]+/, "", line) }
      sub(/^ +/, "", line)
      print verb "\t" option "\t" argument "\t" line
    }'
}

all_options() {
  "$weft" --help | names | cut -f1 | while read -r verb; do
    options "$verb"
    [ "$verb" = bench ] || continue
    "$weft" bench --help | names | cut -f1 | while read -r bench; do options "bench $bench"; done
  done
}
engines=$("$weft" sim --engine none /dev/null 2>&1 | sed -n 's/.*engines: //p')

# What an option's argument can be: "words a b c", "arrays", "files", or "nothing" that is known.
kinds() {
  awk -F'\t' -v OFS='\t' -v engines="$engines" '
    {
      kind = "nothing"
      if ($3 ~ /^[a-z0-9-]+(\|[a-z0-9-]+)+$/) { kind = "words " $3; gsub(/\|/, " ", kind) }
      else if ($3 ~ /^[a-z]+\|[a-z]+\|DIR/) kind = "files"
      else if ($2 == "--array") kind = "arrays"
      else if ($2 == "--engine") kind = "words " engines
      else if ($3 ~ /FILE|DIR/) kind = "files"
      else if ($3 == "") kind = "flag"
      print $1, $2, kind, $4
    }'
}

bash_completion() {
  cat <<'END'
# Completion of weft for bash; made by cli/complete.sh.
_weft() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words=
  [ "$verb" = bench ] && [ "$COMP_CWORD" -gt 2 ] && verb="bench ${COMP_WORDS[2]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
END
  printf '    words="%s --help --version"\n  else\n    case "$verb $prev" in\n' "$("$weft" --help | names | cut -f1 | tr '\n' ' ' | sed 's/ $//')"
  all_options | kinds | awk -F'\t' '
    $3 ~ /^words / { words = $3; sub(/^words /, "", words); print "      \"" $1 " " $2 "\") COMPREPLY=($(compgen -W \"" words "\" -- \"$cur\")); return ;;" }
    $3 == "nothing" { print "      \"" $1 " " $2 "\") return ;;" }
    $3 == "files" { print "      \"" $1 " " $2 "\") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;" }'
  cat <<'END'
      *" --array") words=$(weft array list 2>/dev/null | awk 'NR > 1 { print $1 }') ;;
      *) case "$verb" in
END
  all_options | awk -F'\t' '{ list[$1] = list[$1] " " $2 } END { for (v in list) print "           \"" v "\") words=\"" substr(list[v], 2) "\" ;;" }' | sort
  printf '         esac ;;\n    esac\n    [ "$verb $COMP_CWORD" = "bench 2" ] && { COMPREPLY=($(compgen -W "%s" -- "$cur")); return; }\n' \
    "$("$weft" bench --help | names | cut -f1 | tr '\n' ' ' | sed 's/ $//')"
  cat <<'END'
    case "$verb" in
      sim|search|net) case "$cur" in -*) ;; *) words="$words $(weft net --list 2>/dev/null | awk '{ print $1 }')" ;; esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  case "$cur" in -*) ;; *) [ "$COMP_CWORD" -eq 1 ] || COMPREPLY+=($(compgen -f -- "$cur")) ;; esac
}
complete -o filenames -F _weft weft
END
}

fish_completion() {
  echo '# Completion of weft for fish; made by cli/complete.sh.'
  "$weft" --help | names | sed "s/'/\\\\'/g" | awk -F'\t' '{ print "complete -c weft -n __fish_use_subcommand -f -a " $1 " -d \047" $2 "\047" }'
  "$weft" bench --help | names | sed "s/'/\\\\'/g" |
    awk -F'\t' '{ print "complete -c weft -n \047__fish_seen_subcommand_from bench\047 -f -a " $1 " -d \047" $2 "\047" }'
  cat <<'END'
complete -c weft -n '__fish_seen_subcommand_from sim search net' -a '(weft net --list | string match -r "^\S+")'
END
  all_options | kinds | sed "s/'/\\\\'/g" | awk -F'\t' '
    {
      n = split($1, verb, " ")
      where = "__fish_seen_subcommand_from " verb[n]
      if (n == 2) where = "__fish_seen_subcommand_from bench; and " where
      name = $2 ~ /^--/ ? "-l " substr($2, 3) : "-s " substr($2, 2)
      rest = ""
      if ($3 ~ /^words /) rest = " -x -a \047" substr($3, 7) "\047"
      if ($3 == "arrays") rest = " -r -a \047(weft array list | string match -r \"^\\S+\" | tail -n +2)\047"
      if ($3 == "files") rest = " -r -F"
      if ($3 == "nothing") rest = " -x"
      print "complete -c weft -n \047" where "\047 " name rest " -d \047" $4 "\047"
    }'
}

# Help is without the characters of zsh's own syntax.
zsh_completion() {
  cat <<'END'
#compdef weft
# Completion of weft for zsh; made by cli/complete.sh.
_weft_arrays() { _alternative 'arrays:array:($(weft array list 2>/dev/null | awk "NR > 1 { print \$1 }"))' 'files:file:_files' }
_weft_arguments() { _alternative 'networks:network:($(weft net --list 2>/dev/null | awk "{ print \$1 }"))' 'files:file:_files' }
_weft() {
  local -a verbs benches
END
  "$weft" --help | names | tr -d "'" | awk -F'\t' 'BEGIN { print "  verbs=(" } { print "    \047" $1 ":" $2 "\047" } END { print "  )" }'
  "$weft" bench --help | names | tr -d "'" | awk -F'\t' 'BEGIN { print "  benches=(" } { print "    \047" $1 ":" $2 "\047" } END { print "  )" }'
  cat <<'END'
  if (( CURRENT == 2 )); then _describe verb verbs; return; fi
  local verb=$words[2]
  shift words; (( CURRENT-- ))
  if [[ $verb == bench ]]; then
    if (( CURRENT == 2 )); then _describe bench benches; return; fi
    verb="bench $words[2]"
    shift words; (( CURRENT-- ))
  fi
  case $verb in
END
  all_options | kinds | tr -d "'\`" | awk -F'\t' '
    function end() { if (last != "") print "      \047*:argument:_weft_arguments\047 ;;" }
    $1 != last { end(); print "    \047" $1 "\047) _arguments \\"; last = $1 }
    {
      help = $4
      gsub(/\[|\]|:|\\/, " ", help)
      action = ""
      if ($3 ~ /^words /) action = ":value:(" substr($3, 7) ")"
      if ($3 == "arrays") action = ":array:_weft_arrays"
      if ($3 == "files") action = ":file:_files"
      if ($3 == "nothing") action = ":value: "
      print "      \047" $2 "[" help "]" action "\047 \\"
    }
    END { end() }'
  printf '  esac\n}\n_weft "$@"\n'
}

case $shell in
  bash) bash_completion ;;
  zsh) zsh_completion ;;
  fish) fish_completion ;;
  *) echo "usage: complete.sh WEFT bash|zsh|fish" >&2 && exit 2 ;;
esac
