#!/bin/sh
# Regenerates the tables of docs/evidence/area.md: what every feature costs.
#
#   tools/area.sh LINKDOZE > tables
#
# Seeds of place and route: SEEDS (5). Needs Yosys, nextpnr-ice40, nextpnr-ecp5 and python3.
set -eu

linkdoze=$1
seeds=${SEEDS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failed=0
. "$(dirname "$0")/changed-preset.sh"

row() { # row NAME KEY=VALUE...
    name=$1
    shift
    changed_preset "$linkdoze" "$work/port.toml" bxiv3-deep-sleep "$@"
    for target in ice40 ecp5; do
        if ! "$linkdoze" synth "$work/port.toml" --target $target --seeds "$seeds" --json \
            >"$work/$target.json" 2>"$work/error"; then
            printf '%s: %s\n' "$name" "$(cat "$work/error")" >&2
            failed=1
            echo null >"$work/$target.json"
        fi
    done
    python3 - "$name" "$work/ice40.json" "$work/ecp5.json" <<'PYTHON'
import json
import sys

cells = [sys.argv[1]]
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    if found is None:
        cells += ["-", "-"]
        continue
    mapping = found["mappings"][0]
    resources = mapping["resources"]
    parts = [resources["luts"], resources["flip_flops"], resources["memory_blocks"]]
    if "lut_memories" in resources:
        parts.append(resources["lut_memories"])
    cells.append(" / ".join(map(str, parts)))
    fmax = mapping["timing"].get("fmax_mhz")
    cells.append("-" if fmax is None else
                 f"{fmax['median']:.0f} ({fmax['min']:.0f} to {fmax['max']:.0f})")
print("| " + " | ".join(cells) + " |", flush=True)
PYTHON
}

echo '| controller | iCE40: LUT / FF / RAM | Fmax, MHz | ECP5: LUT / FF / RAM / LUT-RAM | Fmax, MHz |'
echo '| --- | --- | --- | --- | --- |'
# shellcheck disable=SC2086 # a list of changes
{
    row 'fixed threshold' 'sync="levels"' 't_backstop_ns="off"' 'policy="fixed"'
    row 'clearing histogram (base)' $base
    row 'backstop' $base 't_backstop_ns=4194304'
    row 'regular' $base 'kind="regular"'
    row 'circular, 250 samples' $base 'max_samples=250' 'kind="circular"'
    row 'decaying' $base 'kind="decaying"'
    row 'map, 64 entries' $base 'kind="map"'
    row 'logarithmic bins' $base 'bin_scale="log"'
    row 'corrected, 16 ratios' $base 'policy="perfbound-correct"'
    row 'messages between the ends' $base 'sync="messages"'
    row 'messages and a guard' $base 'sync="messages"' 'burst=4'
    row 'registers' $base 'registers=true'
    row 'hop monitor' $base 'hops="measured"'
    row 'hybrid sleep' $base 'sleep="hybrid"'
    row '24-bit times' $base 'time_width=24' 'ttl_ns=10000000' 'sync_timeout_ns=10000'
    row '48-bit times' $base 'time_width=48'
}
exit $failed
