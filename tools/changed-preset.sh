# shellcheck shell=sh
# For the scripts beside it, which read it with `.`: configurations that are a preset with changes.

# Changes to `bxiv3-deep-sleep` that make the controller with which docs/evidence/area.md compares all
# others: 32-bit times, 256 bins of 16-bit counters, cleared; no correction, no messages, no registers.
# shellcheck disable=SC2034 # read by who reads this file
base='sync="levels" counter_bits=16 max_samples=65535 t_backstop_ns="off" bins=256 bin_ns=16384
t_pdt_init_ns=4194304'

# Writes the preset to FILE with these values in the place of its own; of a key that is given twice the last
# counts.
changed_preset() { # changed_preset LINKDOZE FILE PRESET KEY=VALUE...
    program=$1 file=$2 preset=$3
    shift 3
    "$program" init --preset "$preset" -o "$file" --force >/dev/null 2>&1
    for change in "$@"; do
        key=${change%%=*}
        if ! grep -q "^$key = " "$file"; then
            echo "$0: no key $key in the preset $preset" >&2
            exit 2
        fi
        sed -i "s|^$key = .*|$key = ${change#*=}|" "$file"
    done
}
