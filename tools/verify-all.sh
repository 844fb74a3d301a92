#!/bin/sh
# Everything that checks the Verilog: co-simulation, mutation, proofs, netlists, coverage, the client
# in Python. It ends with a table. What has passed with this program is not run again, so that the
# same command goes on after an interruption.
#
#     tools/verify-all.sh LINKDOZE
set -eu
linkdoze=$1
. "$(dirname "$0")/changed-preset.sh"
out=${VERIFY_ALL_OUT:-target/verify-all}
mkdir -p "$out/configurations"
began=$(date +%s)

# The proofs of `mutate` and `verify` take Z3, which Debian has too old.
PATH="$(sh tools/z3.sh):$PATH"

# All that the steps depend on: the program, these scripts, the client, the tools.
version=$({
    sha256sum <"$linkdoze"
    find tools testbench -type f ! -name '*.pyc' -print0 | sort -z | xargs -0 sha256sum
    { z3 --version; yosys -V; verilator --version; iverilog -V | head -n 1; } 2>&1
} | sha256sum | cut -d' ' -f1)

presets=$("$linkdoze" presets)
presets=$(echo "$presets" | cut -d' ' -f1)
for preset in $presets; do
    "$linkdoze" init --preset "$preset" -o "$out/configurations/$preset.toml" --force >/dev/null 2>&1
done
configuration() { # configuration NAME KEY=VALUE...
    name=$1
    shift
    changed_preset "$linkdoze" "$out/configurations/$name.toml" bxiv3-deep-sleep "$@"
}
configuration registers registers=true
# Software sets the times of the link and the guard, too. A short threshold makes the guard refuse often;
# it gives tokens by the longest `t_w` that software can set, four times the configured one.
configuration guarded 'registers=true\ntiming_range = 4' burst=4 policy='"fixed"' t_pdt_ns=1000 bound=0.04
# What the registers do with hop counts is code that only a mean of measured ones reaches.
configuration measured registers=true hops='"measured"' hop_window=256

# What runs in the background does not hear of an interruption by itself.
trap 'trap - TERM; kill 0' INT TERM HUP
step() { # step NAME WHAT COMMAND...
    name=$1 what=$2
    shift 2
    if [ "$(cat "$out/$name.version" 2>/dev/null)" = "$version" ]; then
        echo "== $what: passed before"
        return
    fi
    echo "== $what"
    begin=$(date +%s) status=0
    rm -f "$out/$name.version" "$out/$name.row"
    # What a step prints is kept; every half minute shows that it goes on.
    "$@" >"$out/$name.log" 2>&1 &
    running=$!
    while kill -0 $running 2>/dev/null; do
        sleep 1
        now=$(($(date +%s) - begin))
        [ $((now % 30)) != 29 ] ||
            printf '%s, %s s so far: %s\n' "$name" "$now" "$(tail -n 1 "$out/$name.log" | cut -c1-80)"
    done
    wait $running || status=$?
    printf '%s\t%s\t%s\t%s\n' "$what" "$status" "$(($(date +%s) - begin))" \
        "$(result "$name")" >"$out/$name.row"
    if [ $status = 0 ]; then
        echo "$version" >"$out/$name.version"
    else
        tail -n 20 "$out/$name.log"
    fi
}

# The line of a step's log that says how it went.
result() { # result NAME
    case $1 in
    netlists) echo "$(grep -c '^EQUAL' "$out/$1.log") netlists equal, $(grep -c 'DIFFERENT' "$out/$1.log") wrong one found" ;;
    coverage-*) awk '$3 == "of" && $6 == "of" { all += $7; reached += $5 } END { print reached " of " all " branches" }' "$out/$1.log" ;;
    *) tail -n 1 "$out/$1.log" ;;
    esac | cut -c1-90
}

# Two steps at a time, where one alone does not keep two processors busy. The proofs run alone: their
# limits are seconds of a solver, and their own time is to be seen.
step switch '1 co-simulation, 16 ports' "$linkdoze" cosim \
    "$out/configurations/bxiv3-deep-sleep.toml" --random --ports 16 --cycles 6M --all-corners &
beside=$!
for name in $presets registers guarded; do
    step "cosim-$name" "1 co-simulation, $name" "$linkdoze" cosim \
        "$out/configurations/$name.toml" --random --cycles 20M --all-corners
done
wait $beside
step matrix '1 co-simulation, every kind and scale' env MATRIX_OUT="$out/matrix" \
    sh tools/matrix.sh "$linkdoze" 2000000 1
step verify '3 proofs' sh tools/verify.sh "$linkdoze"
# `make mutants` tries all faults.
step mutants '2 mutation, every module, one in four or five' env MUTANTS_OUT="$out/mutants" \
    sh tools/mutants.sh "$linkdoze" 4 &
beside=$!
step netlists '4 netlists' sh tools/netlists.sh "$linkdoze"
for name in bxiv3-deep-sleep bxiv3-hybrid measured; do
    step "coverage-$name" "5 coverage, $name" "$linkdoze" cosim \
        "$out/configurations/$name.toml" --random --cycles 20M --code-coverage --all
done
step cocotb '6 client in Python' sh tools/cocotb.sh "$linkdoze"
wait $beside

echo
{
    printf 'step\tstatus\tseconds\tresult\n'
    for name in $presets registers guarded; do cat "$out/cosim-$name.row"; done
    for name in switch matrix mutants verify netlists coverage-bxiv3-deep-sleep \
        coverage-bxiv3-hybrid coverage-measured cocotb; do
        cat "$out/$name.row"
    done
} >"$out/rows"
awk -F'\t' '{ printf "%-40s %-7s %7s  %s\n", $1, $2, $3, $4 }' "$out/rows" | tee "$out/table.txt"
echo "this run took $((($(date +%s) - began + 59) / 60)) minutes"
awk -F'\t' 'NR > 1 && $2 != 0 { failed = 1 } END { exit failed }' "$out/rows"
