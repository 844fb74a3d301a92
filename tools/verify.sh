#!/bin/sh
# Proves what the Verilog claims: of every preset, with and without a guard, one port and two at the
# ends of a cable; of a port with every kind of histogram and with a correction; of a port with
# registers, and of one of Ethernet with its shims. What it proves there must not be proved after one
# wrong edit. Z3 comes from PyPI if there is none: Debian's is too old (docs/evidence/proofs.md).
#
#     tools/verify.sh LINKDOZE
#
# As many configurations are proved at a time as there are processors.
set -eu
linkdoze=$1

# Proves the configuration in a folder: `port.toml`, what it is, and options of `verify`. Where there is a
# `wrong`, the Verilog is changed in one place first, and a certain claim must not be proved.
if [ "${2:-}" = prove ]; then
    folder=$3
    what=$(cat "$folder/what")
    # Until it is proved.
    echo "$what" >"$folder/failed"
    echo "== begins: $what" >&2
    set --
    if [ -e "$folder/wrong" ]; then
        "$linkdoze" generate "$folder/port.toml" -o "$folder/rtl" >"$folder/log" 2>&1 || {
            cat "$folder/log"
            exit 255
        }
        python3 - "$folder" <<'PYTHON' || exit 255
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
claim, file, old, new = (folder / "wrong").read_text().splitlines()
path = folder / "rtl" / file
text = path.read_text()
if old not in text:
    sys.exit(f"verify: there is no '{old}' in {file} of this configuration to be changed: mend tools/verify.sh")
path.write_text(text.replace(old, new))
PYTHON
        set -- --rtl "$folder/rtl" --depth 3
    fi
    # What it says of its progress comes at once, the answer when it is there.
    # shellcheck disable=SC2046
    {
        status=0
        "$linkdoze" verify "$folder/port.toml" --traces "$folder" $(cat "$folder/options") "$@" \
            2>&1 >"$folder/report" || status=$?
        echo $status >"$folder/status"
    } | sed -u "s/^/$what: /" >&2
    status=$(cat "$folder/status")
    if [ -e "$folder/wrong" ]; then
        claim=$(head -n 1 "$folder/wrong")
        if [ "$status" = 1 ] && grep -E "^$claim +(FAILED|UNKNOWN)" "$folder/report" >"$folder/claim"; then
            echo 'not proved, as it should be' >>"$folder/claim"
            mv "$folder/claim" "$folder/report"
            status=0
        else
            echo "verify: $claim should not be proved, and the exit status be 1; it was $status" >>"$folder/report"
            status=255
        fi
    fi
    { echo "== $what"; cat "$folder/report"; } >"$folder/log"
    cat "$folder/log"
    [ "$status" = 0 ] || exit 255
    rm "$folder/failed"
    exit 0
fi

PATH="$(sh tools/z3.sh):$PATH"

all=$(mktemp -d)
trap 'rm -rf "$all"' EXIT
# The proofs that are under way are told, too.
trap 'trap "" TERM; kill 0; exit 130' INT TERM HUP

# Adds the configuration in `$port` to those to be proved; the longest proofs come first.
port=$all/port.toml
number=100
add() { # add WHAT OPTION...
    number=$((number + 1))
    mkdir "$all/$number"
    cp "$port" "$all/$number"
    echo "$1" >"$all/$number/what"
    shift
    echo "$@" >"$all/$number/options"
}

# Adds it with one change of one file, and the claim that must not be proved then. Of two
# ports on a cable (u_end_a) that claim alone is tried: all would take ten minutes.
add_wrong() { # add_wrong WHAT CLAIM FILE FROM TO
    what=$1
    shift
    case $1 in
    u_end_a.*) add "$what" --without-faults --claim "$1" ;;
    *) add "$what" --port-only ;;
    esac
    printf '%s\n' "$@" >"$all/$number/wrong"
}

preset() { # preset NAME
    "$linkdoze" init --preset "$1" -o "$port" --force >/dev/null 2>"$all/error" || {
        cat "$all/error"
        exit 1
    }
}
guarded() { # guarded NAME
    preset "$1"
    sed -i 's/^burst = 0/burst = 4/' "$port"
    grep -q '^burst = 4' "$port"
}
presets=$("$linkdoze" presets)
presets=$(echo "$presets" | cut -d' ' -f1)

