# Shared set-up of tools/quickstart and tools/test; sourced by both, not run. Needs bash.
#
# TILEGYM_VENV          virtual environment to make and use; default: .venv in the checkout
# TILEGYM_RS_CACHE_DIR  cache with the kernel library; default: the user's cache

set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=${TILEGYM_VENV:-$ROOT/.venv}
PYTHON=$VENV/bin/python
LOGS=$VENV/logs
# --no-compile: most of torch's files are never imported, and the others are compiled when they are.
PIP=("$PYTHON" -m pip install --disable-pip-version-check --no-compile)
cd "$ROOT"
export CXX=${CXX:-g++} # one name for the compiler: ccache tells c++ and g++ apart
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache # the package and the tests compile the same sources
fi

# What the system must have: a probe, and the Debian package that brings it.
SYSTEM_NEEDS=(
  "has_program g++|g++" "has_program cmake|cmake" "has_program ninja|ninja-build" "has_program python3|python3"
  "has_python_module ensurepip|python3-venv" "has_python_header|python3-dev"
  "has_header spdlog/spdlog.h|libspdlog-dev" "has_header fmt/core.h|libfmt-dev"
  "has_header toml++/toml.h|libtomlplusplus-dev" "has_cargo|cargo-web" "has_cargo|rustc-web"
)
TEST_NEEDS=(
  "has_header gtest/gtest.h|libgtest-dev" "has_header gmock/gmock.h|libgmock-dev" "has_program ccache|ccache" "has_program rustfmt|rustfmt-web"
  "has_program cargo-clippy|rust-web-clippy"
)

has_program() { command -v "$1" >/dev/null; }
has_header() { [[ -e /usr/include/$1 || -e /usr/local/include/$1 ]]; }
has_python_module() { python3 -c "import $1" 2>/dev/null; }
has_python_header() {
  [[ -e $(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)/Python.h ]]
}
# cutile 0.2.0 needs 1.89; the same number stands in csrc/runtime/rust_compiler.cpp.
has_cargo() {
  local cargo
  for cargo in $(type -aP cargo); do
    printf '1.89\n%s\n' "$("$cargo" --version 2>/dev/null | cut -d' ' -f2)" | sort -VC && return 0
  done
  return 1
}

# Prints "== 3/6 title" and runs the rest of the line; then prints the time it took. STEPS is the number of steps.
STEP=0
step() {
  local title=$1 start=$SECONDS
  shift
  STEP=$((STEP + 1))
  echo "== $STEP/$STEPS $title"
  "$@"
  echo "   done in $(duration $((SECONDS - start)))"
}

duration() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# Runs a talkative command with its output in a log file; shows its last line while it runs and its end when it fails.
quietly() {
  local name=$1 log=$LOGS/$1.log status=0
  shift
  mkdir -p "$LOGS"
  "$@" 2>&1 | tee "$log" | show_progress || status=$?
  if ((status != 0)); then
    tail -n 30 "$log"
    echo "$name failed with exit status $status; full log: $log" >&2
  fi
  return $status
}

show_progress() {
  local start=$SECONDS shown=$SECONDS line='' new
  while true; do
    if IFS= read -r -t 1 new; then
      line=${new//$'\r'/}
    elif (($? <= 128)); then
      break
    fi
    if [[ -t 1 ]] && ((SECONDS > shown)); then
      shown=$SECONDS
      printf '\r\033[K   %s %s' "$(duration $((SECONDS - start)))" "${line:0:100}"
    elif ((SECONDS - shown >= 30)); then
      shown=$SECONDS
      echo "   $(duration $((SECONDS - start))) ${line:0:100}"
    fi
  done
  [[ ! -t 1 ]] || printf '\r\033[K'
}

# Runs a command unless its inputs are as they were when it last went through. Arguments: name, inputs as text, command.
unless_unchanged() {
  local stamp=$VENV/stamps/$1 inputs
  inputs=$(sha256sum <<<"$2")
  if [[ -e $stamp && $(<"$stamp") == "$inputs" ]]; then
    echo "   up to date"
    return
  fi
  quietly "$1" "${@:3}"
  mkdir -p "$VENV/stamps"
  echo "$inputs" >"$stamp"
}

content_of() { find "$@" -type f -not -name '*.pyc' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum; }

# Installs the packages whose probe fails. Arguments: needs.
install_system_packages() {
  local need missing=()
  for need in "$@"; do
    ${need%|*} || missing+=("${need#*|}")
  done
  if ((${#missing[@]} == 0)); then
    echo "   all there"
    return
  fi
  local line="apt-get install -y --no-install-recommends ${missing[*]}"
  if [[ $(id -u) != 0 ]] || ! has_program apt-get; then
    echo "Missing system packages; on Debian 12 this line installs them:" >&2
    echo "  sudo apt-get update && sudo $line" >&2
    exit 2
  fi
  export DEBIAN_FRONTEND=noninteractive
  mkdir -p "$LOGS"
  quietly apt-update apt-get update
  # shellcheck disable=SC2086  # the line is the command
  quietly apt-install $line
}

make_environment() {
  [[ -x $PYTHON ]] || python3 -m venv "$VENV"
  "$PYTHON" --version
}

# Requirements of the build itself, as pyproject.toml lists them: the build runs without isolation, so that it sees torch.
install_python_packages() {
  local read='
try: import tomllib
except ImportError: from pip._vendor import tomli as tomllib
project = tomllib.load(open("pyproject.toml", "rb"))
print(*project["build-system"]["requires"], *project["project"]["dependencies"], sep="\n")'
  local requirements
  mapfile -t requirements < <("$PYTHON" -c "$read")
  unless_unchanged packages "$("$PYTHON" --version) ${requirements[*]}" \
    "${PIP[@]}" "${requirements[@]}"
}

# Builds the extensions and installs the project in editable form. Argument: an extra, as in [test].
install_project() {
  unless_unchanged "project-${1//[][]/}" "$1 $(content_of pyproject.toml CMakeLists.txt cmake csrc) $(<"$VENV/stamps/packages")" \
    "${PIP[@]}" -v --no-build-isolation -e "./$1"
}

build_kernel_library() { "$VENV/bin/tilegym-rs" build; }
