#!/bin/sh
# What it costs or saves that both directions of a link sleep together, as BXIv3 agrees, and not each for
# itself, as on Ethernet: the same workloads on the ports of two presets, as they are and with
# `port.sync = "lpi"`, which changes neither times nor powers. It ends with the table of
# docs/evidence/directions.md.
#
#     tools/directions.sh LINKDOZE [WORKLOAD...]
set -eu

linkdoze=$1
shift
out=${DIRECTIONS_OUT:-target/directions}
mkdir -p "$out"
for preset in bxiv3-fast-wake bxiv3-deep-sleep; do
    "$linkdoze" init --preset $preset -o "$out/$preset.toml" --force >/dev/null 2>&1
done

python3 - "$linkdoze" "$out" "$@" <<'PYTHON'
import json
import pathlib
import subprocess
import sys
import time

linkdoze, out, only = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
sim = pathlib.Path("sim").resolve()

ONE_SWITCH = 'kind = "single-switch"\nnodes = {}'
MEGAFLY = 'kind = "megafly"\nradix = {}\ngroups = {}'
DRAGONFLY = (
    'kind = "dragonfly"\ngroups = 9\nswitches_per_group = 4\nnodes_per_switch = {}\nglobal_ports = 2'
)


def trace(file, mapping="linear"):
    return f'kind = "goal"\nfile = "{sim / file}"\nmapping = "{mapping}"'


def skeleton(program, ranks, steps, more=""):
    return f'kind = "skeleton"\nprogram = "{program}"\nranks = {ranks}\nsteps = {steps}\n{more}'


# Name, topology, traffic, and what else the scenario has.
WORKLOADS = [
    ("LAMMPS, 16 ranks, one switch", ONE_SWITCH.format(16), trace("lammps-lj-r16-s300.goal.zst"), ""),
    ("the same, 16 random nodes of 4,160, Megafly", 'kind = "megafly"',
     trace("lammps-lj-r16-s300.goal.zst", "random"), ""),
    ("LAMMPS, 64 ranks, random, Megafly 8/9", MEGAFLY.format(8, 9),
     trace("lammps-lj-r64-s100.goal.zst", "random"), ""),
    ("LAMMPS, 8 ranks, one switch", ONE_SWITCH.format(8), trace("lammps-lj-r8-s20.goal.zst"), ""),
    ("AlexNet by layer, 8 ranks, one switch", ONE_SWITCH.format(8),
     trace("alexnet-dp-layer-r8-i3.goal.zst"), ""),
    ("AlexNet in buckets, 8 ranks, one switch", ONE_SWITCH.format(8),
     trace("alexnet-dp-bucket-r8-i3.goal.zst"), ""),
    ("`lammps`, 90 ranks, 40 steps, Megafly 6/10", MEGAFLY.format(6, 10), skeleton("lammps", 90, 40), ""),
    ("`fft`, 144 ranks, 15 steps, Dragonfly", DRAGONFLY.format(4), skeleton("fft", 144, 15), ""),
    ("`halo3d`, 144 ranks, 25 steps, Dragonfly", DRAGONFLY.format(4), skeleton("halo3d", 144, 25), ""),
    ("`sweep3d`, 144 ranks, 2 steps, Dragonfly", DRAGONFLY.format(4), skeleton("sweep3d", 144, 2), ""),
    ("`allreduce-ring`, 24 ranks, 1 step, random, Megafly 8/9", MEGAFLY.format(8, 9),
     skeleton("allreduce-ring", 24, 1, 'mapping = "random"'), ""),
    ("`patmos`, 272 ranks, Megafly 8/17", MEGAFLY.format(8, 17), skeleton("patmos", 272, 1), ""),
    ("uniform, load 0.01, Dragonfly of 72", DRAGONFLY.format(2),
     'kind = "uniform"\nload = 0.01\nmessage_bytes = 4096',
     "[run]\nduration_ns = 5000000\nwarm_up_ns = 20000"),
]
# A fixed threshold of t_w, so that no idle period costs much more energy than it could have.
SETTINGS = [
    (f"bxiv3-{state}", policy)
    for state in ("fast-wake", "deep-sleep")
    for policy in ("fixed", "perfbound-correct")
]
SYNCS = ("messages", "lpi")

if only:
    WORKLOADS = [it for it in WORKLOADS if any(name in it[0] for name in only)]
    if not WORKLOADS:
        sys.exit(f"no workload has a name with {' or '.join(only)} in it")


