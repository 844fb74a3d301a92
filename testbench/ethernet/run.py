"""Frames end to end: LiteEth's MAC and cocotbext-eth's XGMII around linkdoze's port of Ethernet.

Usage: run.py LINKDOZE FOLDER [--frames N] [--icarus N] [--cocotb N] [--faults N] [--seed N] [--part]

Two ends of a link send each other frames of random sizes and gaps, half of them each.

- Verilator runs all of them through LiteEth's MACs twice: with ends that sleep, and with ends that
  never do. `linkdoze simulate` runs the same frames, ready in the same cycles.
- Icarus Verilog runs the first ones, which must come out as in Verilator, to the last figure.
- cocotb sends some with the XGMII sources of cocotbext-eth, in Icarus; its sinks judge.
- Some run with a fault in the Verilog, or with a PHY that the port knows too little of. The bench
  must say that something is wrong.

FOLDER keeps what all of them are made of, the diagram of a frame that wakes its direction
(`diagram.txt`) and `results.json`. Exit status 1 if anything does not hold."""

import argparse
import csv
import json
import re
import shutil
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import diagram
import traffic
from cocotb_tools.runner import get_results, get_runner

HERE = Path(__file__).resolve().parent
MAC_LATENCY = 8  # cycles from the gate in front of the MAC to a start on XGMII: 6 were measured
TO_WIRE = MAC_LATENCY + 2  # from the request to LPI that the PHY sees: a register of each beyond that
ALLOWED = 1.0  # percent between the bench and `linkdoze simulate`
PROGRESS = 5  # seconds between two lines of progress, at most
NEVER = 2**32 - 1  # least of nothing, in the bench
DIRECTIONS = ["a to b", "b to a"]

SCENARIO = """[topology]
kind = "single-switch"
nodes = {nodes}

[traffic]
kind = "goal"
file = "frames.goal"
cpu_speed = {speed}  # 1 / {cycle} ns: the trace computes in clock cycles
send_overhead_ns = 0

[switch]
link_gbps = {gbps}
header_bytes = {around}  # preamble, FCS and gap
min_packet_bytes = {least}
mtu_bytes = {most}
speedup = 1000  # no frame waits for the crossbar

[power]
controller = "port.toml"
"""

# A file of the emitted Verilog, what is edited there, and a part of what the bench must say.
# The first runs with a PHY that takes twice as long as the controller does, of which the shim alone
# knows. Fewer words than 18 might be made up for by the way through the MAC.
EDITS = [
    ("the shim lets frames go 18 words too soon", "lpi_tx.v",
     "cycles_q <= 32'd2", "cycles_q <= 32'd20", "words after LPI"),
    ("the shim does not hold the MAC back", "lpi_tx.v",
     "assign mac_tx_enable = enable;", "assign mac_tx_enable = 1'b1;", "early_starts"),
    ("the shim ends LPI at once", "lpi_tx.v",
     "(wanted | (cycles_q > 32'd1))", "1'b0", "short_lpi"),
    ("the controller takes 100 cycles longer to wake", "lpi_fsm.v",
     "T_W_DEEP_SLEEP = 10'd699", "T_W_DEEP_SLEEP = 10'd799", "`simulate`"),
    ("nothing asks for LPI", "ethernet_port.v",
     ".lpi_request   (port_lpi_request)", ".lpi_request(1'b0)", "LPI is not seen"),
    ("the receiver passes LPI on", "lpi_rx.v",
     "phy_data | more_bits_2", "phy_data", "lpi_to_mac"),
    ("the receiver does not tell of LPI", "lpi_rx.v",
     "indication_d = silent_1", "indication_d = 1'b0", "indicated"),
]


class Wrong(Exception):
    """Something that keeps the bench from running."""


def say(text):
    """Tells of progress."""
    print(f"ethernet: {text}", file=sys.stderr, flush=True)


