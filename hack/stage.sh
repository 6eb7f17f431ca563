# shellcheck shell=bash
# For scripts that demonstrate something step by step: sourced, never run. Each step prints its command and its real output.

# The current step, for error messages.
current='the set-up'

title() { printf '\n\n## %s\n' "$*"; }

# Runs exactly the text it prints. Background processes of a step do not inherit the caller's lock (descriptor 9).
run() {
  current=$1
  printf '\n$ %s\n' "$1"
  bash -euo pipefail -c "$1" 9>&-
}

# The step shows a refusal that must say `expected`: a success, or another error, is a failure of the script.
run_refused() {
  local expected=$2 code=0
  run "$1 | tee refusal" || code=$?
  ((code != 0)) && grep -q "$expected" refusal
}

wait_until() {
  local what=$1
  shift
  for _ in {1..300}; do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
  current="waiting until $what"
  return 1
}
