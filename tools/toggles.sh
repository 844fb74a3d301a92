#!/bin/sh
# What changes in a controller while its link is idle and while it sleeps: the table of
# docs/evidence/asic.md. Counted in the Verilog, in a waveform of a co-simulation.
#
#     tools/toggles.sh LINKDOZE
set -eu

linkdoze=$1
out=target/toggles
mkdir -p "$out"

# Two idle periods that begin with 640 ns awake, whatever the configuration's first threshold.
printf 'busy,idle\n200,40000\n200,40000\n' >"$out/periods.csv"

row() { # row NAME PRESET SED
    "$linkdoze" init --preset "$2" -o "$out/port.toml" --force >/dev/null 2>&1
    sed -i "s/^t_pdt_init_ns = [0-9.]*/t_pdt_init_ns = 640/; $3" "$out/port.toml"
    "$linkdoze" cosim "$out/port.toml" --periods "$out/periods.csv" --wave "$out/wave.vcd" \
        >"$out/log" 2>&1 || {
        cat "$out/log" >&2
        exit 1
    }
    python3 tools/toggles.py "$1" "$out/wave.vcd"
}

echo '| controller | register bits | change in a cycle awake | asleep | of all | which, asleep |'
echo '| --- | --- | --- | --- | --- | --- |'
presets=$("$linkdoze" presets)
for preset in $(echo "$presets" | cut -d' ' -f1); do
    row "\`$preset\`" "$preset" ''
    row "... \`budget_step_ticks = 16\`" "$preset" 's/^hop_window = .*/&\nbudget_step_ticks = 16/'
done
row 'guard of 4 packets' bxiv3-deep-sleep 's/^burst = 0/burst = 4/'
row 'decaying' bxiv3-deep-sleep 's/^kind = "clearing"/kind = "decaying"/'
row 'circular' bxiv3-deep-sleep 's/^kind = "clearing"/kind = "circular"/'
row 'registers' bxiv3-deep-sleep 's/^registers = false/registers = true/'
