#!/bin/sh
# The long co-simulation matrix: every preset under constrained random activity, five seeds
# of 20 million cycles each, every output compared in every cycle.
set -eu

linkdoze=$1
out=target/matrix
mkdir -p "$out"

failed=0
for preset in $("$linkdoze" presets | cut -d' ' -f1); do
    "$linkdoze" init --preset "$preset" -o "$out/$preset.toml" --force 2>/dev/null
    if result=$("$linkdoze" cosim "$out/$preset.toml" --random --cycles 20000000 --seed 1..5); then
        echo "$preset: $(echo "$result" | grep -E '^(hits|cycles|mismatches)' | tr '\n' ' ')"
    else
        failed=1
        echo "$preset: FAILED"
        echo "$result"
    fi
done
exit $failed
