#!/bin/sh
# Proves what the Verilog of every preset claims, one port and two at the ends of a cable, and
# that a wrong answer to REQ_DOWN is not proved. Z3 comes from PyPI if there is none: Debian's
# is too old (docs/proofs.md).
#
#     tools/verify.sh LINKDOZE
set -eu
linkdoze=$1

if ! command -v z3 >/dev/null 2>&1; then
    if ! [ -x target/z3/bin/z3 ]; then
        echo 'verify: installing z3-solver from PyPI into target/z3'
        python3 -m venv target/z3 && target/z3/bin/pip install --quiet z3-solver ||
            echo 'verify: no z3-solver from PyPI; going on with what is there' >&2
    fi
    PATH="$PWD/target/z3/bin:$PATH"
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for preset in $("$linkdoze" presets | cut -d' ' -f1); do
    "$linkdoze" init --preset "$preset" -o "$folder/port.toml" --force >/dev/null 2>&1
    echo "== $preset"
    "$linkdoze" verify "$folder/port.toml" --traces "$folder"
done

echo '== an end that agrees to go down while it has packets'
"$linkdoze" generate "$folder/port.toml" -o "$folder/rtl" >/dev/null
sed -i 's/refuses = queue_nonempty | transmitting |/refuses =/' "$folder/rtl/link_sync.v"
grep -q 'refuses = ~may_go_down' "$folder/rtl/link_sync.v"
status=0
"$linkdoze" verify "$folder/port.toml" --rtl "$folder/rtl" --traces "$folder" --depth 3 \
    >"$folder/report" || status=$?
if [ $status != 1 ] || ! grep -E 'FAILED|UNKNOWN' "$folder/report"; then
    cat "$folder/report"
    echo "verify: it should not be proved (exit status 1), but ended with $status"
    exit 1
fi
echo 'not proved, as it should be'
