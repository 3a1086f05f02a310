# Sourced by the scripts beside it. Makes a virtual environment once, and again when what belongs in it has changed.

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

say() { echo "$*" >&2; }
fail() { say "$*"; exit 1; }

# find_python: the command of a Python that Lamina runs on; PYTHON, when set, is tried first.
find_python() {
  for command in "${PYTHON:-python3}" python3 python3.13 python3.12 python3.11 python; do
    if "$command" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$command"
      return
    fi
  done
  fail "Lamina needs Python 3.11 or later. Install it, or name it: PYTHON=/path/to/python3.12 $0"
}

# environment DIRECTORY [dev]: leaves Lamina in DIRECTORY, with what tests and checks need when asked, installed from this clone so that edits count at once.
environment() {
  directory=$1
  lock=requirements${2:+-$2}.txt
  # The path is part of the stamp because commands and editable installs do not survive a move.
  stamp="$root $lock $(cat "$root/pyproject.toml" "$root"/scripts/requirements*.txt | cksum)"
  if [ -x "$directory/bin/python" ] && [ "$(cat "$directory/stamp" 2>/dev/null)" = "$stamp" ]; then
    return
  fi
  python=$(find_python)
  say "Installing Lamina into $directory; this takes about a minute, and only now."
  rm -rf "$directory"
  set -- "$directory/bin/python" -m pip
  # Some distributions ship Python and pip without the part of venv that installs pip: then our own pip does it.
  "$python" -m venv "$directory" >/dev/null 2>&1 || {
    "$python" -m venv --clear --without-pip "$directory" || fail "Cannot make an environment in $directory."
    set -- "$python" -m pip --python "$directory/bin/python"
  }
  # What comes over the network is checked against the lock, the build backend included; a clone has no hash, so it comes
  # after, without looking for anything more.
  (
    cd "$root"
    set -- "$@" install --quiet --disable-pip-version-check --no-input
    "$@" --require-hashes --requirement "scripts/$lock" &&
      "$@" --no-deps --no-build-isolation --editable .
  ) ||
    fail "Installing failed; the lines above say why. Lamina needs PyPI for this one step."
  echo "$stamp" >"$directory/stamp"
}

# apart DIRECTORY PACKAGE...: leaves these packages in DIRECTORY, and nothing of Lamina: what speaks to a server from outside. They are not locked, and not
# part of the gate.
apart() {
  directory=$1
  shift
  stamp="$root $*"
  if [ -x "$directory/bin/python" ] && [ "$(cat "$directory/stamp" 2>/dev/null)" = "$stamp" ]; then
    return
  fi
  python=$(find_python)
  say "Installing $* into $directory; this takes a minute, and only now."
  rm -rf "$directory"
  "$python" -m venv "$directory" || fail "Cannot make an environment in $directory."
  "$directory/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "$@" ||
    fail "Installing failed; the lines above say why. The package index is needed for this one step."
  echo "$stamp" >"$directory/stamp"
}

# developing: PATH and PYTHONPATH for work on this clone, in the active environment or else in one of our own.
developing() {
  if [ -z "${VIRTUAL_ENV:-}" ]; then
    VIRTUAL_ENV=$root/.venv-test
    environment "$VIRTUAL_ENV" dev
  fi
  PATH=$VIRTUAL_ENV/bin:$PATH
  PYTHONPATH=$root/src # what is tested is this clone, whatever the environment has installed
  unset PYTHONDONTWRITEBYTECODE # each server that a test starts, and each worker, would compile everything again
  export PATH PYTHONPATH VIRTUAL_ENV
}
