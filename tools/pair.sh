#!/bin/sh
# Two ports on a cable, Verilog beside golden model, at every delay from 0 to 2000 clock
# cycles: every preset, with and without a guard of one packet, undisturbed and with each way of
# disturbing the link.
#
#     tools/pair.sh LINKDOZE [EVERY]
#
# Only every EVERY-th delay (each). `skew` is the most cycles by which the two ends began a
# transition apart; the peer `silent` leaves nothing that begins together.
set -eu
linkdoze=$1
every=${2:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP

pair() { # pair DELAYS
    if ! "$linkdoze" cosim "$folder/port.toml" --pair --peer "$peer" --json --delay "$1" \
        >>"$folder/reports" 2>"$folder/errors"; then
        cat "$folder/reports" "$folder/errors"
        exit 1
    fi
}

row='%-23s %-8s %6s %11s %9s %7s %7s %4s %7s %7s %10s %6s\n'
# shellcheck disable=SC2059 # the format of every row
printf "$row" preset peer delays cycles packets down up skew wait bound mismatches broken
presets=$("$linkdoze" presets)
for preset in $(echo "$presets" | cut -d' ' -f1 | sed 'p;s/$/+guard/'); do
    "$linkdoze" init --preset "${preset%+guard}" -o "$folder/port.toml" --force >/dev/null 2>&1
    # The ports of Ethernet agree about nothing by themselves.
    sed -i 's/^sync = "lpi"/sync = "messages"/' "$folder/port.toml"
    case $preset in
    *+guard) sed -i 's/^burst = 0/burst = 1/' "$folder/port.toml" ;;
    esac
    for peer in answers silent stops resets; do
        : >"$folder/reports"
        if [ "$every" = 1 ]; then
            pair 0..2000
        else
            for delay in $(seq 0 "$every" 2000); do pair "$delay"; done
        fi
        awk -v preset="$preset" -v peer="$peer" -v row="$row" '
            { key = $1; gsub(/[":]/, "", key); value = $2 + 0; sum[key] += value }
            value > most[key] { most[key] = value }
            END {
                printf row, preset, peer, sum["runs"], sum["cycles"], sum["packets"],
                    sum["transitions_down"], sum["transitions_up"],
                    most["largest_skew_cycles"] + 0, most["longest_wait_cycles"] + 0,
                    most["wait_bound_cycles"], sum["mismatches"], sum["broken_promises"]
            }' "$folder/reports"
    done
done
