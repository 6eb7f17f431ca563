# shellcheck shell=bash
# For the scripts that build programs once from the Go module proxy: sourced, never run. The caller sets
# `target` (the directory of the result), `cache` (its parent) and `programs` (what must be in it).

building=
staging=

say() { echo "$(basename "$0"): $*" >&2; }
fail() { say "$*"; exit 1; }

holds_all() {
  local name
  for name in "${programs[@]}"; do [[ -f $1/$name && -x $1/$name ]] || return 1; done
}

# pinned DIRECTORY MODULE: the version in the go.mod of that directory.
pinned() { awk -v path="$2" '$1 == path && $2 ~ /^v/ { print $2; exit }' "$1/go.mod"; }

stop_build() {
  [[ -z $building ]] || kill -- -"$building" 2>/dev/null || true
  rm -rf "$staging"
}

# Prints the directory and ends the script if another run has built everything; otherwise the caller is the one that builds.
begin_build() {
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock --nonblock 9 || { say 'another run is building: waiting for it'; flock 9; }
  if holds_all "$target"; then
    echo "$target"
    exit 0
  fi
  rm -rf "$cache"/.staging-* # the lock is ours, so these were left by a killed run
  staging="$(mktemp -d "$cache/.staging-XXXXXX")"
  trap stop_build EXIT
  trap 'exit 130' INT TERM HUP
  mkdir "$staging/bin" "$staging/tmp"
}

# build NAME DIRECTORY ARGUMENT…: `go build` in the directory of a go.mod; the arguments are flags and packages.
build() {
  local name=$1 source=$2 started=$SECONDS last=
  shift 2
  [[ ! -f $cache/$name.seconds ]] || last=" (took $(<"$cache/$name.seconds") s the last time)"
  say "building $name$last"
  # In its own session, so that stop_build reaches the compilers too.
  setsid nice -n 19 env CGO_ENABLED=0 GOWORK=off GOTMPDIR="$staging/tmp" go -C "$source" build -mod=readonly -trimpath \
    -o "$staging/bin/" "$@" >&2 9>&- &
  building=$!
  local next=30
  while kill -0 "$building" 2>/dev/null; do
    sleep 1
    ((SECONDS - started < next)) || { say "building $name, $((SECONDS - started)) s so far$last"; next=$((next + 30)); }
  done
  wait "$building" || fail "go could not build $name"
  building=
  echo $((SECONDS - started)) >"$cache/$name.seconds"
  say "built $name in $((SECONDS - started)) s"
}

end_build() {
  rm -rf "$target"
  mv "$staging/bin" "$target"
  say "ready after $SECONDS s"
  echo "$target"
}

# version_flags VERSION: what Kubernetes' own build writes into its programs.
version_flags() {
  local major minor package=k8s.io/component-base/version
  IFS=. read -r major minor _ <<<"${1#v}"
  echo "-s -w -X $package.gitVersion=$1 -X $package.gitMajor=$major -X $package.gitMinor=$minor -X $package.gitTreeState=clean"
}
