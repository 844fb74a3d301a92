"""Runs of the client: which configurations, on which simulator, under which traffic."""

import itertools

CYCLES = 300_000
# What the other end is like: half of the time well, and in between it refuses to sleep, or is in
# reset and says nothing.
MOODS = ["well", "well", "refuses", "silent"]


def text(tables):
    """A configuration as TOML."""
    lines = []
    for table, keys in tables.items():
        lines.append(f"[{table}]")
        for key, value in keys.items():
            if isinstance(value, bool):
                value = str(value).lower()
            elif isinstance(value, str):
                value = f'"{value}"'
            lines.append(f"{key} = {value}")
    return "\n".join(lines) + "\n"


def short(kind, scale, policy, sleep, place, **port):
    """A configuration whose times are so short that some 100,000 cycles see everything. What has
    no place in the name rotates with `place`."""

    def turn(values, step=1):
        return values[place // step % len(values)]

    clocks = turn([1, 1, 3])
    refresh = sleep == "refresh"
    return {
        "clock": {"tick_ns": clocks},
        "port": {
            "time_width": turn([16, 32, 48, 24]),
            "policy": policy,
            "sleep": "deep-sleep" if refresh else sleep,
            "t_pdt_ns": 40 * clocks,
            "t_pdt_init_ns": turn([100, 300, 30]) * clocks,
            "t_backstop_ns": turn([150 * clocks, 900 * clocks, "off"], 2),
            "hybrid_hold_ns": 120,
            "sync_timeout_ns": 60 * clocks,
            **port,
        },
        "states.fast-wake": {"t_w_ns": 30, "t_s_ns": 20},
        "states.deep-sleep": {
            "t_w_ns": 75,
            "t_s_ns": 45,
            "t_q_ns": 40 if refresh else 0,
            "t_r_ns": 10 if refresh else 0,
        },
        "histogram": {
            "kind": kind,
            "bin_scale": scale,
            "bins": turn([64, 128, 32]),
            "bin_ns": (1 if scale == "log" else 16) * clocks,
            "counter_bits": 4 if kind in ("regular", "clearing", "map") and place % 2 else 8,
            "max_samples": turn([40, 100]),
            "ttl_ns": turn([9000, 0, 60000], 3) * clocks,
            "map_entries": 8,
            "max_value_ns": 512 * clocks,
        },
        "perfbound": {
            "hop_factor": turn([0.3, 0.04, 0.12], 2),
            "window": "elapsed" if place % 3 == 1 else "held",
        },
        "correction": {
            "history": turn([4, 16, 64]),
            "mode": turn(["at-least-one", "at-least-one", "raw"], 2),
            "miss_unit": turn(["fraction", "percent"], 2),
        },
        "guard": {"burst": 0 if "sync" in port else turn([0, 0, 2, 0, 1])},
    }


def run(name, configuration, simulator="icarus", test="port", **traffic):
    """One run."""
    drawn = {
        "cycles": CYCLES,
        "seed": 1,
        "delay": 3,
        "gaps": ["wide", "wide", "edge", "short", "dense"],
        "longest_ticks": 700,
        "mood_cycles": 6000,
        "moods": MOODS,
        **traffic,
    }
    return {
        "name": name,
        "configuration": configuration,
        "simulator": simulator,
        "test": test,
        "run": drawn,
    }


def presets(names, simulator, policies, **traffic):
    """Presets as they are, and with the correction."""
    for place, name in enumerate(names):
        for policy in policies:
            suffix = "+correct" if policy == "perfbound-correct" else ""
            yield run(
                name + suffix,
                {"preset": name, "keys": {"policy": f'"{policy}"'}},
                simulator,
                seed=place + 1,
                delay=100,
                mood_cycles=400_000,
                **traffic,
            )


def combinations():
    """Every histogram on both scales, with both policies that predict. Sleep states and all else
    rotate."""
    kinds = ["regular", "clearing", "circular", "map", "decaying"]
    sleeps = ["deep-sleep", "hybrid", "fast-wake", "refresh"]
    axes = itertools.product(kinds, ["linear", "log"], ["perfbound", "perfbound-correct"])
    for place, (kind, scale, policy) in enumerate(axes):
        sleep = sleeps[(place + place // 4) % len(sleeps)]
        name = f"{kind}-{scale}-{policy}-{sleep}"
        yield name, short(kind, scale, policy, sleep, place), place


def everything(preset_names):
    """All runs."""
    for name, tables, place in combinations():
        yield run(name, tables, seed=place + 1, delay=place % 5 * 7)
    for place, (policy, sleep) in enumerate(
        itertools.product(["fixed", "always-on"], ["deep-sleep", "hybrid"])
    ):
        tables = short("clearing", "linear", policy, sleep, place)
        yield run(f"{policy}-{sleep}", tables, seed=40 + place)
    for place, sleep in enumerate(["deep-sleep", "hybrid", "fast-wake", "refresh"]):
        tables = short("clearing", "linear", "perfbound-correct", sleep, place, sync="levels")
        yield run(f"levels-{sleep}", tables, seed=50 + place)
    for place, kind in enumerate(["clearing", "regular", "circular"]):
        tables = short(kind, "linear", "perfbound-correct", "hybrid", place, registers=True)
        yield run(f"registers-{kind}", tables, cycles=CYCLES // 8, seed=60 + place)
    for ports in (1, 3):
        keys = {"registers": "true", "sync": '"levels"'}
        one = run(f"register-map-{ports}", {"preset": "bxiv3-hybrid", "keys": keys}, test="axi")
        yield one | ({"ports": ports} if ports > 1 else {})
    yield from presets(preset_names, "icarus", ["perfbound"], cycles=1_000_000, longest_ticks=150_000)
    # On Verilator: idle periods up to the longest that a preset records, and every kind once.
    both = ["perfbound", "perfbound-correct"]
    yield from presets(preset_names, "verilator", both, cycles=20_000_000, longest_ticks=6_000_000)
    for name, tables, place in combinations():
        if place % 4 == 1:
            yield run(name, tables, "verilator", seed=100 + place, delay=11, cycles=4 * CYCLES)
