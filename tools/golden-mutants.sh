#!/bin/sh
# Single faults in the golden models, made by cargo-mutants: how many would the co-simulation find?
#
#     tools/golden-mutants.sh LINKDOZE [SHARE]
#
# SHARE is 0/4 for the first of four shares of the faults, 1/4 for the second...; without it, all.
#
# The whole program takes minutes to compile, so the golden models are copied into a small crate that
# takes seconds (testbench/golden-mutants/assemble.py). The Verilog is not compiled with each of them
# either: co-simulations of several configurations are recorded once (examples/record.rs), and each
# faulty model is driven by the driver of the co-simulation as the sound one was. It is found if it
# differs from what the Verilog did. Where the record does not say what the Verilog would have done
# (testbench/golden-mutants/replay.rs), a run counts as one that does not find the fault.
#
# The same command goes on where it was interrupted. Where there are records since that were not there
# before, a further round tries with these what the earlier rounds left; what was found once counts as
# found until a golden model changes. It ends with a table, and a list of all faults that survive. Which
# functions are left out, and why: testbench/golden-mutants/mutants.toml.
set -eu

linkdoze=$1
share=${2:-0/1}
out=${GOLDEN_MUTANTS_OUT:-target/golden-mutants}
command -v cargo-mutants >/dev/null ||
    { echo 'golden-mutants: cargo-mutants is missing: cargo install cargo-mutants --locked' >&2; exit 2; }
mkdir -p "$out/runs"

# A port with short times, so that few cycles reach everything.
small() { # kind policy sleep sync registers hops burst
    cat <<TOML
[clock]
tick_ns = 3
[port]
time_width = 16
policy = "$2"
sleep = "$3"
t_pdt_ns = 240
t_pdt_init_ns = 600
t_backstop_ns = 900
hybrid_hold_ns = 150
sync = "$4"
sync_timeout_ns = 60
registers = $5
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
bin_scale = "linear"
bins = 32
bin_ns = 48
counter_bits = 8
max_samples = 40
ttl_ns = 12000
map_entries = 8
max_value_ns = 1536
[perfbound]
bound = 0.2
$6
hop_window = 256
window = "held"
[correction]
history = 5
mode = "at-least-one"
miss_unit = "fraction"
fraction_bits = 10
[guard]
burst = $7
TOML
}

# Changes keys of the configuration that is read.
with() { # key = value...
    sed_script=
    for change in "$@"; do
        sed_script="$sed_script;s/^${change%% =*} = .*/$change/"
    done
    sed "$sed_script"
}

factor='hop_factor = 0.1'
measured='hops = "measured"'
hop2='hops = [[2, 0.5], [4, 0.5]]'
configure() { cat >"$out/runs/$1.toml"; }
small clearing perfbound-correct hybrid messages true "$measured" 2 | configure registers
small circular perfbound hybrid messages false "$factor" 0 | configure circular
small circular perfbound deep-sleep levels false "$factor" 0 |
    with 'window = "elapsed"' 'tick_ns = 1' 'time_width = 12' 't_backstop_ns = "off"' \
        'ttl_ns = 0' 'bin_ns = 32' 'max_value_ns = 1024' | configure elapsed
# So small a bound that the highest bin can exceed the budget, too.
small regular perfbound hybrid messages false 'hop_factor = 0.01' 2 |
    with 'bound = 0.02' 'counter_bits = 4' | configure regular
small decaying perfbound fast-wake levels false "$factor" 0 | configure decaying
small map perfbound hybrid messages false "$factor" 0 |
    with 'bin_scale = "log"' 'bin_ns = 3' | configure map
small clearing perfbound-correct hybrid levels false "$hop2" 0 |
    with 'bin_scale = "log"' 'bin_ns = 3' 'history = 16' \
        'mode = "raw"' 'fraction_bits = 14' | configure levels
small clearing perfbound hybrid messages false "$measured" 1 | configure measured
small clearing fixed deep-sleep messages false "$factor" 1 |
    with 'tick_ns = 1' 'bin_ns = 64' 'max_value_ns = 2048' | configure fixed
small clearing fixed fast-wake levels true "$factor" 0 | configure fixed-registers
small clearing always-on hybrid messages false "$factor" 0 | configure always-on
small circular perfbound-correct hybrid levels true "$factor" 0 | configure circular-registers
small regular perfbound deep-sleep messages true "$factor" 2 | configure regular-registers
small decaying perfbound hybrid messages true "$measured" 0 | configure decaying-registers
small map perfbound fast-wake messages true "$factor" 0 | configure map-registers
# Times and windows that reach the largest ones soon.
small regular perfbound deep-sleep levels false 'hop_factor = 0.01' 0 |
    with 'time_width = 10' 'bound = 0.02' 'ttl_ns = 0' | configure narrow
