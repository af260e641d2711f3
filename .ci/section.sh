# shellcheck shell=bash
# Sourced by .ci/run and .ci/nightly: runs commands under titles and says how each ended and how long it took.
#
#   section TITLE COMMAND…   runs it; its status
#   beside TITLE COMMAND…    starts it beside what follows: for what mostly waits. One at a time
#   join                     waits for what runs beside, prints what it said; its status
#   took                     the table of times
#   freshSeed                the number that fresh seeds are drawn from: the commit's, as test/support/commit.ts has it

freshSeed() {
  printf '%s' "${ROLLCALL_SEED:-$((16#$(git rev-parse --short=7 HEAD 2> /dev/null || echo 0)))}"
}

times=()
besideTitle='' besidePid='' besideLog=''

ended() {
  local title="$1" status="$2" seconds="$3" verdict
  verdict="$([ "$status" -eq 0 ] && echo passed || echo FAILED)"
  printf '=== %s: %s after %d s\n' "$title" "$verdict" "$seconds"
  times+=("$(printf '%-14s %6d s  %s' "$title" "$seconds" "$verdict")")
}

section() {
  local title="$1" began="$SECONDS" status=0
  shift
  printf '\n=== %s: %s\n' "$title" "$*"
  "$@" || status=$?
  ended "$title" "$status" "$((SECONDS - began))"
  return "$status"
}

beside() {
  besideTitle="$1"
  shift
  besideLog="$(mktemp)"
  printf '\n=== %s, beside what follows: %s\n' "$besideTitle" "$*"
  (
    began="$SECONDS" status=0
    "$@" &
    trap 'kill -TERM $!' TERM
    wait $! || status=$?
    printf '%d\n' "$((SECONDS - began))" > "$besideLog.seconds"
    exit "$status"
  ) > "$besideLog" 2>&1 &
  besidePid="$!"
  trap leave EXIT
}

join() {
  local status=0
  wait "$besidePid" || status=$?
  besidePid=''
  printf '\n=== %s said:\n' "$besideTitle"
  cat "$besideLog"
  ended "$besideTitle" "$status" "$(cat "$besideLog.seconds")"
  rm -f "$besideLog" "$besideLog.seconds"
  return "$status"
}

# What runs beside does not outlive a run that failed or was ended: npm ends its tests when it is ended.
leave() {
  if [ -z "$besidePid" ]; then return 0; fi
  kill -TERM "$besidePid" 2> /dev/null || true
  wait "$besidePid" || true
  printf '\n=== %s was ended before its end; it said last:\n' "$besideTitle"
  tail -n 40 "$besideLog"
  rm -f "$besideLog" "$besideLog.seconds"
}

took() {
  printf '\n=== where the time went\n'
  printf '%s\n' "${times[@]}"
}
