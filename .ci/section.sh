# shellcheck shell=bash
# Sourced by .ci/run and .ci/nightly: runs a command under a title and says how it ended and how long it took.

section() {
  local title="$1" began="$SECONDS" status=0
  shift
  printf '\n=== %s: %s\n' "$title" "$*"
  "$@" || status=$?
  printf '=== %s: %s after %d s\n' "$title" "$([ "$status" -eq 0 ] && echo passed || echo FAILED)" "$((SECONDS - began))"
  return "$status"
}
