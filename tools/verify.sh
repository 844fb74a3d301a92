#!/bin/sh
# Proves what the Verilog claims: of every preset, with and without a guard, one port and two at the
# ends of a cable; of a port with every kind of histogram and with a correction; of a port with
# registers. What it proves there must not be proved after one wrong edit. Z3 comes from PyPI if there
# is none: Debian's is too old (docs/evidence/proofs.md).
#
#     tools/verify.sh LINKDOZE
set -eu
linkdoze=$1

PATH="$(sh tools/z3.sh):$PATH"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for preset in $("$linkdoze" presets | cut -d' ' -f1); do
    "$linkdoze" init --preset "$preset" -o "$folder/port.toml" --force >/dev/null 2>&1
    echo "== $preset"
    # Of faults, the proof with a guard says more: there the guard does what it likes.
    "$linkdoze" verify "$folder/port.toml" --traces "$folder" --without-faults
    echo "== $preset, guard of 4 packets"
    sed -i 's/^burst = 0/burst = 4/' "$folder/port.toml"
    "$linkdoze" verify "$folder/port.toml" --traces "$folder"
    cp "$folder/port.toml" "$folder/$preset-guarded.toml"
done

# A small port, whose counters are in the proof, with every kind of histogram: the correction, and
# registers, beside one of them.
small() { # small KIND BINS POLICY REGISTERS
    cat <<END
[port]
time_width = 16
policy = "$3"
sleep = "deep-sleep"
t_pdt_init_ns = 20
t_backstop_ns = 32
sync = "levels"
registers = $4
[states.fast-wake]
t_w_ns = 4
t_s_ns = 3
[states.deep-sleep]
t_w_ns = 6
t_s_ns = 4
[histogram]
kind = "$1"
bins = $2
bin_ns = $((32 / $2))
counter_bits = 4
max_samples = $([ "$1" = circular ] && echo 4 || echo 10)
ttl_ns = 200
max_value_ns = 32
map_entries = 3
[perfbound]
bound = 0.9
hop_factor = 0.3
[correction]
history = 2
END
}
for kind in regular clearing circular decaying map; do
    echo "== a small histogram: $kind"
    small $kind 4 perfbound false >"$folder/port.toml"
    "$linkdoze" verify "$folder/port.toml" --traces "$folder" --port-only
    echo "== bxiv3-deep-sleep with another histogram and a correction: $kind"
    "$linkdoze" init --preset bxiv3-deep-sleep -o "$folder/port.toml" --force >/dev/null 2>&1
    sed -i "s/^kind = \"clearing\"/kind = \"$kind\"/
        s/^policy = \"perfbound\"/policy = \"perfbound-correct\"/" "$folder/port.toml"
    grep -q "^kind = \"$kind\"" "$folder/port.toml"
    grep -q '^policy = "perfbound-correct"' "$folder/port.toml"
    "$linkdoze" verify "$folder/port.toml" --traces "$folder" --port-only
done
echo '== a search among 8 bins'
small clearing 8 perfbound false >"$folder/port.toml"
"$linkdoze" verify "$folder/port.toml" --traces "$folder" --port-only
echo '== a small correction'
small clearing 4 perfbound-correct false >"$folder/port.toml"
"$linkdoze" verify "$folder/port.toml" --traces "$folder" --port-only

# The port after one change of one file, and the claim that must not be proved then. Of two of them on a cable
# (u_end_a) that claim alone is tried: all would take ten minutes.
wrong() { # wrong WHAT CLAIM FILE FROM TO
    echo "== $1"
    rm -rf "$folder/rtl"
    "$linkdoze" generate "$folder/port.toml" -o "$folder/rtl" >/dev/null 2>&1
    if ! grep -qsF "$4" "$folder/rtl/$3"; then
        echo "verify: there is no '$4' in $3 of this configuration to be changed: mend tools/verify.sh"
        exit 1
    fi
    python3 - "$folder/rtl/$3" "$4" "$5" <<'PYTHON'
import pathlib
import sys

path = pathlib.Path(sys.argv[1])
path.write_text(path.read_text().replace(sys.argv[2], sys.argv[3]))
PYTHON
    status=0 claim=$2
    case $claim in
    u_end_a.*) set -- --without-faults --claim "$claim" ;;
    *) set -- --port-only ;;
    esac
    "$linkdoze" verify "$folder/port.toml" --rtl "$folder/rtl" --traces "$folder" --depth 3 \
        "$@" >"$folder/report" 2>&1 || status=$?
    if [ $status != 1 ] || ! grep -E "^$claim +(FAILED|UNKNOWN)" "$folder/report"; then
        cat "$folder/report"
        echo "verify: $claim should not be proved, and the exit status be 1; it was $status"
        exit 1
    fi
    echo 'not proved, as it should be'
}

# A preset whose ends agree by messages, with its guard.
cp "$folder/bxiv3-hybrid-guarded.toml" "$folder/port.toml"
wrong 'an end that agrees to go down while it has packets' u_end_a.silence_first link_sync.v \
    'refuses = queue_nonempty | transmitting | ' 'refuses = '
wrong 'a backstop that never fires' sleeps_in_time pdt_timer.v 'at_backstop = tick & ' "at_backstop = 1'b0 & "
wrong 'an end that asks only once' u_end_a.rest_in_exchange link_sync.v \
    'asks_down = wants_down | (overdue & timed_out)' 'asks_down = wants_down'
wrong 'a bucket that refills twice' guard_kept guard.v 'refilled = part_q + GAIN' 'refilled = part_q + GAIN + GAIN'

# A port whose software sets the times of the link, too.
small clearing 32 perfbound true |
    sed 's/^bin_ns = 1/bin_ns = 4/; s/^registers = true/registers = true\ntiming_range = 2/' \
        >"$folder/port.toml"
grep -q '^timing_range = 2' "$folder/port.toml"
echo '== registers that set the times of the link, too'
"$linkdoze" verify "$folder/port.toml" --traces "$folder" --without-faults
wrong 'a time of the link that is too long' times_within_limits csr.v \
    '(merged < time_least) | (merged > time_most)' 'merged < time_least'
wrong 'a write that is asked before its answer is taken' u_axi_lite.write_answer_kept axi_lite.v \
    'may_write = aw_full_q & w_full_q & ~b_full_q' 'may_write = aw_full_q & w_full_q'
wrong 'an answer that does not wait' u_axi_lite.writes_answered_once axi_lite.v 'end else if (bready) begin' "end else if (1'b1) begin"
wrong 'a read that waits for its answer to be taken' u_axi_lite.read_goes_in_time axi_lite.v \
    'may_read = ar_full_q & ~r_full_q' 'may_read = ar_full_q & ~r_full_q & rready'
wrong 'a bit of what is written that is lost' u_axi_lite.asked_as_taken axi_lite.v 'w_data_d = wdata;' "w_data_d = {wdata[31:1], 1'b0};"
wrong 'a register that a refused write changes' u_csr.staged_by_writes csr.v '(|write_strobe) & (verdict == OKAY)' '(|write_strobe)'
