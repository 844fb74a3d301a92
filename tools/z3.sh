#!/bin/sh
# Installs Z3 from PyPI into target/z3 unless there is a z3, and prints the folder to put into the
# PATH. Debian's is too old (docs/evidence/proofs.md); without it proofs take CVC4, and several times
# as long.
set -eu
folder=target/z3/path
if ! command -v z3 >/dev/null 2>&1 && ! [ -x "$folder/z3" ]; then
    echo 'z3: installing z3-solver from PyPI into target/z3' >&2
    if python3 -m venv target/z3 >&2 && target/z3/bin/pip install --quiet z3-solver >&2; then
        # Beside it there are a python3 and a pip, which are not meant.
        mkdir -p "$folder"
        ln -sf ../bin/z3 "$folder/z3"
    else
        echo 'z3: no z3-solver from PyPI; going on with the solvers that are there' >&2
    fi
fi
echo "$PWD/$folder"
