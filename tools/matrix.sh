#!/bin/sh
# The co-simulation matrix: every histogram on both scales, with both predicting policies and
# all sleep states, under constrained random activity, every output compared in every cycle.
# Time width, length of the miss history and seed rotate so that every histogram meets every
# value, and every history with the correction. So do narrow counters of the regular histogram,
# which halve often, the window of the circular one, the unit of misses, the backstop and the guard.
#
#     tools/matrix.sh LINKDOZE [CYCLES [EVERY]]
#
# CYCLES of each combination (20 million); only every EVERY-th combination (each).
# Two combinations run at a time. MATRIX_SEED is added to every seed.
set -eu

linkdoze=$1
cycles=${2:-20000000}
every=${3:-1}
out=${MATRIX_OUT:-target/matrix}
rm -rf "$out"
mkdir -p "$out"

# The configuration of one combination on standard output.
configuration() { # kind scale policy sleep time_width history counter_bits window miss_unit backstop burst
    case $5 in
    16) bin=256 ttl=50000 ;;
    *) bin=4096 ttl=5000000 ;;
    esac
    [ "$2" = linear ] || bin=1
    cat <<END
[port]
time_width = $5
policy = "$3"
sync_timeout_ns = 200
t_backstop_ns = ${10}
sleep = "$4"
hybrid_hold_ns = 900
[states.fast-wake]
t_w_ns = 75
t_s_ns = 40
[states.deep-sleep]
t_w_ns = 448
t_s_ns = 200
[histogram]
kind = "$1"
bin_scale = "$2"
bins = 256
bin_ns = $bin
counter_bits = $7
max_samples = 250
ttl_ns = $ttl
map_entries = 64
[perfbound]
bound = 0.05
window = "$8"
budget_step_ticks = ${12}
[correction]
history = $6
miss_unit = "$9"
[guard]
burst = ${11}
END
}

# Every combination on a line.
number=0
for kind in regular clearing circular map decaying; do
    place=0
    for policy in perfbound perfbound-correct; do
        for scale in linear log; do
            for sleep in fast-wake deep-sleep hybrid; do
                set -- 16 32 48 64
                shift $((place % 4))
                width=$1
                set -- 4 16 64
                shift $(((place + number) % 3))
                history=$1
                counters=8 window=held unit=fraction
                case $(((place + place / 3) % 2)):$kind:$policy in
                1:regular:*) counters=4 ;;
                1:circular:*) window=elapsed ;;
                esac
                case $((place / 2 % 2)):$policy in
                1:perfbound-correct) unit=percent ;;
                esac
                # Longer and shorter than most thresholds; no guard, and buckets that run empty.
                set -- 700 20000 '"off"'
                shift $(((place + place / 3 + number) % 3))
                backstop=$1
                set -- 0 1 6
                shift $(((place + place / 6 + number) % 3))
                burst=$1
                # Of a budget that is added up.
                step=1
                case $kind:$window in
                clearing:* | map:* | *:elapsed) step=$((1 << place % 7)) ;;
                esac
                if [ $(((place + number) % every)) = 0 ]; then
                    name=$kind-$scale-$policy-$sleep
                    configuration "$kind" "$scale" "$policy" "$sleep" "$width" "$history" \
                        "$counters" "$window" "$unit" "$backstop" "$burst" "$step" >"$out/$name.toml"
                    printf '%s ' "$name" "$kind" "$scale" "$policy" "$sleep" "$width" "$history" \
                        "$(echo "$backstop" | tr -d '"')" "$burst"
                    echo $((12 * number + place + 1 + ${MATRIX_SEED:-0}))
                fi
                place=$((place + 1))
            done
        done
    done
    number=$((number + 1))
done >"$out/combinations"

# One of them: a row of the table, and its whole report in a file.
row=$out/row.sh
cat >"$row" <<'END'
out=$1 linkdoze=$2 cycles=$3 name=$4 kind=$5 scale=$6 policy=$7 sleep=$8 width=$9
shift 9
history=$1 backstop=$2 burst=$3 seed=$4
if "$linkdoze" cosim "$out/$name.toml" --random --cycles "$cycles" --seed "$seed" --all \
    >"$out/$name.txt" 2>&1; then result=equal; else result=FAILED; fi
if [ "$kind" = regular ] && grep -Eq '^halving +-' "$out/$name.txt"; then
    result='FAILED: never halved'
fi
figure() { grep -o "$1:* [0-9][0-9]*" "$out/$name.txt" | head -n 1 | tr -dc "0-9"; }
printf '%-9s %-7s %-18s %-11s %5s %5s %8s %5s %5s %11s %9s %8s %10s  %s\n' \
    "$kind" "$scale" "$policy" "$sleep" "$width" "$history" "$backstop" "$burst" "$seed" \
    "$(figure cycles)" "$(figure hits)" "$(figure misses)" "$(figure mismatches)" "$result"
END
printf '%-9s %-7s %-18s %-11s %5s %5s %8s %5s %5s %11s %9s %8s %10s\n' \
    kind scale policy sleep width n_R backstop burst seed cycles hits misses mismatches
xargs -P 2 -L 1 sh "$row" "$out" "$linkdoze" "$cycles" <"$out/combinations" | tee "$out/table"

total=$(wc -l <"$out/combinations")
equal=$(grep -c ' 0  equal$' "$out/table" || true)
# A row that is missing is no equal one.
if [ "$total" = 0 ] || [ "$equal" != "$total" ]; then
    echo "$((total - equal)) of $total combinations FAILED or are missing; the reports are in $out"
    exit 1
fi
echo "$total combinations of $cycles cycles each: 0 mismatches"
