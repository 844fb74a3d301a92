#!/bin/sh
# Installs what linkdoze's demo and tests need on Debian or Ubuntu, says what it installs,
# and explains itself where it may not install. Rust itself must be there already.
set -eu

missing=''
need() { # need COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need verilator verilator
need iverilog iverilog
need yosys yosys
need g++ g++
# The proofs of `linkdoze verify` need an SMT solver; Debian's Z3 is too old, and its Yosys
# does not know cvc5.
if ! command -v cvc5 >/dev/null 2>&1 || ! yosys-smtbmc --help 2>/dev/null | grep -q cvc5; then
    need cvc4 cvc4
fi
need make make
# The tests compile Verilator's library once, not for each of their benches.
need ccache ccache
# The emitted constraints are Tcl.
need tclsh tcl
# Standard cells: static timing, and an open library of them.
need sta opensta
[ -e /usr/share/qflow/tech/osu018/osu018_stdcells.lib ] || missing="$missing qflow-tech-osu018"
# Traces in OTF2 are read through it.
need otf2-print otf2-tools
# The client in Python (tools/cocotb.sh) has a virtual environment of its own.
python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3 python3-venv"
# Waveforms in FST are compressed with zlib.
[ -e /usr/include/zlib.h ] || missing="$missing zlib1g-dev"

if ! command -v cargo >/dev/null 2>&1; then
    echo 'setup: no cargo found. Install Rust 1.88 or newer (https://rustup.rs) and try again.' >&2
    exit 2
fi
[ -n "$missing" ] || exit 0

echo "setup: missing:$missing"
if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup: this is not a Debian or Ubuntu system; install by hand:$missing" >&2
    exit 2
fi
if [ "$(id -u)" = 0 ]; then
    as_root=''
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root='sudo'
else
    echo 'setup: no right to install packages here. Run this once, then try again:' >&2
    echo "    sudo apt-get update && sudo apt-get install --no-install-recommends$missing" >&2
    exit 2
fi
echo "setup: installing$missing with apt-get"
$as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of packages
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
