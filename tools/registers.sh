#!/bin/sh
# Checks emitted registers with independent tools from PyPI, in a virtual environment of
# their own: the SystemRDL compiler, and cocotb with cocotbext-axi on Icarus Verilog.
# Usage: tools/registers.sh LINKDOZE
set -eu
linkdoze=$1
work=target/registers
mkdir -p "$work"
if ! [ -x "$work/venv/bin/python" ]; then
    python3 -m venv "$work/venv" || {
        echo 'registers: Python 3 with venv is needed (apt-get install python3-venv)' >&2
        exit 2
    }
fi
"$work/venv/bin/pip" -q install cocotb==2.1.0 cocotbext-axi==0.1.28 systemrdl-compiler==1.33.0
"$linkdoze" init --preset bxiv3-hybrid -o "$work/port.toml" --force
sed -i -e 's/^registers = .*/registers = true/' -e 's/^sync = .*/sync = "levels"/' "$work/port.toml"
"$linkdoze" generate "$work/port.toml" -o "$work/one" >/dev/null
"$linkdoze" generate "$work/port.toml" --ports 3 -o "$work/three" >/dev/null
for folder in one three; do
    "$work/venv/bin/python" testbench/registers/run.py "$work/$folder"
done
