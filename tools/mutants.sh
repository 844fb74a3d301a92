#!/bin/sh
# Single faults in all modules that can be emitted: one preset as it is, and small configurations for
# the modules and the kinds of histograms that it does not have. Each is run under the random activity
# of `cosim --random`; of what does not show, solvers are asked whether it is a fault. Parts that this
# program has tried are not tried again, so that the same command goes on after an interruption. It
# ends with a table, and a list of all faults that survive.
#
#     tools/mutants.sh LINKDOZE [STEP]
#
# One in STEP faults (each); where that takes longest, a fourth fewer.
set -eu

linkdoze=$1
step=${2:-1}
out=${MUTANTS_OUT:-target/mutants}
mkdir -p "$out"

# A port with short times, so that few cycles reach everything.
small() { # kind policy registers bound l burst
    cat <<END
[clock]
tick_ns = 3
[port]
time_width = 16
policy = "$2"
sleep = "hybrid"
t_pdt_init_ns = 600
hybrid_hold_ns = 150
sync = "messages"
sync_timeout_ns = 60
registers = $3
[states.fast-wake]
t_w_ns = 30
t_s_ns = 20
[states.deep-sleep]
t_w_ns = 90
t_s_ns = 60
t_q_ns = 200
t_r_ns = 25
[histogram]
kind = "$1"
bins = 32
bin_ns = 48
counter_bits = 8
max_samples = 40
ttl_ns = 12000
map_entries = 8
max_value_ns = 1536
[perfbound]
bound = $4
$5
hop_window = 16
[correction]
history = 5
[guard]
burst = $6
END
}

# Tries the faults of a configuration in these modules.
try() { # name cycles modules [step]
    echo "== $1: $3"
    status=0
    # All that the results depend on.
    key=$({
        sha256sum <"$linkdoze"
        cat "$out/$1.toml"
        echo "$2 $3 ${4:-$step}"
        { z3 --version; yosys -V; verilator --version; } 2>&1
    } | sha256sum | cut -c1-16)
    "$linkdoze" mutate "$out/$1.toml" --cycles "$2" ${3:+--only "$3"} --step "${4:-$step}" \
        -o "$out/$1-$key.json" --json >"$out/$1.found" || status=$?
    # Too few that show are for the table to say.
    [ "$status" -le 1 ] || exit "$status"
}

"$linkdoze" init --preset bxiv3-deep-sleep -o "$out/bxiv3-deep-sleep.toml" --force >/dev/null 2>&1
small circular perfbound false 0.2 'hop_factor = 0.1' 0 >"$out/circular.toml"
# Bins of one clock, some of them out of reach: samples of different bins can be two cycles apart.
short_bins() { # ticks of the time to live
    sed "s/^tick_ns = .*/tick_ns = 1/; s/^bin_ns = .*/bin_ns = 1/; s/^max_value_ns = .*/max_value_ns = 26/
        s/^t_pdt_init_ns = .*/t_pdt_init_ns = 20/; s/^ttl_ns = .*/ttl_ns = $1/"
}
# So small a bound that the highest bin can exceed the budget, too. A sample can come for a bin that is
# yet to be halved, and halving ends before the last.
small regular perfbound false 0.02 'hop_factor = 0.01' 0 | short_bins 12000 >"$out/regular.toml"
# Windows so long that they saturate, and budgets so large that a full counter makes a difference.
small decaying perfbound false 0.2 'hop_factor = 0.1' 0 | short_bins 60000 >"$out/decaying.toml"
grep -q '^max_value_ns = 26' "$out/regular.toml"
grep -q '^ttl_ns = 60000' "$out/decaying.toml"
small map perfbound false 0.2 'hop_factor = 0.1' 0 |
    sed 's/^ttl_ns = .*/ttl_ns = 180000/; s/^counter_bits = .*/counter_bits = 4/' >"$out/map.toml"
