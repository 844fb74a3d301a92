#!/bin/sh
# The LUT4 of docs/evidence/comparison.md: what the controller of each setting takes on an iCE40, and what
# is added by what chooses among ports. Mapped by Yosys, not placed.
#
#     tools/comparison-gates.sh LINKDOZE
set -eu

linkdoze=$1
. "$(dirname "$0")/changed-preset.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

# The controller, or the block that the options ask for in its place.
row() { # row NAME OPTIONS KEY=VALUE...
    name=$1 options=$2
    shift 2
    # shellcheck disable=SC2154 # set where it is read
    # shellcheck disable=SC2086 # a list of changes
    changed_preset "$linkdoze" "$work/port.toml" bxiv3-deep-sleep $base "$@"
    # shellcheck disable=SC2086 # options with their values
    "$linkdoze" -q synth "$work/port.toml" --target ice40 --json $options >"$work/cells.json"
    python3 - "$name" "$work/cells.json" <<'PYTHON'
import json
import sys

with open(sys.argv[2], encoding="utf-8") as file:
    resources = json.load(file)["mappings"][0]["resources"]
print(f"{sys.argv[1]:45} {resources['luts']:6} LUT4", flush=True)
PYTHON
}

for state in fast-wake deep-sleep hybrid; do
    row "fixed, $state" '' 'policy="fixed"' "sleep=\"$state\""
done
predicted() { # predicted POLICY STATE KIND
    samples=65535
    [ "$3" != circular ] || samples=250
    row "$1, $2, $3" '' "policy=\"$1\"" "sleep=\"$2\"" "kind=\"$3\"" max_samples=$samples
}
for kind in regular clearing circular map decaying; do
    predicted perfbound deep-sleep $kind
    predicted perfbound-correct deep-sleep $kind
done
predicted perfbound-correct fast-wake clearing
predicted perfbound-correct fast-wake circular
predicted perfbound-correct hybrid clearing
for policy in fixed perfbound-correct; do
    # The guard needs the messages.
    row "messages: $policy, deep-sleep" '' "policy=\"$policy\"" 'sync="messages"'
    row "messages, guard of 4: $policy, deep-sleep" '' "policy=\"$policy\"" 'sync="messages"' burst=4
    for state in fast-wake deep-sleep; do
        row "LPI: $policy, $state" '' "policy=\"$policy\"" "sleep=\"$state\"" 'sync="lpi"'
    done
done
row 'lanes' '--link-lanes 12' 'policy="fixed"' 'sleep="fast-wake"' 'sync="lpi"' t_w_ns=10000 t_s_ns=10000
for part in powar selectable-ports alonso tree-links; do
    row "of a switch of 4 + 4 ports: $part" "--switch-part $part --ports-down 4 --ports-up 4"
done
