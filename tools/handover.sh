#!/bin/sh
# What is handed over beside the Verilog, read by the tools that it is for: FuseSoC runs the targets
# of the emitted cores on Verilator and Icarus Verilog, and PeakRDL makes IP-XACT and a UVM register
# model of the emitted SystemRDL, and WaveDrom draws the diagrams of the data sheet. They come from PyPI,
# in a virtual environment of their own.
#
#     tools/handover.sh LINKDOZE [FOLDER [OPTION...]]
#
# FOLDER is target/handover/runs; the options are those of testbench/handover/run.py.
set -eu
linkdoze=$1
folder=${2:-target/handover/runs}
[ $# -lt 2 ] || shift
shift
venv=target/handover/venv
wanted=testbench/handover/requirements.txt
if ! cmp -s "$wanted" "$venv/installed"; then
    echo "handover: installing $(tr '\n' ' ' <"$wanted")from PyPI into $venv" >&2
    rm -rf "$venv"
    python3 -m venv "$venv" || {
        echo 'handover: Python 3.11 or newer with venv is needed (apt-get install python3-venv)' >&2
        exit 2
    }
    "$venv/bin/pip" -q --disable-pip-version-check install -r "$wanted" || {
        echo "handover: pip could not install what $wanted names; is PyPI within reach?" >&2
        exit 2
    }
    cp "$wanted" "$venv/installed"
fi
export PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" testbench/handover/run.py "$linkdoze" "$folder" "$@"
