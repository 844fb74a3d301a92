#!/bin/sh
# Proves what the Verilog of every preset claims, with and without a guard, one port and two at the
# ends of a cable, and that wrong answers, backstops and guards are not proved. Z3 comes from PyPI if there is none: Debian's
# is too old (docs/evidence/proofs.md).
#
#     tools/verify.sh LINKDOZE
set -eu
linkdoze=$1

PATH="$(sh tools/z3.sh):$PATH"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for preset in $("$linkdoze" presets | cut -d' ' -f1); do
    "$linkdoze" init --preset "$preset" -o "$folder/port.toml" --force >/dev/null 2>&1
    echo "== $preset"
    # Of faults, the proof with a guard says more: there the guard does what it likes.
    "$linkdoze" verify "$folder/port.toml" --traces "$folder" --without-faults
    echo "== $preset, guard of 4 packets"
    sed -i 's/^burst = 0/burst = 4/' "$folder/port.toml"
    "$linkdoze" verify "$folder/port.toml" --traces "$folder"
done

# The last preset, with its guard, after one change of one file.
wrong() { # wrong WHAT FILE FROM TO
    echo "== $1"
    rm -rf "$folder/rtl"
    "$linkdoze" generate "$folder/port.toml" -o "$folder/rtl" >/dev/null 2>&1
    grep -qF "$3" "$folder/rtl/$2"
    python3 - "$folder/rtl/$2" "$3" "$4" <<'PYTHON'
import pathlib
import sys

path = pathlib.Path(sys.argv[1])
path.write_text(path.read_text().replace(sys.argv[2], sys.argv[3]))
PYTHON
    status=0
    "$linkdoze" verify "$folder/port.toml" --rtl "$folder/rtl" --traces "$folder" --depth 3 \
        >"$folder/report" 2>&1 || status=$?
    if [ $status != 1 ] || ! grep -E 'FAILED|UNKNOWN' "$folder/report"; then
        cat "$folder/report"
        echo "verify: it should not be proved (exit status 1), but ended with $status"
        exit 1
    fi
    echo 'not proved, as it should be'
}

wrong 'an end that agrees to go down while it has packets' link_sync.v \
    'refuses = queue_nonempty | transmitting | ' 'refuses = '
wrong 'a backstop that never fires' pdt_timer.v 'at_backstop = tick & ' "at_backstop = 1'b0 & "
wrong 'an end that asks only once' link_sync.v \
    'asks_down = wants_down | (overdue & timed_out)' 'asks_down = wants_down'
wrong 'a bucket that refills twice' guard.v 'refilled = part_q + GAIN' 'refilled = part_q + GAIN + GAIN'
