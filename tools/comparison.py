#!/usr/bin/env python3
"""The tables of docs/evidence/comparison.md, from the results of its sweep.

    linkdoze sweep sim/sweep-comparison.toml -o comparison --json | tools/comparison.py

Prints what saves most of the energy of links and switches in at most 1 % more time, for each program and
network; then, for each setting over all programs and networks: the time it takes, what it saves, what the
same ports save where nothing else is changed (both directions of a link together, fixed routes, no guard),
its score, and how often it kept its bound; and how many places of the Pareto fronts each kind of policy has.
"""

import json
import sys
from collections import Counter, defaultdict
from statistics import median

TIME, SAVED = "time_overhead_percent", "energy_network_saved_percent"
LIMIT = 1.0


def unique(values):
    return list(dict.fromkeys(values))


def network(row):
    return row["configuration"].split("-")[0]


def variant(row):
    return row["configuration"].partition("-")[2] or "plain"


def setting(row):
    what = f"{row['t_pdt_ns'] / 1e3:g} us" if row["histogram"] is None else row["histogram"]
    return f"{variant(row)}: {row['policy']}, {what}, {row['state']}"


rows = [row for row in json.load(sys.stdin) if row["policy"] != "always-on" and row[TIME] is not None]
networks = unique(network(row) for row in rows)

plain = {
    (row["workload"], network(row), setting(row)): row[SAVED] for row in rows if variant(row) == "plain"
}


def same_ports(row):
    """What the ports of a row save in the network as it is; None where they cannot be there."""
    if variant(row) == "lanes":
        return None  # Its fast wake is another one: some lanes stay on.
    return plain.get((row["workload"], network(row), "plain" + setting(row).removeprefix(variant(row))))


print("| program | " + " | ".join(networks) + " |\n| --- |" + " --- |" * len(networks))
places, winners = Counter(), Counter()
for workload in unique(row["workload"] for row in rows):
    cells = []
    for name in networks:
        contest = [row for row in rows if (row["workload"], network(row)) == (workload, name)]
        within = [row for row in contest if row[TIME] <= LIMIT]
        best = max(within, key=lambda row: (row[SAVED], -row[TIME]))
        winners[f"{variant(best)}, {best['policy']}"] += 1
        cells.append(f"{setting(best)}: {best[TIME]:.2f} / {best[SAVED]:.1f}")
        most = float("-inf")
        for row in sorted(contest, key=lambda row: (row[TIME], -row[SAVED])):
            if row[SAVED] > most:
                most = row[SAVED]
                places[f"{variant(row)}, {row['policy']}"] += 1
    print(f"| {workload} | " + " | ".join(cells) + " |")

print("\nBest within 1 %: " + ", ".join(f"{name} {count}" for name, count in winners.most_common()))

print(
    "\n| setting | cases | time, + %: median / most | network saved, % | same ports, no more: % | points more "
    "| score | bound kept |"
)
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
groups = defaultdict(list)
for row in rows:
    groups[setting(row)].append(row)
for name, group in groups.items():
    times, saved = [row[TIME] for row in group], [row[SAVED] for row in group]
    scores = [row["score_at_own_wake_ups"] for row in group if row["score_at_own_wake_ups"] is not None]
    pairs = [(row[SAVED], same_ports(row)) for row in group if variant(row) != "plain"]
    pairs = [pair for pair in pairs if pair[1] is not None]
    more = [with_it - without for with_it, without in pairs]
    kept = [row["bound_kept"] for row in group if row["bound_kept"] is not None]
    print(
        f"| {name} | {len(group)} | {median(times):.2f} / {max(times):.2f} | "
        f"{median(saved):.1f} ({min(saved):.1f} to {max(saved):.1f}) | "
        f"{f'{median(without for _, without in pairs):.1f}' if pairs else ''} | "
        f"{f'{median(more):+.1f} ({min(more):+.1f} to {max(more):+.1f})' if pairs else ''} | "
        f"{f'{median(scores):.2f}' if scores else ''} | {f'{sum(kept)} of {len(kept)}' if kept else ''} |"
    )

print(f"\n{sum(places.values())} places of the Pareto fronts:")
for name, count in places.most_common():
    print(f"{count:5}  {name}")
