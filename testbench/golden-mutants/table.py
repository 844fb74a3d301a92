"""What became of the faults in the golden models: a table, and those that survive.

    table.py RESULTS

Those that listed.txt gives a reason for are counted apart. Ends with status 1 if fewer than 99 of 100
others are found.
"""

import json
import pathlib
import re
import sys

here = pathlib.Path(__file__).parent
FATES = {
    "CaughtMutant": "found",
    "Timeout": "found",
    "Unviable": "unviable",
    "MissedMutant": "left",
}


def reasons():
    """Patterns of faults with the reason why they do not show."""
    reason, listed = "", []
    for line in (here / "listed.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("    "):
            listed.append((re.compile(line.strip()), reason))
        elif line.strip():
            reason = line.strip()
    return listed


def main(results):
    models, by_run, endless, survivors = {}, {}, 0, []
    listed = reasons()
    used = set()
    for path in sorted(results.glob("*/mutants.out/outcomes.json")):
        for outcome in json.loads(path.read_text())["outcomes"]:
            if outcome["scenario"] == "Baseline":
                continue
            mutant = outcome["scenario"]["Mutant"]
            name = mutant["name"]
            model = mutant["file"].removeprefix("src/blocks/").removesuffix("/golden.rs")
            fate = FATES[outcome["summary"]]
            endless += outcome["summary"] == "Timeout"
            log = (path.parent / outcome["log_path"]).read_text(errors="replace")
            if fate == "left":
                bare = re.sub(r":\d+:\d+: ", ": ", name).removeprefix("src/blocks/")
                why = next((why for pattern, why in listed if pattern.fullmatch(bare)), None)
                used.add(why)
                fate = "listed" if why else "left"
                unsettled = re.findall(r"^unsettled: (\S+), (.*)$", log, re.M)
                survivors.append((why or "", name, unsettled))
            elif fate == "found":
                first = re.search(r"differs: (\S+),", log)
                by = first.group(1) if first else "a panic, or no end"
                by_run[by] = by_run.get(by, 0) + 1
            counts = models.setdefault(model, {})
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
    print(f"\nfound by the run ({endless} did not end):")
    for name, count in sorted(by_run.items(), key=lambda item: -item[1]):
        print(f"  {name:20} {count:6}")
    for why, name, unsettled in sorted(survivors):
        print(f"\n{name}")
        print(f"  {why or 'SURVIVES'}")
        for run, what in unsettled[:3]:
            print(f"  unsettled by {run}: {what}")
    found, left = total.get("found", 0), total.get("left", 0)
    print(
        f"\n{found} of {found + left} faults are found ({100 * found / max(found + left, 1):.2f} %); "
        f"{total.get('listed', 0)} more are listed with a reason why they do not show"
    )
    sys.exit(found < 0.99 * (found + left))


main(pathlib.Path(sys.argv[1]))
