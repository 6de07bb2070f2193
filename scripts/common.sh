# Sourced by the scripts: where things are, and how a preset gets built.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# use_preset PRESET: what it needs is installed and configured. Silent where nothing is to do.
use_preset() {
  local build=$repository/build/$1
  "$repository/scripts/bootstrap"
  if [[ ! -e $build/build.ninja || $repository/CMakePresets.json -nt $build/build.ninja ]]; then
    (cd "$repository" && cmake --preset "$1") >&2
  fi
}

# build_quietly PRESET [TARGET...]: builds without a word on standard output, and on standard error
# only what is new to its reader: that the first build takes a while, and what failed.
build_quietly() {
  local preset=$1
  shift
  use_preset "$preset"
  [[ -e $repository/build/$preset/.ninja_deps ]] || echo "building build/$preset for the first time" >&2
  cmake --build "$repository/build/$preset" ${1+--target "$@"} -- --quiet | sed '/^ninja: no work to do\.$/d' >&2
}

# number_or DEFAULT VALUE: VALUE, or DEFAULT where it is empty; complains of what is no number from 1 up.
number_or() {
  local value=${2:-$1}
  if [[ ! $value =~ ^[1-9][0-9]*$ ]]; then
    echo "$(basename "$0"): '$value' will not do; give a number from 1 up" >&2
    return 2
  fi
  echo "$value"
}