def command(*words):
    """Runs a command. Its output, or what went wrong."""
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise Wrong(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Times:
    """The times of a configuration, in words, and its powers in W."""

    def __init__(self, path):
        found = tomllib.loads(path.read_text())
        self.period_ps = found["clock"]["period_ps"]
        asleep = found["states"]["deep-sleep"]
        self.t_pdt = self.words(found["port"]["t_pdt_ns"])
        self.t_w = self.words(asleep["t_w_ns"])
        self.going_down = self.words(asleep["t_s_ns"])
        self.t_s = self.going_down - TO_WIRE
        self.wake_w, self.asleep_w = found["states"]["wake"]["power_w"], asleep["power_w"]

    def words(self, ns):
        """A time in words, which must be whole."""
        words, rest = divmod(round(ns * 1000), self.period_ps)
        if rest:
            raise Wrong(f"port.toml: {ns} ns are no whole number of words")
        return words

    def ns(self, words):
        """A number of words in ns."""
        return words * self.period_ps / 1000

    def plusargs(self):
        """Those of the bench, where the port knows what the PHY takes."""
        return {"t_s": self.t_s, "t_w_sys": self.t_w, "phy_t_s": self.t_s, "phy_t_w": self.t_w}


class Traffic:
    """The first frames of both ends, the time in which they are looked at, and the files that the
    bench and `linkdoze simulate` read."""

    def __init__(self, folder, seed, each, times):
        self.folder, self.each, self.times = folder, each, times
        folder.mkdir(parents=True, exist_ok=True)
        self.ends = [traffic.frames(2 * seed + end, each) for end in range(2)]
        # What is under way arrives, and both directions sleep once more.
        rest = 2 * (times.t_pdt + times.going_down + times.t_w)
        self.window = max(drawn[-1][1] for drawn in self.ends) + rest
        for name, drawn in zip("ab", self.ends):
            traffic.write_list(folder / f"{name}.hex", drawn)

    def simulate(self, linkdoze, configuration):
        """What `linkdoze simulate` says of each direction, and of both."""
        times, folder = self.times, self.folder
        shutil.copy(configuration, folder / "port.toml")
        keep = times.t_pdt * 3 // 4  # so that the switch never sleeps
        nodes = traffic.write_program(folder / "frames.goal", self.ends, self.window, keep)
        bits = 8 * traffic.BYTES_A_CYCLE
        (folder / "scenario.toml").write_text(SCENARIO.format(
            nodes=nodes, speed=1000 / times.period_ps, cycle=times.period_ps / 1000,
            gbps=round(bits * 1000 / times.period_ps), around=traffic.AROUND,
            least=traffic.SMALLEST + traffic.AROUND, most=traffic.on_wire(traffic.LARGEST)))
        out = folder / "simulated"
        printed = command(linkdoze, "-q", "simulate", folder / "scenario.toml", "--json", "-o", out)
        said = json.loads(printed)
        with open(out / "ports.csv", newline="") as file:
            ports = {row["port"]: row for row in csv.DictReader(file)}
        for row in ports.values():
            states = ["wake", "going-down", "fast-wake", "deep-sleep", "refresh", "going-up"]
            row["total_ns"] = sum(float(row[f"{state}_ns"]) for state in states)
        for port, row in ports.items():
            if int(row["sleep_waits"]) and port not in ["nic0", "nic1"]:
                raise Wrong(f"{port} makes packets wait: `keep` is too long")
        found = []
        for nic in ["nic0", "nic1"]:
            row = ports[nic]
            found.append({
                # Each wake-up is a transition, too.
                "sleeps": int(row["transitions"]) - int(row["wake_ups"]),
                "asleep_percent": 100 * float(row["deep-sleep_ns"]) / row["total_ns"],
                "energy_j": float(row["energy_j"]),
                "held": int(row["sleep_waits"]),
                "held_ns": float(row["sleep_delay_ns"]) / self.each,
            })
        # Packets of node 2 are not delayed; the mean is one over all.
        added = said["latency_ns"]["mean"] - said["always_on"]["latency_ns"]["mean"]
        both = joined(found)
        both["added_ns"] = added * said["packets"] / (2 * self.each)
        return found, both


def joined(directions):
    """The figures of both directions together."""
    sums = ["sleeps", "energy_j", "held"]
    both = {name: sum(it[name] for it in directions) for name in sums}
    means = ["asleep_percent", "held_ns"]
    return both | {name: sum(it[name] for it in directions) / 2 for name in means}


class Simulator:
    """The bench, compiled by a simulator, for up to `most` frames an end."""

    def __init__(self, name, folder, sources, most):
        self.name, self.seconds, self.traced = name, [], []
        built = folder / name
        shutil.rmtree(built, ignore_errors=True)
        built.mkdir(parents=True)
        began = time.monotonic()
        if name == "icarus":
            program = built / "bench.vvp"
            command("iverilog", "-g2005", "-s", "bench", f"-Pbench.MOST={most}", "-o", program, *sources)
            self.words = ["vvp", "-n", program]
        else:
            options = ["--binary", "--timing", "-O3", "-Wno-fatal", "-Wno-lint",
                       "-Wno-style", "-CFLAGS", "-O2"]
            command("verilator", *options, f"-GMOST={most}", "--top-module", "bench", "-Mdir", built,
                    "-o", "bench", *sources)
            self.words = [built / "bench"]
        say(f"{name}: compiled in {time.monotonic() - began:.0f} s")

    def run(self, frames, *flags, **times):
        """What the bench counts at each end, under these frames."""
        plus = {"frames": frames.each, "a": frames.folder / "a.hex", "b": frames.folder / "b.hex",
                "window": frames.window, **frames.times.plusargs(), **times}
        words = [*self.words, *(f"+{name}={value}" for name, value in plus.items())]
        words = [str(word) for word in [*words, *(f"+{flag}" for flag in flags)]]
        began = said = time.monotonic()
        ends, others = [{}, {}], []
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
            for line in run.stdout:
                kind, _, rest = line.strip().partition(" ")
                if kind == "end":
                    number, _, figures = rest.partition(": ")
                    figures = figures.split()
                    ends[int(number)].update(zip(figures[::2], map(int, figures[1::2])))
                elif kind == "trace":
                    self.traced.append(rest.split())
                elif kind == "progress":
                    if time.monotonic() - said > PROGRESS:
                        said = time.monotonic()
                        say(f"{self.name}{''.join(f', {flag}' for flag in flags)}: {rest}")
                else:
                    others.append(line)
        if run.returncode or not all(ends):
            raise Wrong(f"{' '.join(words)}\n{''.join(others[-20:])}")
        self.seconds.append(time.monotonic() - began)
        return ends


def measured(frames, asleep, awake):
    """The figures of the bench, in those of `linkdoze simulate`: of each direction, and of both."""
    times, found = frames.times, []
    for end in asleep:
        quiet, all_of = end["quiet"], frames.window
        energy = quiet * times.asleep_w + (all_of - quiet) * times.wake_w
        found.append({
            "sleeps": end["sleeps"],
            "asleep_percent": 100 * quiet / all_of,
            "energy_j": energy * times.period_ps / 1e12,
            "held": end["holds"],
            "held_ns": times.ns(end["held"]) / frames.each,
        })
    both = joined(found)
    later = sum(end["latency"] for end in asleep) - sum(end["latency"] for end in awake)
    both["added_ns"] = times.ns(later) / (2 * frames.each)
    return found, both


def judge(frames, ends, awake=False, t_w_sys=None):
    """What is wrong with a run, a sentence each."""
    wrong, times, each = [], frames.times, frames.each
    t_w_sys = t_w_sys or times.t_w
    for number, end in enumerate(ends):
        def check(holds, what):
            if not holds:
                wrong.append(f"{DIRECTIONS[number]}: {what}")
        other = ends[1 - number]
        check(other["intact"] == each and not other["lost"] and not other["altered"],
              f"{other['intact']} of {each} frames intact, {other['altered']} altered")
        check(end["started"] == each, f"{end['started']} of {each} frames on the wire")
        check(end["sleeps"] == other["indicated"],
              f"LPI begins {end['sleeps']} times and is indicated {other['indicated']} times")
        if awake:
            check(not end["lpi_words"], f"{end['lpi_words']} words of LPI, though it never sleeps")
        else:
            check(end["sleeps"] and end["quiet"], "LPI is not seen")
            check(end["least_wake"] >= t_w_sys,
                  f"a frame starts {end['least_wake']} words after LPI, not {t_w_sys}")
            check(end["least_lpi"] >= times.t_s, f"LPI lasts {end['least_lpi']} words, not {times.t_s}")
        for name in ["early_starts", "lpi_errors", "lpi_to_mac", "short_lpi", "too_early"]:
            check(not end[name], f"{name}: {end[name]}")
    return wrong


# Figures that bench and `linkdoze simulate` both have: name, heading, decimals, whether they must agree.
BESIDE = [
    ("sleeps", "times asleep", 0, True),
    ("asleep_percent", "time asleep, %", 2, True),
    ("energy_j", "energy, J", 6, True),
    ("held", "frames that waited", 0, True),
    ("held_ns", "mean wait, ns", 1, True),
    ("added_ns", "mean added latency, ns", 1, True),
]


def apart(ours, theirs):
    """How much larger a figure is than another, in percent."""
    if ours == theirs:
        return 0.0
    return 100 * (ours - theirs) / theirs if theirs else float("inf")


def compare(bench, simulated):
    """What does not agree, a sentence each. Both are figures of each direction, and of both."""
    wrong = []
    places = zip([*DIRECTIONS, "both"], [*bench[0], bench[1]], [*simulated[0], simulated[1]])
    for place, ours, theirs in places:
        for name, heading, _, must in BESIDE:
            if must and name in ours and abs(apart(ours[name], theirs[name])) > ALLOWED:
                difference = f"{apart(ours[name], theirs[name]):+.2f} % from `simulate`"
                wrong.append(f"{place}: {heading}: {difference}")
    return wrong


def table(frames, ends, bench, simulated):
    """The figures of all frames in Verilator."""
    of = [*ends, None]
    lines = [f"{'':<38}{'a to b':>12}{'b to a':>12}{'both':>12}"]

    def row(heading, values):
        shown = ["-" if value == NEVER else f"{value:,}" for value in values]
        lines.append(f"{heading:<38}" + "".join(f"{value:>12}" for value in shown))

    def summed(heading, figure):
        values = [figure(number) for number in range(2)]
        row(heading, [*values, sum(values)])

    times = frames.times
    summed("frames sent", lambda number: frames.each)
    summed("received as they were sent", lambda number: of[1 - number]["intact"])
    missing = lambda number: frames.each - of[1 - number]["intact"] - of[1 - number]["altered"]
    summed("lost", missing)
    summed("altered", lambda number: of[1 - number]["altered"])
    summed("times LPI begins on the wire", lambda number: of[number]["sleeps"])
    summed("times LP_IDLE.indication rises", lambda number: of[1 - number]["indicated"])
    least = [end["least_lpi"] for end in ends]
    row(f"least LPI, words (t_s = {times.t_s})", [*least, min(least)])
    least = [end["least_wake"] for end in ends]
    row(f"least wake time, words (t_w_sys = {times.t_w})", [*least, min(least)])
    lines.append("")
    lines.append(f"{'':<34}{'bench':>14}{'simulate':>14}{'difference':>12}")
    for name, heading, decimals, _ in BESIDE:
        places = zip([*DIRECTIONS, "both"], [*bench[0], bench[1]], [*simulated[0], simulated[1]])
        for place, ours, theirs in places:
            if name in ours:
                figures = "".join(f"{it[name]:>14,.{decimals}f}" for it in [ours, theirs])
                difference = f"{apart(ours[name], theirs[name]):+.2f} %"
                lines.append(f"{heading:<26}{place:<8}{figures}{difference:>12}")
    return "\n".join(lines)


def with_cocotb(folder, emitted, frames):
    """Sends frames with cocotbext-eth. What its sinks judged, and what is wrong."""
    build, result = folder / "cocotb", folder / "cocotb.json"
    result.unlink(missing_ok=True)
    build.mkdir(parents=True, exist_ok=True)
    runner = get_runner("icarus")
    sources = [HERE / "link.v", HERE / "phy.v", HERE / "wire.v", *emitted]
    runner.build(sources=sources, hdl_toplevel="link", build_dir=build, build_args=["-g2005"],
                 timescale=("1ns", "1ps"), always=True, log_file=build / "build.log")
    times = frames.times
    rest = 2 * (times.t_pdt + times.going_down + times.t_w)
    run = {"frames": frames.ends, "times": times.plusargs(), "tail": rest}
    log = build / "log.txt"
    report = runner.test(
        hdl_toplevel="link", test_module="link_test", build_dir=build, test_dir=build, log_file=log,
        extra_env={"PYTHONPATH": str(HERE), "LINKDOZE_RUN": json.dumps(run),
                   "LINKDOZE_RESULT": str(result)})
    _, failed = get_results(report)
    if failed or not result.exists():
        raise Wrong(f"{log}:\n{log.read_text()[-3000:]}")
    found, wrong = json.loads(result.read_text()), []
    for place, end in zip(DIRECTIONS, found["ends"]):
        for what in ["wire", "received"]:
            if end[what] != {"intact": end["sent"], "altered": 0}:
                wrong.append(f"{place}, {what}: {end[what]} of {end['sent']}")
        if not end["sleeps"] or end["least_wake"] < times.t_w:
            wrong.append(f"{place}: LPI {end['sleeps']} times, {end['least_wake']} words to a frame")
    if found["faults"]:
        wrong.append(f"{found['faults']} words that must not be")
    return found["ends"], wrong


def with_faults(folder, emitted, benches, frames, simulated):
    """The wrong edits and PHYs: each with what the bench says of it, and whether that is right."""
    late = 2 * frames.times.t_w
    for number, (what, name, before, after, said) in enumerate(EDITS):
        place = folder / "edited"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(emitted[0].parent, place)
        path = place / name
        text = path.read_text()
        if text.count(before) != 1:
            raise Wrong(f"{path} has `{before}` {text.count(before)} times")
        path.write_text(text.replace(before, after))
        simulator = Simulator("icarus", folder / "fault", [*benches, *sorted(place.glob("*.v"))], frames.each)
        slow = {"phy_t_w": late, "t_w_sys": late} if number == 0 else {}
        ends = simulator.run(frames, **slow)
        wrong = judge(frames, ends, t_w_sys=slow.get("t_w_sys"))
        if not wrong and not slow:
            wrong = compare(measured(frames, ends, simulator.run(frames, "awake")), simulated)
        yield what, wrong, any(said in it for it in wrong)
    simulator = Simulator("icarus", folder / "fault", [*benches, *emitted], frames.each)
    ends = simulator.run(frames, phy_t_w=late)
    wrong = judge(frames, ends)
    lost = sum(end["too_early"] for end in ends)
    missing = sum(frames.each - end["intact"] for end in ends)
    yield "the PHY takes twice as long to wake as the port knows", wrong, lost > 0 and missing >= lost
    wrong = judge(frames, simulator.run(frames, phy_t_w=late, t_w_sys=late), t_w_sys=late)
    yield "", wrong, not wrong


def main():
    """Runs all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("linkdoze", type=lambda path: Path(path).resolve())
    parser.add_argument("folder", type=lambda path: Path(path).resolve())
    parser.add_argument("--frames", type=int, default=100_000, help="of both ends, in Verilator")
    parser.add_argument("--icarus", type=int, default=400, help="of these in Icarus as well")
    parser.add_argument("--cocotb", type=int, default=400, help="from cocotbext-eth")
    parser.add_argument("--faults", type=int, default=40, help="under each fault")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", action="store_true", help="the run of the tests: fewer frames")
    options = parser.parse_args()
    if options.part:
        options.frames, options.icarus, options.cocotb, options.faults = 2_000, 40, 40, 40
    linkdoze, folder = options.linkdoze, options.folder
    folder.mkdir(parents=True, exist_ok=True)
    times = Times(HERE / "port.toml")

    emitted = folder / "port"
    shutil.rmtree(emitted, ignore_errors=True)
    command(linkdoze, "-q", "generate", HERE / "port.toml", "-o", emitted,
            "--ethernet", "xgmii64", "--mac-latency", MAC_LATENCY)
    emitted = sorted(path for path in emitted.glob("*.v") if not path.stem.endswith("_checkers"))
    command(sys.executable, HERE / "mac.py", folder)
    benches = [HERE / name for name in ["bench.v", "traffic.v", "wire.v", "phy.v"]]
    benches.append(folder / "liteeth_mac.v")

    def drawn(name, count):
        return Traffic(folder / name, options.seed, max(count // 2, 1), times)

    failed, notes = [], []
    every, first = drawn("all", options.frames), drawn("icarus-frames", options.icarus)

    def in_verilator():
        """All frames, and the first ones; simulated as well."""
        simulator = Simulator("verilator", folder, [*benches, *emitted], every.each)
        with ThreadPoolExecutor(max_workers=1) as beside:
            awake = beside.submit(simulator.run, every, "awake")
            asleep, awake = simulator.run(every), awake.result()
        seconds = max(simulator.seconds)
        return asleep, awake, seconds, simulator.run(first), every.simulate(linkdoze, HERE / "port.toml")

    with ThreadPoolExecutor(max_workers=1) as other:
        verilator = other.submit(in_verilator)
        icarus = Simulator("icarus", folder, [*benches, *emitted], first.each)
        slept = icarus.run(first, "trace")
        found, wrong = with_cocotb(folder, emitted, drawn("cocotb-frames", options.cocotb))
        failed += [f"cocotbext-eth, {it}" for it in wrong]
        few = drawn("fault-frames", options.faults)
        expected = few.simulate(linkdoze, HERE / "port.toml")
        *faults, slow = with_faults(folder, emitted, benches, few, expected)
        asleep, awake, seconds, same, simulated = verilator.result()

    failed += [f"Verilator, {it}" for it in judge(every, asleep)]
    failed += [f"Verilator, never asleep, {it}" for it in judge(every, awake, awake=True)]
    bench = measured(every, asleep, awake)
    failed += [f"bench and simulation, {it}" for it in compare(bench, simulated)]
    failed += [f"Icarus, {it}" for it in judge(first, slept)]
    if slept != same:
        failed.append("Icarus and Verilator count differently")
    (folder / "diagram.txt").write_text(diagram.drawn(icarus.traced))
    notes.append(f"Icarus: the first {2 * first.each:,} frames, in {sum(icarus.seconds):.0f} s: "
                 f"{'every figure' if slept == same else 'NOT'} as in Verilator")
    received = sum(end["received"]["intact"] for end in found)
    notes.append(f"cocotbext-eth: {received:,} of {sum(end['sent'] for end in found):,} frames received "
                 f"as they were sent; LPI begins {sum(end['sleeps'] for end in found):,} times; least "
                 f"wake time {min(end['least_wake'] for end in found)} words")
    for what, wrong, right in faults:
        notes.append(f"fault: {what}: {'found' if right else 'NOT FOUND'}: {'; '.join(wrong[:2])}")
        if not right:
            failed.append(f"{what}: the bench does not see it")
    _, wrong, _ = slow
    failed += [f"a PHY that takes twice as long, as the shim knows: {it}" for it in wrong]
    notes.append(f"a PHY that takes twice as long, as the shim knows: {'NOT ' if wrong else ''}every frame")
    count, caught = len(faults), sum(right for _, _, right in faults)
    results = {"bench": bench, "simulate": simulated, "asleep": asleep, "awake": awake, "icarus": slept,
               "cocotb": found, "failed": failed}
    (folder / "results.json").write_text(json.dumps(results, indent=1))

    sent, intact = 2 * every.each, sum(end["intact"] for end in asleep)
    altered = sum(end["altered"] for end in asleep)
    verdict = "Holds" if not failed else "DOES NOT HOLD"
    print(f"{verdict}: {intact:,} of {sent:,} frames arrived as they were sent, "
          f"{sent - intact - altered:,} were lost, {altered:,} altered; {caught} of {count} faults found.")
    for it in failed:
        print(f"  {it}")
    print()
    print(table(every, asleep, bench, simulated))
    print()
    print(f"Verilator: two runs of {every.window / 1e6:,.1f} million cycles, at once, in {seconds:.0f} s")
    print("\n".join(notes))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as error:
        print(error, file=sys.stderr)
        sys.exit(1)