# A small port, whose counters are in the proof, with every kind of histogram: the correction, and
# registers, beside one of them.
small() { # small KIND BINS POLICY REGISTERS
    cat >"$port" <<END
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
kinds='regular clearing circular decaying map'

for name in $presets; do
    guarded "$name"
    add "$name, guard of 4 packets"
done
for name in $presets; do
    # Of faults, the proof with a guard says more: there the guard does what it likes.
    preset "$name"
    add "$name" --without-faults
done
timed() { # a port whose software sets the times of the link, too
    small clearing 32 perfbound true
    sed -i 's/^bin_ns = 1/bin_ns = 4/; s/^registers = true/registers = true\ntiming_range = 2/' "$port"
    grep -q '^timing_range = 2' "$port"
}
timed
add 'registers that set the times of the link, too' --without-faults
preset 10gbase-t
sed -i 's/^registers = false/registers = true/' "$port"
grep -q '^registers = true' "$port"
add 'a port of Ethernet, whose registers count low power idle' --port-only --ethernet xgmii64
for kind in $kinds; do
    small "$kind" 4 perfbound false
    add "a small histogram: $kind" --port-only
    preset bxiv3-deep-sleep
    sed -i "s/^kind = \"clearing\"/kind = \"$kind\"/
        s/^policy = \"perfbound\"/policy = \"perfbound-correct\"/" "$port"
    grep -q "^kind = \"$kind\"" "$port"
    grep -q '^policy = "perfbound-correct"' "$port"
    add "bxiv3-deep-sleep with another histogram and a correction: $kind" --port-only
done
small clearing 8 perfbound false
add 'a search among 8 bins' --port-only
small clearing 4 perfbound-correct false
add 'a small correction' --port-only

# A preset whose ends agree by messages, with its guard.
guarded bxiv3-hybrid
add_wrong 'an end that agrees to go down while it has packets' u_end_a.silence_first \
    link_sync.v 'refuses = queue_nonempty | transmitting | ' 'refuses = '
add_wrong 'a backstop that never fires' sleeps_in_time \
    pdt_timer.v 'at_backstop = tick & ' "at_backstop = 1'b0 & "
add_wrong 'an end that asks only once' u_end_a.rest_in_exchange \
    link_sync.v 'asks_down = wants_down | (overdue & timed_out)' 'asks_down = wants_down'
add_wrong 'a bucket that refills twice' guard_kept \
    guard.v 'refilled = part_q + GAIN' 'refilled = part_q + GAIN + GAIN'
timed
add_wrong 'a time of the link that is too long' times_within_limits \
    csr.v '(merged < time_least) | (merged > time_most)' 'merged < time_least'
add_wrong 'a write that is asked before its answer is taken' u_axi_lite.write_answer_kept \
    axi_lite.v 'may_write = aw_full_q & w_full_q & ~b_full_q' 'may_write = aw_full_q & w_full_q'
add_wrong 'an answer that does not wait' u_axi_lite.writes_answered_once \
    axi_lite.v 'end else if (bready) begin' "end else if (1'b1) begin"
add_wrong 'a read that waits for its answer to be taken' u_axi_lite.read_goes_in_time \
    axi_lite.v 'may_read = ar_full_q & ~r_full_q' 'may_read = ar_full_q & ~r_full_q & rready'
add_wrong 'a bit of what is written that is lost' u_axi_lite.asked_as_taken \
    axi_lite.v 'w_data_d = wdata;' "w_data_d = {wdata[31:1], 1'b0};"
add_wrong 'a register that a refused write changes' u_csr.staged_by_writes \
    csr.v 'writes = accepted & ~illegal' 'writes = accepted'

began=$(date +%s)
status=0
find "$all" -mindepth 1 -maxdepth 1 -type d -print0 | sort -z |
    xargs -0 -P "$(nproc)" -n 1 sh "$0" "$linkdoze" prove &
wait $! || status=$?
if [ $status != 0 ]; then
    echo "verify: FAILED: $(cat "$all"/*/failed 2>/dev/null | paste -sd';')"
    exit 1
fi
wrong=$(find "$all" -name wrong | wc -l)
echo "$((number - 100 - wrong)) configurations proved, $wrong wrong edits not, in $((($(date +%s) - began) / 60)) minutes"
