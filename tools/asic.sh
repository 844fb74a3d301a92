#!/bin/sh
# Regenerates the table of docs/evidence/asic.md: area, clock frequency and enables of the controllers
# in standard cells of OSU's open library for 0.18 um, by Yosys and OpenSTA.
#
#     tools/asic.sh LINKDOZE [NAME...]
#
# NAME: only these rows of the table, such as `circular switch-4`.
# What this program has counted with these tools is not counted again, so that the same command goes on
# after an interruption. Another library: LIBERTY=FILE.lib.
set -eu

linkdoze=$1
shift
only=$*
out=${ASIC_OUT:-target/asic}
. "$(dirname "$0")/changed-preset.sh"
osu=/usr/share/qflow/tech/osu018
sta=${OPENSTA:-sta}

missing=''
need() { # need COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need "${YOSYS:-yosys}" yosys
need "$sta" opensta
need python3 python3
[ -n "${LIBERTY:-}" ] || [ -e "$osu/osu018_stdcells.lib" ] || missing="$missing qflow-tech-osu018"
if [ -n "$missing" ]; then
    echo "asic: missing:$missing; install with: apt-get install --no-install-recommends$missing" >&2
    exit 2
fi
mkdir -p "$out"

# The area of two of OSU's cells in the Liberty file is not that of their layout, width times height in
# the LEF file: OAI21X1 (23, 32 um2) and NAND3X1 (36, 32 um2). The layout counts.
if [ -n "${LIBERTY:-}" ]; then
    [ -r "$LIBERTY" ] || { echo "asic: LIBERTY=$LIBERTY cannot be read: name a Liberty file (.lib)" >&2; exit 2; }
    cp "$LIBERTY" "$out/cells.lib"
else
    awk '
        FNR == NR && $1 == "MACRO" { cell = $2 }
        FNR == NR && $1 == "SIZE" { area[cell] = $2 * $4 }
        FNR == NR { next }
        /^cell \(/ { cell = $2; gsub(/[()]/, "", cell) }
        /^area :/ && area[cell] { $0 = "area : " area[cell] ";" }
        { print }' "$osu/osu018_stdcells.lef" "$osu/osu018_stdcells.lib" >"$out/cells.lib"
fi
version="$(cat "$linkdoze" "$out/cells.lib" | sha256sum | cut -d' ' -f1) $(${YOSYS:-yosys} -V) $("$sta" -version)"

# Runs a function that ends with `exec` in the background; every eight seconds shows that it goes on.
waited() { # waited NAME COMMAND...
    name=$1 begin=$(date +%s) status=0
    shift
    "$@" &
    running=$!
    trap 'kill $running 2>/dev/null; exit 130' INT TERM
    while kill -0 $running 2>/dev/null; do
        sleep 1
        now=$(($(date +%s) - begin))
        [ $((now % 8)) != 7 ] || echo "asic: $name, $now s so far" >&2
    done
    wait $running || status=$?
    trap - INT TERM
    return $status
}

synthesise() { # synthesise NAME OPTION...: the configuration is $out/NAME.toml
    name=$1
    shift
    exec "$linkdoze" -q synth "$out/$name.toml" --target "liberty:$out/cells.lib" --json "$@" \
        >"$out/$name.part" 2>"$out/$name.log"
}

names=''
row() { # row NAME PRESET [--ports N] [KEY=VALUE...]
    name=$1 preset=$2
    shift 2
    case " ${only:-$name} " in *" $name "*) ;; *) return ;; esac
    options=''
    if [ "${1:-}" = --ports ]; then
        options="--ports $2"
        shift 2
    fi
    names="$names $name"
    changed_preset "$linkdoze" "$out/$name.toml" "$preset" "$@"
    row_version="$version $(sha256sum <"$out/$name.toml") $options"
    if [ "$(cat "$out/$name.version" 2>/dev/null)" = "$row_version" ]; then
        echo "asic: $name: counted before" >&2
        return
    fi
    echo "asic: $name" >&2
    # shellcheck disable=SC2086 # options with their values
    if ! waited "$name" synthesise "$name" $options; then
        cat "$out/$name.log" >&2
        exit 1
    fi
    mv "$out/$name.part" "$out/$name.json"
    echo "$row_version" >"$out/$name.version"
}

presets=$("$linkdoze" presets)
for preset in $(echo "$presets" | cut -d' ' -f1); do
    row "$preset" "$preset"