grep -q '^ttl_ns = 180000' "$out/map.toml"
grep -q '^counter_bits = 4' "$out/map.toml"
# A search takes longer than a bin is wide, so that a sample can move the entry that answers.
small map perfbound true 0.2 'hops = "measured"' 0 | short_bins 12000 >"$out/map-fine.toml"
grep -q '^bin_ns = 1$' "$out/map-fine.toml"
"$linkdoze" init --preset bxiv3-hybrid -o "$out/bxiv3-hybrid.toml" --force >/dev/null 2>&1
# At the scale of the preset: where a tick is much of a threshold, the least bits of the logarithms
# make no difference to it.
sed -e 's/^policy = .*/policy = "perfbound-correct"/' -e 's/^burst = .*/burst = 2/' \
    "$out/bxiv3-deep-sleep.toml" >"$out/correction.toml"
grep -q '^policy = "perfbound-correct"' "$out/correction.toml"
grep -q '^burst = 2' "$out/correction.toml"
small clearing perfbound false 0.2 'hop_factor = 0.1' 2 >"$out/guard.toml"
small clearing perfbound true 0.2 'hops = "measured"' 2 >"$out/registers.toml"
small clearing perfbound false 0.2 'hop_factor = 0.1' 0 |
    sed 's/^hop_window = .*/&\nbudget_step_ticks = 16/' >"$out/steps.toml"
grep -q '^budget_step_ticks' "$out/steps.toml"

try bxiv3-deep-sleep 20M ''
# What the other presets have besides.
try bxiv3-hybrid 20M lpi_fsm
try steps 6M perfbound,packets_of_ticks,parts_of_ticks
try circular 4M histogram_circular,counter_store
try regular 4M histogram_regular,counter_store,perfbound
try decaying 4M histogram_decaying,counter_store,counter_store_stores_1
try map 20M histogram_map,map_entry,map_entry_lowest
try map-fine 6M histogram_map,map_entry
# Few tokens, which are soon used up.
try guard 6M guard
fewer=$((step + step / 4))
try registers 6M axi_lite,csr,event_counters,budget_rate,hop_monitor,hop_reciprocal,port $fewer
# The slowest: most of what does not show here is none, and takes solvers long.
try correction 20M corrector,miss_history,logarithm,digit_step,quotient_step,exp2_offset,exp2_slope,\
log2_offset,log2_slope,log2_rate,normalise_1,normalise_2,normalise_4,normalise_8,normalise_16,lpi_fsm $fewer

python3 - "$out" <<'PYTHON'
import json
import pathlib
import sys

out = pathlib.Path(sys.argv[1])
names = "bxiv3-deep-sleep bxiv3-hybrid steps circular regular decaying map map-fine correction guard registers".split()
rows, left, kinds = [], [], {}
for name in names:
    modules = {}
    for mutant in json.loads((out / f"{name}.found").read_text())["mutants"]:
        fate = {"killed": "show", "fails": "show"}.get(mutant["fate"], mutant["fate"])
        for counts in (modules.setdefault(mutant["module"], {}), kinds.setdefault(mutant["kind"], {})):
            counts[fate] = counts.get(fate, 0) + 1
        if fate == "survived":
            left.append((name, mutant["module"], mutant["place"], mutant["from"], mutant["to"]))
    rows += [(name, module, counts) for module, counts in modules.items()]


def line(name, module, counts):
    show, none, survive = (counts.get(key, 0) for key in ("show", "equivalent", "survived"))
    print(f"{name:17} {module:22} {show + none + survive:6} {show:6} {none:10} {survive:7}")
    return show, none, survive


print(f"{'configuration':17} {'module':22} {'faults':>6} {'show':>6} {'equivalent':>10} {'survive':>7}")
sums = [line(*row) for row in rows]
show, none, survive = (sum(column) for column in zip(*sums))
line("all", "", {"show": show, "equivalent": none, "survived": survive})
print()
for kind, counts in kinds.items():
    line("", kind, counts)
print()
for place in left:
    print("survives: {}, {}, {}: {} -> {}".format(*place))
print(f"{show} of {show + survive} faults show ({100 * show / (show + survive):.2f} %); "
      f"{none} more are proved to be none")
sys.exit(show < 0.99 * (show + survive))
PYTHON
