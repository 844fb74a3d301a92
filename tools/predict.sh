#!/bin/sh
# `predict` with the golden model and with the Verilog, byte for byte: idle periods with a heavy
# tail (Pareto, alpha = 1.2, from 100 ticks to 2^20) and bursts of short gaps, for every kind of
# histogram with the correction; the circular one with both windows, misses in both units. Busy
# parts of some 90 ticks leave a regular histogram, whose counters are halved now and then, no time
# for the threshold of such a sample: models must agree all the same. Backstop and guard decide when
# the link sleeps, not what is predicted.
#
#     tools/predict.sh LINKDOZE [PERIODS]
#
# PERIODS of each kind (a million); they come from a seed and are the same every time.
set -eu
linkdoze=$1
periods=${2:-1000000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP

# A generator of its own (Park and Miller), so that every awk makes the same periods.
awk -v periods="$periods" '
    function random() { state = (state * 16807) % 2147483647; return state / 2147483647 }
    BEGIN {
        state = 1
        print "busy,idle"
        for (i = 0; i < periods; i++) {
            if (burst == 0 && random() < 0.01) burst = 10 + int(100 * random())
            if (burst > 0) {
                burst--
                idle = 1 + int(200 * random())
            } else {
                idle = int(100 * random() ^ (-1 / 1.2))
                if (idle > 1048576) idle = 1048576
            }
            print 60 + int(60 * random()) "," idle
        }
    }' >"$folder/periods.csv"

seconds() { date +%s.%N; }
row='%-16s %9s %8s %10s %9s %9s  %s\n'
# shellcheck disable=SC2059 # the format of every row
printf "$row" histogram periods misses thresholds golden_s rtl_s result
failed=0
for variant in regular clearing circular circular-elapsed map decaying decaying-percent; do
    kind=${variant%%-*} window=held unit=fraction
    case $variant in
    *-elapsed) window=elapsed ;;
    *-percent) unit=percent ;;
    esac
    cat >"$folder/port.toml" <<END
[port]
time_width = 32
policy = "perfbound-correct"
t_pdt_init_ns = 65536
t_backstop_ns = 5000
[guard]
burst = 3
[histogram]
kind = "$kind"
bins = 256
bin_ns = 256
max_value_ns = 65536
max_samples = 250
ttl_ns = 2000000
map_entries = 64
[perfbound]
hop_factor = 0.08
window = "$window"
[correction]
history = 16
miss_unit = "$unit"
END
    begin=$(seconds)
    for model in golden rtl; do
        "$linkdoze" predict "$folder/port.toml" --periods "$folder/periods.csv" --model $model \
            >"$folder/$model.csv"
        eval "after_$model=$(seconds)"
    done
    result=equal
    # An output without misses, or whose threshold stands still, would compare nothing.
    figures=$(awk -F, 'NR > 1 { misses += $3; if (!seen[$8]++) thresholds++ }
        END { print NR - 1, misses + 0, thresholds + 0 }' "$folder/golden.csv")
    # shellcheck disable=SC2086 # three figures
    set -- $figures
    if ! cmp "$folder/golden.csv" "$folder/rtl.csv"; then
        result=FAILED
    elif [ "$1" != "$periods" ] || [ "$2" = 0 ] || [ "$3" -lt 10 ]; then
        result='FAILED: nothing to compare'
    fi
    [ "$result" = equal ] || failed=1
    # shellcheck disable=SC2059,SC2154 # the format of every row; set by eval
    printf "$row" $variant "$@" "$(echo "$after_golden $begin" | awk '{ printf "%.1f", $1 - $2 }')" \
        "$(echo "$after_rtl $after_golden" | awk '{ printf "%.1f", $1 - $2 }')" "$result"
done
exit $failed
