#!/bin/sh
# Fuzzing in process, with coverage: libFuzzer changes kept inputs of every kind (fuzz/corpus), and
# fuzz/src/entries says what must hold whatever comes of it. What is found anew is kept in
# target/fuzz, and the same command goes on after an interruption.
#
#     tools/fuzz.sh [EXECUTIONS]     so many together (10 million), shared by all kinds of input
#     tools/fuzz.sh control          a fault that is put in on purpose must be found
#     tools/fuzz.sh keep             takes into fuzz/corpus what reaches most code
#
# FUZZ_JOBS kinds are fuzzed at a time (as many as there are processors).
set -eu

out=${FUZZ_OUT:-target/fuzz}
triple=$(rustc -vV | sed -n 's/^host: //p')
fuzzer=$out/build/$triple/release/linkdoze-fuzz
# Longest input in bytes, longest execution in seconds, most memory in MiB.
limits='-max_len=8192 -timeout=20 -rss_limit_mb=3000'

# What is fuzzed, and the part of all executions that it gets, in thousandths: what is fast gets more.
targets='goal 160
goal-binary 160
dumpi 160
vef 110
liballprof 90
chakra 80
otf2 70
mpilog 70
archive 20
sweep 20
scenario 20
configuration 20
periods 10
simulation 5
axi 5'

# Executions of a target so far, those of the run under way included.
executed() { # executed NAME
    before=$(cat "$out/$1.executions" 2>/dev/null || echo 0)
    now=$(sed -n 's/^#\([0-9][0-9]*\).*/\1/p' "$out/$1.log" 2>/dev/null | tail -n 1)
    echo $((before + ${now:-0}))
}

# Fuzzes one target until it has had its share, a few minutes at a time.
if [ "${1:-}" = target ]; then
    name=$2 share=$3
    mkdir -p "$out/found/$name" "$out/failures"
    while
        count=$(cat "$out/$name.executions" 2>/dev/null || echo 0)
        [ "$count" -lt "$share" ] && [ ! -e "$out/stop" ]
    do
        status=0
        # shellcheck disable=SC2086
        LINKDOZE_FUZZ=$name "$fuzzer" $limits -runs=$((share - count)) -max_total_time=240 \
            -artifact_prefix="$out/failures/$name-" \
            "$out/found/$name" "fuzz/corpus/$name" >"$out/$name.log" 2>&1 &
        echo $! >"$out/$name.process"
        wait $! || status=$?
        rm "$out/$name.process"
        count=$(executed "$name")
        echo "$count" >"$out/$name.executions"
        if [ $status = 0 ] || [ -e "$out/stop" ]; then
            rm "$out/$name.log"
        else
            mv "$out/$name.log" "$out/failures/$name.log"
            break
        fi
    done
    exit 0
fi

# The flags are those of cargo-fuzz, without a sanitizer: so stable Rust will do. With --target they
# do not reach what runs while building.
echo 'building; the first time takes some minutes'
RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Cforce-frame-pointers" \
    cargo build --release --locked --manifest-path fuzz/Cargo.toml --target "$triple" \
    --target-dir "$out/build"

