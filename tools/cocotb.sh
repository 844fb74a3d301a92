#!/bin/sh
# The emitted Verilog beside a model that was written in Python from the specification alone, with
# cocotb from PyPI on Icarus Verilog and Verilator, in a virtual environment of its own. Runs that
# are done are kept in the folder and not repeated while nothing that they depend on changes.
#
#     tools/cocotb.sh LINKDOZE [FOLDER [OPTION...]]
#
# FOLDER is target/cocotb/runs; the options are those of testbench/cocotb/run.py.
set -eu
linkdoze=$1
folder=${2:-target/cocotb/runs}
[ $# -lt 2 ] || shift
shift
venv=target/cocotb/venv
wanted=testbench/cocotb/requirements.txt
if ! cmp -s "$wanted" "$venv/installed"; then
    echo "cocotb: installing $(tr '\n' ' ' <"$wanted")from PyPI into $venv" >&2
    rm -rf "$venv"
    if ! python3 -c 'import tomllib' 2>/dev/null || ! python3 -m venv "$venv"; then
        echo 'cocotb: Python 3.11 or newer with venv is needed (apt-get install python3-venv)' >&2
        exit 2
    fi
    "$venv/bin/pip" -q --disable-pip-version-check install -r "$wanted" || {
        echo "cocotb: pip could not install what $wanted names; is PyPI within reach?" >&2
        exit 2
    }
    cp "$wanted" "$venv/installed"
fi
export PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" testbench/cocotb/run.py "$linkdoze" "$folder" "$@"
