# Sourced by deploy/up and deploy/test, with $root set: makes $root/.venv and installs into it what requirements.lock names.
# Where packages come from is pip's own business (its environment variables and configuration files).

say() { printf '%s\n' "taishi: $*" >&2; }
die() { say "$*"; exit 1; }

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for candidate in ${PYTHON:-} python3.11 python3.12 python3.13 python3.14 python3 python; do
        if command -v "$candidate" >/dev/null 2>&1 && new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

# install EXTRAS: nothing is done where the same EXTRAS were installed from the same lock and pyproject before.
install() {
    venv=$root/.venv
    python=$venv/bin/python
    if [ ! -x "$python" ] || ! new_enough "$python"; then
        base=$(find_python) || die "needs Python 3.11 or newer, and found none on PATH (PYTHON=/path/to/python names one)"
        say "making .venv with $base"
        "$base" -m venv --clear "$venv" || die "$base cannot make a virtual environment (on Debian and Ubuntu: apt-get install python3-venv)"
    fi
    wanted=$(cat "$root/requirements.lock" "$root/pyproject.toml" | cksum)
    stamp=$venv/taishi-$1.stamp
    if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then return; fi
    say "installing (once; a minute or two)"
    started=$(date +%s)
    export PIP_DISABLE_PIP_VERSION_CHECK=1
    lock=$root/requirements.lock
    "$python" -m pip install --quiet --constraint "$lock" setuptools || die "pip could not install setuptools"
    "$python" -m pip install --quiet --constraint "$lock" --no-build-isolation --editable "$root[$1]" ||
        die "pip could not install the packages of requirements.lock"
    printf '%s' "$wanted" >"$stamp"
    say "installed in $(($(date +%s) - started)) s"
}
