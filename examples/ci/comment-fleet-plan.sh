#!/bin/sh
# Comments on a pull request what its FleetDaemonSets would change: stages, clusters, nodes, images, and the differences field by field.
#
#   comment-fleet-plan.sh FILE…
#
# Needs `rollcall` with rights to read the stack's tables, and one of `gh` (PULL_REQUEST is its number) or `glab` (CI_MERGE_REQUEST_IID, as
# GitLab sets it); with neither it prints the comment. Leaves with 0 whatever changes, with 3 when some cluster would be given no DaemonSet,
# and with what rollcall says when a file cannot be used. It changes nothing but the comment.
set -eu

comment=$(mktemp)
part=$(mktemp)
trap 'rm -f "$comment" "$part"' EXIT
result=0

for file in "$@"; do
  code=0
  rollcall fleet plan -f "$file" --format markdown >"$part" || code=$?
  case $code in
    0) ;;
    3) result=3 ;;
    *) exit "$code" ;;
  esac
  cat "$part" >>"$comment"

  code=0
  rollcall fleet diff -f "$file" >"$part" || code=$?
  case $code in
    0 | 3 | 6) ;;
    *) exit "$code" ;;
  esac
  {
    printf '\n<details><summary>Differences, field by field</summary>\n\n~~~~~~~~text\n'
    head -c 12000 "$part"
    [ "$(wc -c <"$part")" -le 12000 ] || printf '\n… the rest: rollcall fleet diff -f %s\n' "$file"
    printf '\n~~~~~~~~\n\n</details>\n\n'
  } >>"$comment"
done

# GitHub takes 65,536 characters: of many files the first ones.
if [ "$(wc -c <"$comment")" -gt 60000 ]; then
  head -c 60000 "$comment" >"$part"
  printf '\n\n… and more: run rollcall fleet plan for the other files.\n' >>"$part"
  cat "$part" >"$comment"
fi

if [ -n "${PULL_REQUEST:-}" ]; then
  # One comment, edited with each push.
  gh pr comment "$PULL_REQUEST" --body-file "$comment" --edit-last --create-if-none
elif [ -n "${CI_MERGE_REQUEST_IID:-}" ]; then
  glab mr note "$CI_MERGE_REQUEST_IID" --unique --message "$(cat "$comment")"
else
  cat "$comment"
fi
exit "$result"
