#!/bin/sh
# Proves that what Yosys synthesises does what the Verilog does, block by block: every preset, and
# every kind of histogram with registers, for iCE40 and for generic gates. Then it co-simulates a
# netlist, and sees that one of wrong Verilog differs.
#
#     tools/netlists.sh LINKDOZE
set -eu
linkdoze=$1

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP
compare() { # compare WHAT TARGET
    echo "== $1, $2"
    "$linkdoze" netlist "$folder/port.toml" --target "$2"
}

presets=$("$linkdoze" presets)
for preset in $(echo "$presets" | cut -d' ' -f1); do
    "$linkdoze" init --preset "$preset" -o "$folder/port.toml" --force >/dev/null 2>&1
    for target in generic ice40; do
        compare "$preset" "$target"
    done
done

# The presets have one kind of histogram. Memories small enough for the proof.
for kind in regular circular map decaying; do
    cat >"$folder/port.toml" <<END
[port]
time_width = 16
policy = "perfbound-correct"
[histogram]
kind = "$kind"
bins = 16
bin_ns = 256
counter_bits = 6
max_samples = 20
ttl_ns = 20000
map_entries = 8
[correction]
history = 4
[guard]
burst = 4
END
    compare "$kind, with correction and guard" ice40
done

echo '== co-simulation of a netlist'
"$linkdoze" init --preset bxiv3-deep-sleep -o "$folder/port.toml" --force >/dev/null 2>&1
"$linkdoze" netlist "$folder/port.toml" --target ice40 -o "$folder/netlist" >/dev/null
"$linkdoze" cosim "$folder/port.toml" --random --cycles 5M --rtl "$folder/netlist"

echo '== a netlist of wrong Verilog'
"$linkdoze" generate "$folder/port.toml" -o "$folder/rtl" >/dev/null 2>&1
sed -i 's/new_count = count + /new_count = count - /' "$folder/rtl/counter_store.v"
status=0
"$linkdoze" netlist "$folder/port.toml" --target generic --rtl "$folder/rtl" >"$folder/report" ||
    status=$?
if [ $status != 1 ] || ! grep 'counter_store .* DIFFERENT' "$folder/report"; then
    cat "$folder/report"
    echo "netlists: the wrong block should differ (exit status 1), but it ended with $status"
    exit 1
fi