def key_of(text, key):
    """The value of a key in a configuration, with the place of its line."""
    lines = text.splitlines()
    at = [number for number, line in enumerate(lines) if line.split(" = ")[0] == key]
    if len(at) != 1:
        sys.exit(f"the preset has the key {key} {len(at)} times, not once")
    return lines, at[0]


def with_key(text, key, value):
    lines, at = key_of(text, key)
    lines[at] = f"{key} = {value}"
    return "\n".join(lines) + "\n"


def t_w(text, state):
    """t_w of a sleep state, in ns, as the configuration writes it."""
    section = text.split(f"[states.{state}]")[1].split("[")[0]
    lines, at = key_of(section, "t_w_ns")
    return lines[at].split(" = ")[1].split()[0]


def run(topology, traffic, more, preset, policy, sync):
    port = (out / f"{preset}.toml").read_text()
    port = with_key(with_key(port, "policy", f'"{policy}"'), "sync", f'"{sync}"')
    if policy == "fixed":
        port = with_key(port, "t_pdt_ns", t_w(port, preset.removeprefix("bxiv3-")))
    (out / "port.toml").write_text(port)
    scenario = out / "scenario.toml"
    scenario.write_text(
        f'[topology]\n{topology}\n[traffic]\n{traffic}\n{more}\n[power]\ncontroller = "port.toml"\n'
    )
    done = subprocess.run(
        [linkdoze, "simulate", scenario, "--json", "--quiet"], stdout=subprocess.PIPE, text=True
    )
    # 1: a bound was not kept, which the table says.
    if done.returncode > 1:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


total = len(WORKLOADS) * len(SETTINGS) * len(SYNCS)
number, told = 0, 0.0
results = {}
for name, topology, traffic, more in WORKLOADS:
    for setting in SETTINGS:
        for sync in SYNCS:
            results[name, setting, sync] = run(topology, traffic, more, *setting, sync)
            number += 1
            if time.monotonic() - told > 5:
                told = time.monotonic()
                print(f"{number} of {total} runs", file=sys.stderr)
(out / "results.json").write_text(
    json.dumps([[*key, value] for key, value in results.items()])
)


def saved(result):
    return -result["against_always_on_percent"]["energy_network"]


def cell(result):
    """Execution time (of a pattern, which has none, the mean latency) and energy of the network."""
    change = result["against_always_on_percent"]
    late = change["latency_mean"] if change["time"] is None else change["time"]
    text = f"{late:.2f}"
    if result["bound"] and result["bound"]["kept"] is False:
        text = f"**{text}**"
    return f"{text} / {round(saved(result), 1) + 0.0:.1f}"


label = {setting: f"{setting[0].removeprefix('bxiv3-')}, `{setting[1]}`" for setting in SETTINGS}
for setting in SETTINGS:
    pairs = [[results[name, setting, sync] for sync in SYNCS] for name, *_ in WORKLOADS]
    alike = sum(abs(saved(together) - saved(alone)) < 0.05 for together, alone in pairs)
    alone_more = sum(saved(alone) - saved(together) >= 0.05 for together, alone in pairs)
    # Packets that had to wait until their link was awake; where there are hardly any, a ratio says
    # nothing.
    waits = sorted(
        alone["ports"]["sleep_waits"] / together["ports"]["sleep_waits"]
        for together, alone in pairs
        if together["ports"]["sleep_waits"] > 100
    )
    told = "hardly any waits for a wake-up"
    if waits:
        told = (f"{waits[0]:.2f} to {waits[-1]:.2f} times as many waits for a wake-up, "
                f"in the median {waits[len(waits) // 2]:.2f}")
    print(f"{label[setting]}: of {len(pairs)} workloads each direction for itself saves more on "
          f"{alone_more}, both together on {len(pairs) - alone_more - alike}, alike {alike}; "
          f"{told}")
print()
print("| workload | sleep | ideal | " + " | ".join(label.values()) + " |")
print("| --- | --- |" + " --- |" * (len(SETTINGS) + 1))
for name, *_ in WORKLOADS:
    for sync, way in zip(SYNCS, ("together", "each for itself")):
        cells = [cell(results[name, setting, sync]) for setting in SETTINGS]
        ideal = results[name, SETTINGS[-1], sync]["ideal"]["saved_percent"]["network"]
        first = name if sync == SYNCS[0] else "\u2026"
        print(f"| {first} | {way} | {ideal:.1f} | {' | '.join(cells)} |")
PYTHON