small clearing fixed fast-wake levels false "$factor" 0 |
    with 'time_width = 8' 't_pdt_ns = 765' 'bins = 4' 'max_value_ns = 192' 't_backstop_ns = "off"' \
        't_pdt_init_ns = 192' 'ttl_ns = 0' | configure fixed-narrow
# Each direction of the link sleeps for itself; pins that switch sleep off, wake the link, or say that
# there is none; times that software changes; registers in copies; no refresh.
and() { # keys of the port
    sed "s/^registers = .*/&\n$1/"
}
# The last group of bins is not full.
small clearing perfbound-correct deep-sleep lpi true "$measured" 2 |
    with 'bins = 30' 'max_value_ns = 1440' | and 'control_pins = true' | configure lpi
small map perfbound deep-sleep lpi false "$factor" 0 | configure lpi-map
small clearing fixed hybrid lpi false "$factor" 2 | and 'control_pins = true' | configure lpi-fixed
small circular perfbound-correct hybrid messages true "$measured" 2 |
    and 'control_pins = true\ntiming_range = 4\ntriple_redundancy = true' | configure controls
small clearing perfbound hybrid messages false "$factor" 2 |
    and 'control_pins = true' | configure controls-plain
small decaying perfbound deep-sleep levels true "$factor" 0 |
    and 'control_pins = true' | configure controls-levels
small clearing fixed hybrid levels false "$factor" 0 |
    and 'control_pins = true\ntriple_redundancy = true' | sed '/^t_[qr]_ns/d' | configure controls-fixed
# Ports whose flags are in the upper word of all.
small clearing fixed fast-wake messages true "$factor" 0 | configure many
# More bins than counters are compared.
small clearing perfbound fast-wake levels false "$factor" 0 |
    with 'bins = 2048' 'bin_ns = 3' 'max_value_ns = 6144' | configure bins
# Times of more than a word.
small clearing perfbound hybrid messages true "$measured" 0 |
    with 'time_width = 48' 'ttl_ns = 30000000000' | configure wide
# At the scale of the preset: where a tick is much of a threshold, the least bits of the logarithms
# make no difference to it.
"$linkdoze" init --preset bxiv3-deep-sleep -o "$out/runs/preset.toml" --force >/dev/null 2>&1
with 'policy = "perfbound-correct"' 'burst = 2' <"$out/runs/preset.toml" | configure correction
grep -q '^policy = "perfbound-correct"' "$out/runs/correction.toml"
with 'policy = "perfbound-correct"' 'registers = true' 'miss_unit = "percent"' \
    <"$out/runs/preset.toml" | configure preset-registers
grep -q '^registers = true' "$out/runs/preset-registers.toml"

# Name, configuration, cycles, seed, activity; those that find most come first.
cat >"$out/runs/list" <<'LIST'
registers registers 1000000 1 random
circular circular 500000 1 random
regular regular 500000 1 random
decaying decaying 500000 1 random
map map 500000 1 random
levels levels 1000000 1 random
measured measured 500000 1 random
fixed fixed 500000 1 random
elapsed elapsed 500000 1 random
circular-registers circular-registers 1000000 1 random
regular-registers regular-registers 1000000 1 random
decaying-registers decaying-registers 1000000 1 random
map-registers map-registers 1000000 1 random
fixed-registers fixed-registers 1000000 1 random
switch registers 300000 1 ports=3
many-ports many 60000 1 ports=34
wide wide 1000000 1 random
narrow narrow 500000 1 random
fixed-narrow fixed-narrow 500000 1 random
bins bins 100000 1 random
preset-registers preset-registers 1000000 1 random
always-on always-on 100000 1 random
correction correction 4000000 1 random
registers-clocked registers 1000000 2 clocked
circular-clocked circular 500000 2 clocked
elapsed-clocked elapsed 500000 2 clocked
regular-clocked regular 500000 2 clocked
decaying-clocked decaying 500000 2 clocked
map-clocked map 500000 2 clocked
levels-clocked levels 500000 2 clocked
measured-clocked measured 500000 2 clocked
fixed-clocked fixed 500000 2 clocked
narrow-clocked narrow 4000000 2 clocked
fixed-narrow-clocked fixed-narrow 500000 2 clocked
regular-line-rate regular-registers 300000 1 line-rate
registers-long registers 8000000 3 random
levels-long levels 4000000 3 random
circular-long circular 4000000 3 random
regular-long regular 4000000 3 random
decaying-long decaying-registers 4000000 3 random
map-long map-registers 4000000 3 random
lpi lpi 1000000 1 random
lpi-clocked lpi 500000 2 clocked
lpi-map lpi-map 500000 1 random
lpi-fixed lpi-fixed 500000 1 random
lpi-fixed-clocked lpi-fixed 500000 2 clocked
controls controls 2000000 1 random
controls-clocked controls 500000 2 clocked
controls-plain controls-plain 1000000 1 random
controls-plain-clocked controls-plain 500000 2 clocked
controls-levels controls-levels 1000000 1 random
controls-levels-clocked controls-levels 500000 2 clocked
controls-fixed controls-fixed 1000000 1 random
controls-fixed-clocked controls-fixed 500000 2 clocked
controls-switch controls 300000 1 ports=3
LIST

