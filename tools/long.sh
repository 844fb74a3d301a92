#!/bin/sh
# The long run: 10^10 compared clock cycles, and the idle time between them that is leapt over. Every
# round is the whole matrix (tools/matrix.sh) with other seeds. Rounds that this program has passed
# are not run again, so that the same command goes on after an interruption; the table at the end
# adds up all rounds.
#
#     tools/long.sh LINKDOZE [ROUNDS [CYCLES]]
#
# Seven rounds of 24 million cycles of each of the 60 combinations, three quarters of an hour on two cores.
set -eu

linkdoze=$1
rounds=${2:-7}
cycles=${3:-24000000}
out=${LONG_OUT:-target/long}
version="$(sha256sum "$linkdoze" | cut -d' ' -f1) $cycles"
mkdir -p "$out"

round=1
while [ "$round" -le "$rounds" ]; do
    folder=$out/round-$round
    if [ "$(cat "$out/round-$round.version" 2>/dev/null)" = "$version" ]; then
        echo "== round $round of $rounds: passed before"
    else
        echo "== round $round of $rounds"
        rm -f "$out/round-$round.version"
        MATRIX_OUT=$folder MATRIX_SEED=$((1000 * round)) \
            sh "$(dirname "$0")/matrix.sh" "$linkdoze" "$cycles"
        # Idle cycles that were not clocked, of every combination.
        for report in "$folder"/*.txt; do
            leapt=$(sed -n 's/^besides: \([0-9]*\) idle cycles.*/\1/p' "$report")
            echo "$(basename "$report" .txt) ${leapt:-0}"
        done >"$folder/leapt"
        echo "$version" >"$out/round-$round.version"
    fi
    round=$((round + 1))
done

# A part that is missing is not to be left out of the sum.
round=1
while [ "$round" -le "$rounds" ]; do
    for part in "$out/round-$round/table" "$out/round-$round/leapt"; do
        if [ ! -s "$part" ]; then
            echo "long: $part is missing: remove $out/round-$round.version and run this again" >&2
            exit 1
        fi
    done
    round=$((round + 1))
done

# Kinds in the order of the matrix; times at 1 ns a cycle.
round=1
while [ "$round" -le "$rounds" ]; do
    folder=$out/round-$round
    awk '{ print "row", $1, $10, $11, $12, $13 }' "$folder/table"
    awk '{ kind = $1; sub(/-.*/, "", kind); print "leapt", kind, $2 }' "$folder/leapt"
    round=$((round + 1))
done | awk '
    $1 == "row" {
        if (!($2 in runs)) order[++kinds] = $2
        runs[$2]++; cycles[$2] += $3; hits[$2] += $4; misses[$2] += $5; wrong[$2] += $6
    }
    $1 == "leapt" { leapt[$2] += $3 * 1e-9 }
    END {
        form = "%-9s %5s %12s %12s %11s %11s %10s\n"
        printf form, "kind", "runs", "cycles", "idle_time_s", "hits", "misses", "mismatches"
        for (i = 1; i <= kinds; i++) {
            k = order[i]
            printf form, k, runs[k], sprintf("%.0f", cycles[k]), sprintf("%.0f", leapt[k]), \
                sprintf("%.0f", hits[k]), sprintf("%.0f", misses[k]), sprintf("%.0f", wrong[k])
            all_runs += runs[k]; all_cycles += cycles[k]; all_leapt += leapt[k]
            all_hits += hits[k]; all_misses += misses[k]; all_wrong += wrong[k]
        }
        printf form, "all", all_runs, sprintf("%.0f", all_cycles), sprintf("%.0f", all_leapt), \
            sprintf("%.0f", all_hits), sprintf("%.0f", all_misses), sprintf("%.0f", all_wrong)
    }' >"$out/table.txt"
cat "$out/table.txt"
