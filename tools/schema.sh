#!/bin/sh
# Validates every preset and every file in sim/ with the JSON Schemas that linkdoze prints, and
# checks that the schemas refuse what is wrong, with an independent validator from PyPI in a
# virtual environment of its own.
# Usage: tools/schema.sh LINKDOZE
set -eu
linkdoze=$1
work=target/schema
mkdir -p "$work"
if ! [ -x "$work/venv/bin/python" ]; then
    python3 -m venv "$work/venv" || {
        echo 'schema: Python 3.11 with venv is needed (apt-get install python3-venv)' >&2
        exit 2
    }
fi
"$work/venv/bin/pip" -q install jsonschema==4.26.0
for kind in port scenario sweep; do
    "$linkdoze" schema "$kind" >"$work/$kind.json"
done
"$work/venv/bin/python" testbench/schema.py "$work"