# Files of inputs lie in memory where there is a folder for that.
shared=/dev/shm
[ -w "$shared" ] || shared=${TMPDIR:-/tmp}
TMPDIR=$(mktemp -d "$shared/linkdoze-fuzz.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
# What runs in the background is not interrupted with this script: it is told.
interrupted() {
    touch "$out/stop"
    for file in "$out"/*.process; do
        [ ! -e "$file" ] || kill "$(cat "$file")" 2>/dev/null || true
    done
    wait
    exit 130
}
trap interrupted INT TERM HUP

# Faults that are put in must be found: one behind four bytes, from nothing; one behind a number,
# from the kept traces.
control() {
    for name in control-bytes control-text; do
        seeds=
        [ $name = control-bytes ] || seeds=fuzz/corpus/goal
        # What a run keeps decides what it tries next, and differs from run to run even with one seed: several
        # short runs find the fault more surely than a long one.
        for seed in 1 2 3 4 5 6 7 8; do
            rm -rf "$out/$name"
            mkdir -p "$out/$name/corpus"
            status=0
            # shellcheck disable=SC2086
            LINKDOZE_FUZZ=$name "$fuzzer" $limits -seed=$seed -runs=250000 -print_final_stats=1 \
                -artifact_prefix="$out/$name/" "$out/$name/corpus" $seeds >"$out/$name/log" 2>&1 || status=$?
            [ $status = 0 ] || break
        done
        if [ $status = 0 ] || ! grep -q 'put in on purpose' "$out/$name/log"; then
            echo "fuzz: the fault of $name, put in on purpose, is not found: $out/$name/log" >&2
            exit 1
        fi
        sed -n "s/^stat::number_of_executed_units: */$name: the fault is found, executions: /p" \
            "$out/$name/log"
    done
}

# Of the fewest inputs that reach all code that is reached, short ones: 20 of each target, of all
# lengths up to 1500 bytes. What has a name and not a number stays as it is.
keep() {
    echo "$targets" | while read -r name share; do
        [ -d "$out/found/$name" ] || continue
        rm -rf "$out/kept"
        mkdir -p "$out/kept"
        # shellcheck disable=SC2086
        LINKDOZE_FUZZ=$name "$fuzzer" $limits -set_cover_merge=1 "$out/kept" "fuzz/corpus/$name" \
            "$out/found/$name" </dev/null >"$out/kept.log" 2>&1
        find "fuzz/corpus/$name" -name '[0-9a-f]*' ! -name '*[!0-9a-f]*' -exec rm {} +
        # Files are called by their SHA-1.
        there=$(sha1sum "fuzz/corpus/$name"/* 2>/dev/null || true)
        find "$out/kept" -type f -size -1500c -printf '%s %f\n' | sort -n |
            awk '{ line[NR] = $2 } END { for (i = 0; i < 20; i++) print line[1 + int(i * NR / 20)] }' |
            sort -u | while read -r file; do
            case $there in
            *"$file"*) ;;
            *) [ -z "$file" ] || cp "$out/kept/$file" "fuzz/corpus/$name/$(echo "$file" | cut -c1-12)" ;;
            esac
        done
        echo "$name: $(find "fuzz/corpus/$name" -type f | wc -l) inputs," \
            "$(cat "fuzz/corpus/$name"/* | wc -c) bytes"
    done
}

case ${1:-} in
control | keep)
    $1
    exit
    ;;
esac
all=${1:-10000000}
control
rm -f "$out"/*.log "$out"/*.process "$out/stop"
# What was counted for another program counts no longer, nor what failed. What failed with this one is told
# again: the target goes on, and could end without it.
version=$(sha256sum "$fuzzer" | cut -d' ' -f1)
if [ "$(cat "$out/version" 2>/dev/null)" != "$version" ]; then
    rm -f "$out"/*.executions "$out"/failures/*
    echo "$version" >"$out/version"
fi
echo "$targets" | while read -r name share; do
    echo "$name $((all * share / 1000))"
done | xargs -P "${FUZZ_JOBS:-$(nproc)}" -L 1 sh "$0" target &
running=$!
summary() {
    total=0 line=
    for name in $(echo "$targets" | cut -d' ' -f1); do
        count=$(executed "$name")
        total=$((total + count))
        [ ! -e "$out/$name.process" ] || line="$line; $name $count"
    done
    echo "$total of $all executions$line"
}
seconds=0
while kill -0 $running 2>/dev/null; do
    sleep 1
    seconds=$((seconds + 1))
    [ $((seconds % 10)) != 0 ] || summary
done
wait $running
failed=0
for name in $(echo "$targets" | cut -d' ' -f1); do
    echo "$name: $(executed "$name") executions, $(ls "$out/found/$name" | wc -l) inputs found"
done
for log in "$out"/failures/*.log; do
    [ -e "$log" ] || continue
    failed=1
    name=$(basename "$log" .log)
    echo "fuzz: $name failed: $(grep -a -A1 -m1 'panicked at\|ERROR: libFuzzer' "$log" | tr '\n' ' ')" >&2
    for file in "$out/failures/$name"-*; do
        [ ! -e "$file" ] || echo "  again: LINKDOZE_FUZZ=$name $fuzzer $file" >&2
    done
done
exit $failed
