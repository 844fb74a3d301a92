#!/bin/sh
# The LUT4 of docs/evidence/comparison.md: what each setting takes on an iCE40, mapped by Yosys and not placed.
#
#     tools/comparison-gates.sh LINKDOZE
set -eu

linkdoze=$1
. "$(dirname "$0")/changed-preset.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# LUT4 of the controller, or of the block that the options ask for in its place.
luts() { # luts OPTIONS KEY=VALUE...
    options=$1
    shift
    # shellcheck disable=SC2154 # set where it is read
    # shellcheck disable=SC2086 # a list of changes
    changed_preset "$linkdoze" "$work/port.toml" bxiv3-deep-sleep $base "$@"
    # shellcheck disable=SC2086 # options with their values
    "$linkdoze" -q synth "$work/port.toml" --target ice40 --json $options >"$work/cells.json"
    python3 -c 'import json, sys; print(json.load(sys.stdin)["mappings"][0]["resources"]["luts"])' \
        <"$work/cells.json"
}

# The same of a port with this policy and sleep state.
port() { # port POLICY STATE KEY=VALUE...
    policy=$1 state=$2
    shift 2
    luts '' "policy=\"$policy\"" "sleep=\"$state\"" "$@"
}

# One of the parts that a switch of 4 ports down and 4 up has beside the controllers.
part() { # part NAME
    luts "--switch-part $1 --ports-down 4 --ports-up 4"
}

row() { # row NAME LUT4
    [ -n "$2" ] || exit 1 # it could not be mapped, and that was said
    printf '%-40s %6s\n' "$1" "$2"
}

for state in fast-wake deep-sleep hybrid; do
    row "fixed, $state" "$(port fixed $state)"
done
predicted() { # predicted POLICY STATE KIND
    samples=65535
    [ "$3" != circular ] || samples=250
    row "$1, $2, $3" "$(port "$1" "$2" "kind=\"$3\"" max_samples=$samples)"
}
for kind in regular clearing circular map decaying; do
    predicted perfbound deep-sleep $kind
    predicted perfbound-correct deep-sleep $kind
done
predicted perfbound-correct fast-wake clearing
predicted perfbound-correct fast-wake circular
predicted perfbound-correct hybrid clearing

# The guard needs the messages between the ends, which no other row has.
powar=$(part powar)
selectable=$(part selectable-ports)
choice=$((powar + selectable))
for policy in fixed perfbound-correct; do
    alone=$(port $policy deep-sleep)
    messages=$(port $policy deep-sleep 'sync="messages"')
    guarded=$(port $policy deep-sleep 'sync="messages"' burst=4)
    row "messages alone, $policy, deep-sleep" $((messages - alone))
    row "guard of 4, $policy, deep-sleep" $((alone + guarded - messages))
    row "POWAR, $policy, deep-sleep" $((alone + choice))
    row "LPI, $policy, deep-sleep" "$(port $policy deep-sleep 'sync="lpi"')"
done
alone=$(port fixed fast-wake)
row 'POWAR, fixed, fast-wake' $((alone + choice))
row 'LPI, fixed, fast-wake' "$(port fixed fast-wake 'sync="lpi"')"
row 'lanes' "$(luts '--link-lanes 12' 'policy="fixed"' 'sleep="fast-wake"' 'sync="lpi"' t_w_ns=10000 t_s_ns=10000)"
alone=$(port fixed deep-sleep 'sync="lpi"')
alonso=$(part alonso)
links=$(part tree-links)
row 'Alonso' $((alone + alonso + links))
