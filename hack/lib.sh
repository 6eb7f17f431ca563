# shellcheck shell=bash
# Shared by the scripts beside it: sourced, never run. Leaves the caller in the repository's root.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
readonly CNI_DIRECTORY=/usr/lib/cni
# The packages that the demo needs; hack/test adds to them.
DEBIAN_PACKAGES=(containernetworking-plugins iproute2 iputils-ping util-linux)
cd "$ROOT" || exit

say() { printf '==> %s\n' "$*"; }

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

need_root() { ((EUID == 0)) || die "network namespaces need root: sudo $0"; }

as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

ensure_packages() {
  local package missing=()
  if ! command -v dpkg-query >/dev/null; then
    check_commands
    return
  fi
  for package in "${DEBIAN_PACKAGES[@]}"; do
    # shellcheck disable=SC2016 # the format is dpkg's
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  say "installing the Debian packages ${missing[*]}"
  as_root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# On another distribution the programs are checked instead of packages.
check_commands() {
  local program
  for program in ip ping nsenter "$CNI_DIRECTORY/bridge"; do
    command -v "$program" >/dev/null || die "$program is missing (Debian: ${DEBIAN_PACKAGES[*]})"
  done
}

# Whether node_modules agrees with the lockfile. Works on any Node version, because ours may not be installed yet.
is_installed() {
  [[ node_modules/.package-lock.json -nt package-lock.json ]] && node - <<'JS'
const { readFileSync } = require('node:fs');
const packagesOf = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;
const wanted = packagesOf('package-lock.json');
const installed = packagesOf('node_modules/.package-lock.json');
const names = Object.keys(wanted).filter((name) => name !== '');
const same = (name) => installed[name]?.version === wanted[name].version;
const mayLack = (name) => wanted[name].optional === true && installed[name] === undefined;
const none = (name) => wanted[name] === undefined;
process.exit(names.every((name) => same(name) || mayLack(name)) && !Object.keys(installed).some(none) ? 0 : 1);
JS
}

ensure_node_modules() {
  command -v npm >/dev/null || die 'npm is missing: install Node.js with npm (any version from 20 on will do)'
  if ! is_installed; then
    say 'npm ci'
    npm ci --no-progress --loglevel=error
  fi
  PATH="$ROOT/node_modules/.bin:$PATH"
  export PATH
}

# Everything that dist/ depends on, including the path: launchers contain the path of this tree's Node.
hash_sources() {
  local place places=()
  for place in cmd plugin agent ctl controller pkg hack/bundle.ts hack/build-plugin package.json package-lock.json; do
    [[ ! -e $place ]] || places+=("$place")
  done
  {
    printf '%s\n' "$ROOT"
    find "${places[@]}" -type f ! -name '*.test.ts' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
  } | sha256sum | cut -d ' ' -f 1
}

# Includes the Rust toolchain: when it is installed later, the native plugin must be built.
stamp() { printf '%s %s\n' "$(hash_sources)" "$(has_cargo && echo native || echo node)"; }

has_cargo() { PATH="$PATH:${CARGO_HOME:-$HOME/.cargo}/bin" command -v cargo >/dev/null; }

# Not installed here: where toolchains go is for the owner of the machine to say.
need_cargo() {
  has_cargo || die "$1, and there is no Rust toolchain (cargo) here. rustup installs one, and its version of Debian is too old:
  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal"
}

is_built() { [[ -x dist/cni/ipledger && -x dist/ipledger-agent && -x dist/ipledgerctl && -f dist/.sources && $(<dist/.sources) == "$(stamp)" ]]; }

build() {
  local stamp_before
  # Computed first, so that a source that changes during the build is built again.
  stamp_before=$(stamp)
  say 'building dist/'
  rm -f dist/.sources
  node hack/bundle.ts
  build_native_plugin
  printf '%s\n' "$stamp_before" >dist/.sources
}

# dist/cni/ipledger is the plugin to install: the native one, or the one on Node where there is no Rust toolchain.
build_native_plugin() {
  local form=native
  if has_cargo; then
    hack/build-plugin || die 'the native plugin could not be built, see above'
  else
    say 'no Rust toolchain (cargo) here: the plugin is the form on Node'
    form=node && rm -rf dist/native
  fi
  mkdir -p dist/cni
  ln -sfn "../$form/ipledger" dist/cni/ipledger
}

ensure_built() { is_built || build; }
