#!/bin/sh
# Frames end to end through parts that are not of this project: LiteEth's MAC and cocotbext-eth's XGMII
# sources and sinks, around the emitted port of Ethernet, in Icarus Verilog and Verilator; the same
# frames in `linkdoze simulate`. The parts come from PyPI, in a virtual environment of their own.
#
#     tools/ethernet.sh LINKDOZE [FOLDER [OPTION...]]
#
# FOLDER is target/ethernet/runs; the options are those of testbench/ethernet/run.py.
set -eu
linkdoze=$1
folder=${2:-target/ethernet/runs}
[ $# -lt 2 ] || shift
shift
venv=target/ethernet/venv
wanted=testbench/ethernet/requirements.txt
if ! cmp -s "$wanted" "$venv/installed"; then
    echo "ethernet: installing $(tr '\n' ' ' <"$wanted")from PyPI into $venv" >&2
    rm -rf "$venv"
    if ! python3 -c 'import tomllib' 2>/dev/null || ! python3 -m venv "$venv"; then
        echo 'ethernet: Python 3.11 or newer with venv is needed (apt-get install python3-venv)' >&2
        exit 2
    fi
    "$venv/bin/pip" -q --disable-pip-version-check install -r "$wanted" || {
        echo "ethernet: pip could not install what $wanted names; is PyPI within reach?" >&2
        exit 2
    }
    cp "$wanted" "$venv/installed"
fi
export PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" testbench/ethernet/run.py "$linkdoze" "$folder" "$@"
