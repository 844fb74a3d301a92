"""What became of the faults in the golden models.

    table.py table CRATE RESULTS    a table, and those that survive
    table.py left CRATE RESULTS     those that survive, as a key of cargo-mutants' configuration

Those that listed.txt gives a reason for are counted apart. The table ends with status 1 if fewer than
99 of 100 others are found. RESULTS has a folder for each round, and in it one for each of its pieces.
"""

import json
import pathlib
import re
import sys

FATES = {
    "CaughtMutant": "found",
    "Timeout": "found",
    "Unviable": "unviable",
    "MissedMutant": "left",
}


def reasons():
    """Faults with the reason why they do not show."""
    reason, listed = "", {}
    path = pathlib.Path(__file__).parent / "listed.txt"
    for line in path.read_text().splitlines():
        if line.startswith("    "):
            listed[line.strip()] = reason
        elif line.strip() and not line.startswith("#"):
            reason = line.strip()
    return listed


def told(crate, mutant):
    """A fault by what it does, and the line in which it does that, with the place in brackets."""
    what = re.sub(r"^src/blocks/(.*)/golden\.rs:\d+:\d+: ", r"\1: ", mutant["name"])
    begin, end = mutant["span"]["start"], mutant["span"]["end"]
    if mutant["genre"] == "FnValue" or begin["line"] != end["line"]:
        return what
    line = (crate / mutant["file"]).read_text().splitlines()[begin["line"] - 1]
    first, last = begin["column"] - 1, end["column"] - 1
    return f"{what}: {line[:first].lstrip()}[{line[first:last]}]{line[last:]}"


def outcomes(results):
    """What became of each fault in the end, by what cargo-mutants calls it: its outcome, and what was
    printed in all rounds."""
    found = {}
    rounds = sorted((path for path in results.iterdir() if path.is_dir()), key=lambda path: int(path.name))
    for path in (path for folder in rounds for path in sorted(folder.glob("*/mutants.out/outcomes.json"))):
        for outcome in json.loads(path.read_text())["outcomes"]:
            if outcome["scenario"] != "Baseline":
                log = (path.parent / outcome["log_path"]).read_text(errors="replace")
                name = outcome["scenario"]["Mutant"]["name"]
                before, logs = found.get(name, (outcome, ""))
                # What was found once is found.
                is_left = FATES[before["summary"]] == "left"
                found[name] = (outcome if is_left else before, logs + log)
    return found


def left(results):
    """Tells cargo-mutants to make those faults only that were not found."""
    missed = [
        name for name, (outcome, _) in outcomes(results).items() if FATES[outcome["summary"]] == "left"
    ]
    # One that names no fault, so that an empty list does not mean all.
    print("examine_re = " + json.dumps([f"^{re.escape(name)}$" for name in missed] or ["^$"]))


def table(crate, results):
    models, by_run, endless, survivors = {}, {}, 0, []
    listed = reasons()
    for outcome, log in outcomes(results).values():
        mutant = outcome["scenario"]["Mutant"]
        name = told(crate, mutant)
        fate = FATES[outcome["summary"]]
        if fate == "left":
            why = listed.get(name)
            fate = "listed" if why else "left"
            unsettled = re.findall(r"^unsettled: (\S+), (.*)$", log, re.M)
            survivors.append((why or "", name, unsettled))
        elif fate == "found":
            first = re.search(r"differs: (\S+),", log)
            # The limit of time ends it with a signal.
            endless += not first and "panicked" not in log
            by = first.group(1) if first else "a panic, or no end"
            by_run[by] = by_run.get(by, 0) + 1
        counts = models.setdefault(name.split(":")[0], {})
        counts[fate] = counts.get(fate, 0) + 1

    def line(model, counts):
        of = [counts.get(fate, 0) for fate in ("found", "unviable", "listed", "left")]
        print(f"{model:20} {sum(of):8} {of[0]:8} {of[1]:8} {of[2]:8} {of[3]:8}")

    columns = ("golden model", "faults", "found", "unviable", "listed", "left")
    print("{:20} {:>8} {:>8} {:>8} {:>8} {:>8}".format(*columns))
    total = {}
    for model, counts in sorted(models.items()):
        line(model, counts)
        for fate, count in counts.items():
            total[fate] = total.get(fate, 0) + count
    line("all", total)
    print(f"\nfound by the run ({endless} came to no end):")
    for name, count in sorted(by_run.items(), key=lambda item: -item[1]):
        print(f"  {name:20} {count:6}")
    before = None
    for why, name, unsettled in sorted(survivors):
        if why != before:
            print(f"\n{why or 'Not listed:'}")
            before = why
        print(f"    {name}")
        for run, what in [] if why else unsettled[:3]:
            print(f"        unsettled by {run}: {what}")
    found, left = total.get("found", 0), total.get("left", 0)
    print(
        f"\n{found} of {found + left} faults are found ({100 * found / max(found + left, 1):.2f} %); "
        f"{total.get('listed', 0)} more are listed with a reason why they do not show"
    )
    sys.exit(found < 0.99 * (found + left))


crate, results = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
if sys.argv[1] == "left":
    left(results)
else:
    table(crate, results)