done
# shellcheck disable=SC2086 # a list of changes
{
    row fixed bxiv3-deep-sleep $base 'policy="fixed"'
    row clearing bxiv3-deep-sleep $base
    row regular bxiv3-deep-sleep $base 'kind="regular"'
    row circular bxiv3-deep-sleep $base 'max_samples=250' 'kind="circular"'
    row decaying bxiv3-deep-sleep $base 'kind="decaying"'
    row map bxiv3-deep-sleep $base 'kind="map"'
    row log-bins bxiv3-deep-sleep $base 'bin_scale="log"'
    row corrected bxiv3-deep-sleep $base 'policy="perfbound-correct"'
    row messages bxiv3-deep-sleep $base 'sync="messages"'
    row guard bxiv3-deep-sleep $base 'sync="messages"' 'burst=4'
    row registers bxiv3-deep-sleep $base 'registers=true'
    row hop-monitor bxiv3-deep-sleep $base 'hops="measured"'
}
for ports in 1 2 4; do
    row "switch-$ports" bxiv3-deep-sleep --ports $ports
done

# The delay of an inverter that drives four like it: the unit in which the length of a path means the
# same in another process. The mean of both edges in the middle of a chain.
fo4() {
    awk 'BEGIN {
        stages = 9
        print "module chain(a, y);\n  input a;\n  output y;"
        for (i = 0; i < stages; i++) {
            from = i == 0 ? "a" : "n" i
            to = i == stages - 1 ? "y" : "n" i + 1
            printf "  INVX1 s%d (.A(%s), .Y(%s));\n", i, from, to
            for (j = 0; j < 3; j++) printf "  INVX1 l%d_%d (.A(%s), .Y(u%d_%d));\n", i, j, to, i, j
        }
        print "endmodule"
    }' >"$out/fo4.v"
    cat >"$out/fo4.tcl" <<END
read_liberty $out/cells.lib
read_verilog $out/fo4.v
link_design chain
set_cmd_units -time ns
create_clock -name c -period 10
set_input_delay -clock c 0 [get_ports a]
set_output_delay -clock c 0 [get_ports y]
report_checks -format full_clock -digits 4
exit
END
    "$sta" -no_splash -exit "$out/fo4.tcl" | awk '$4 == "s5/Y" || $4 == "s6/Y" { sum += $1 } END { print sum / 2 }'
}
[ -n "$names" ] || { echo "asic: no row is called $only" >&2; exit 2; }
fo4=0
[ -n "${LIBERTY:-}" ] || fo4=$(fo4)
if [ -z "${LIBERTY:-}" ] && [ "$fo4" = 0 ]; then
    echo "asic: $sta tells no delay of an inverter: see $out/fo4.tcl" >&2
    exit 1
fi

echo
# shellcheck disable=SC2086 # a list of names
python3 - "$out" "$fo4" $names >"$out/table.txt" <<'PYTHON'
import json
import sys

folder, fo4, names = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
rows = [("controller", "flip-flops", "enabled", "by", "um2", "gates", "memory bits", "um2 with",
         "gates with", "MHz", "MHz with", "MHz at pins", "slack ns", "FO4",
         "slowest path between registers")]


def at_pins(found, ways):
    """The highest frequency with half of the period outside each pin, MHz."""
    period = 1e3 / found["clock_mhz"]
    inside = []
    for way in ways:
        paths = way["timing"]["paths"]
        if "outputs" in paths:
            inside.append(paths["outputs"]["arrival_ns"])
        if "inputs" in paths:
            path = paths["inputs"]
            inside.append(path["arrival_ns"] - period / 2 + period - path["required_ns"])
    return 1e3 / (2 * max(inside)) if inside else None


for name in names:
    with open(f"{folder}/{name}.json", encoding="utf-8") as file:
        found = json.load(file)
    ways = {mapping["name"]: mapping for mapping in found["mappings"]}
    logic = ways["speed"]
    every = ways.get("memory", logic)
    resources = logic["resources"]
    enables = [enable["flip_flops"] for enable in resources["enables"]]
    fmax = logic["timing"]["fmax_mhz"]["median"]
    ends = logic["timing"]["critical_path"]
    with_memory = every["resources"] if every is not logic else {}
    fmax_with = every["timing"]["fmax_mhz"]["median"] if with_memory else None
    number = lambda value: "-" if value is None else f"{value:.0f}"
    rows.append((
        name, str(resources["flip_flops"]), str(sum(enables)), str(len(enables)),
        number(resources["area"]), number(resources["gate_equivalents"]),
        str(resources["memory_bits_left_out"]),
        number(with_memory.get("area")), number(with_memory.get("gate_equivalents")),
        number(fmax), number(fmax_with), number(at_pins(found, (logic, every))),
        f"{logic['timing']['paths']['registers']['slack_ns']:.2f}",
        f"{1e3 / fmax / fo4:.0f}" if fo4 else "-",
        f"{ends['from']} to {ends['to']}"))
widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
for row in rows:
    cells = [row[0].ljust(widths[0])]
    cells += [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1])]
    print("  ".join(cells + [row[-1]]))
print("\nFor speed; `with`: with memories made of flip-flops. "
      f"One gate: {found['gate']['cell']}, "
      f"{found['gate']['area']:g} um2. FO4: {fo4 * 1e3:.0f} ps. {found['yosys']}, "
      f"{logic['timing']['tool']}.")
PYTHON
cat "$out/table.txt"