# Records what is not recorded, or was by another program.
cargo build --release --locked --example record
version=$(sha256sum <target/release/examples/record | cut -c1-16)
while read -r name configuration cycles seed kind; do
    toml=$out/runs/$configuration.toml
    key="$version $(sha256sum <"$toml" | cut -c1-16) $cycles $seed $kind"
    [ "$(cat "$out/runs/$name.key" 2>/dev/null)" = "$key" ] || {
        target/release/examples/record "$toml" "$out/runs/$name" "$cycles" "$seed" "$kind"
        echo "$key" >"$out/runs/$name.key"
    }
done <"$out/runs/list"

# What is known of the faults of the golden models as they are.
crate=$out/crate
names=$(cut -d' ' -f1 "$out/runs/list")
# shellcheck disable=SC2086 # a name each
python3 testbench/golden-mutants/assemble.py . "$crate" $names
key=$({
    cat testbench/golden-mutants/mutants.toml
    find "$crate/src" -name golden.rs | LC_ALL=C sort | xargs cat
} | sha256sum | cut -c1-16)
results=$out/results-$key
mkdir -p "$results"

# The pieces of a round, so that little is lost by an interruption. The first round has a share of all
# faults, a later one what the shares so far have left: end all shares of the first round before records
# are added. What a later share leaves after that is not tried with them, and counts as left.
pieces_of() { # round
    if [ "$1" = 1 ]; then
        pieces=48
        mine=$(seq "${share%%/*}" "${share##*/}" 47)
    else
        pieces=8
        mine=$(seq 0 7)
    fi
}
finished() { # round
    pieces_of "$1"
    for piece in $mine; do
        [ -e "$results/$1/$piece/done" ] || return 1
    done
}
round=1
: >"$results/known"
while finished "$round"; do
    cat "$results/$round/records" >>"$results/known"
    round=$((round + 1))
done
replay=$(sha256sum <testbench/golden-mutants/replay.rs | cut -c1-16)
for name in $names; do
    echo "$name $(cat "$out/runs/$name.key") $replay"
done | LC_ALL=C sort >"$results/present"

# A round that was interrupted goes on with its records; one whose records are gone begins anew.
records=$results/$round/records
if [ ! -s "$records" ] || [ -n "$(LC_ALL=C comm -23 "$records" "$results/present")" ]; then
    rm -rf "${results:?}/$round"
    mkdir "$results/$round"
    LC_ALL=C sort "$results/known" | LC_ALL=C comm -13 - "$results/present" >"$records"
    cp testbench/golden-mutants/mutants.toml "$results/$round/mutants.toml"
    [ "$round" = 1 ] ||
        python3 testbench/golden-mutants/table.py left "$crate" "$results" >>"$results/$round/mutants.toml"
fi
if [ -s "$records" ]; then
    # The sound models do what the Verilog did, all of it.
    pattern='^('$(cut -d' ' -f1 "$records" | paste -sd'|')') '
    names=$(grep -E "$pattern" "$out/runs/list" | cut -d' ' -f1)
    # shellcheck disable=SC2086 # a name each
    python3 testbench/golden-mutants/assemble.py . "$crate" $names
    manifest=$crate/Cargo.toml
    # An interrupted compiler leaves what does not fit together.
    cargo clean --quiet --manifest-path "$manifest" -p golden-mutants
    cargo test --quiet --manifest-path "$manifest" -- --nocapture >"$out/sound" 2>&1 ||
        { cat "$out/sound"; exit 1; }
    if grep '^unsettled' "$out/sound"; then exit 1; fi

    pieces_of "$round"
    for piece in $mine; do
        folder=$results/$round/$piece
        if [ -e "$folder/done" ]; then continue; fi
        rm -rf "$folder"
        mkdir "$folder"
        status=0
        cargo mutants --in-place --dir "$crate" --config "$results/$round/mutants.toml" \
            --baseline skip --timeout 3600 --shard "$piece/$pieces" --sharding round-robin \
            --output "$folder" --no-shuffle --colors never || status=$?
        # 2: some survive; 3: some did not end.
        case $status in 0 | 2 | 3) touch "$folder/done" ;; *) exit "$status" ;; esac
    done
fi

python3 testbench/golden-mutants/table.py table "$crate" "$results"
