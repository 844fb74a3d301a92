#!/usr/bin/env python3
"""The tables of docs/evidence/georgakoudis.md, from the results of its sweeps.

    linkdoze sweep sim/sweep-georgakoudis-single.toml -o single --json | tools/georgakoudis.py
    linkdoze sweep sim/sweep-georgakoudis-jobs.toml -o jobs --json | tools/georgakoudis.py

Prints, for each mode and hold, what it saves of the links' power and how much longer the jobs take: of each
program with both mappings, or over the sets of jobs on each network the median and the most.
"""

import json
import sys
from statistics import median

SAVED, TIME = "georgakoudis_average_power_saved_percent", "job_time_mean_overhead_percent"


def unique(values):
    return list(dict.fromkeys(values))


def mode(row):
    return f"{row['state'].replace('-', ' ')}, {row['t_pdt_ns'] / 1e3:g} us"


def network(row):
    return row["configuration"].partition("-hybrid")[0]


def time(row):
    # A program that runs alone has no mean of several jobs.
    return row[TIME] if row[TIME] is not None else row["time_overhead_percent"]


rows = [row for row in json.load(sys.stdin) if row["policy"] != "always-on"]
modes = unique(mode(row) for row in rows)
alone = rows[0]["workload"] is not None
groups = unique((row["workload"] if alone else network(row), row["mapping"]) for row in rows)

print(f"| {'program' if alone else 'network'}, mapping | " + " | ".join(modes) + " |")
print("| --- |" + " ---: |" * len(modes))
for name, mapping in groups:
    cells = []
    for of in modes:
        found = [
            row
            for row in rows
            if (row["workload"] if alone else network(row), row["mapping"], mode(row)) == (name, mapping, of)
        ]
        saved, times = [row[SAVED] for row in found], [time(row) for row in found]
        most = "" if len(found) == 1 else f" ({max(times):.3f})"
        cells.append(f"{median(saved):.1f} / {median(times):.3f}{most}")
    print(f"| {name}, {mapping} | " + " | ".join(cells) + " |")
