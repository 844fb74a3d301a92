"""Runs of the client: which configurations, on which simulator, under which traffic."""

import itertools

CYCLES = 200_000
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
        "guard": {"burst": 0 if port.get("sync") == "levels" else turn([0, 0, 2, 0, 1])},
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
        tables = short("clearing", "linear", "perfbound-correct", sleep, place, sync="lpi")
        yield run(f"lpi-{sleep}", tables, seed=70 + place)
    for place, kind in enumerate(["clearing", "regular", "circular"]):
        tables = short(kind, "linear", "perfbound-correct", "hybrid", place, registers=True)
        yield run(f"registers-{kind}", tables, cycles=CYCLES // 8, seed=60 + place)
    # A policy that does not predict, and a guard: its rate is that of the longest `t_w`.
    tables = short("clearing", "linear", "fixed", "fast-wake", 2, registers=True, timing_range=4)
    yield run("registers-fixed", tables, cycles=CYCLES // 4, seed=64)
    for ports in (1, 3):
        keys = {"registers": "true", "sync": '"levels"'}
        one = run(f"register-map-{ports}", {"preset": "bxiv3-hybrid", "keys": keys}, test="axi")
        yield one | ({"ports": ports} if ports > 1 else {})
    yield from presets(
        preset_names, "icarus", ["perfbound"], cycles=1_000_000, longest_ticks=150_000
    )
    # On Verilator: idle periods up to the longest that a preset records, and every kind once.
    both = ["perfbound", "perfbound-correct"]
    yield from presets(preset_names, "verilator", both, cycles=10_000_000, longest_ticks=6_000_000)
    for name, tables, place in combinations():
        if place % 4 == 1:
            yield run(name, tables, "verilator", seed=100 + place, delay=11, cycles=2 * CYCLES)


# Wrong edits of the emitted Verilog: what the port does wrong then, in which configuration, the
# file, what is replaced, and by what. Each must be found.
CLEARING = "clearing-linear-perfbound-correct-fast-wake"
WRONG = [
    (
        "t_w is a cycle short",
        CLEARING,
        "lpi_fsm.v",
        "T_W_FAST_WAKE = 5'd29",
        "T_W_FAST_WAKE = 5'd28",
    ),
    (
        "t_s is a cycle long",
        CLEARING,
        "lpi_fsm.v",
        "T_S_FAST_WAKE = 5'd19",
        "T_S_FAST_WAKE = 5'd20",
    ),
    (
        "the budget grows too slowly",
        CLEARING,
        "perfbound.v",
        "GAIN_PART = 9'd3",
        "GAIN_PART = 9'd2",
    ),
    ("bins begin a tick early", CLEARING, "bin_meter.v", "ticks[31:4]", "(ticks + 32'd1) >> 4"),
    ("the histogram is cleared late", CLEARING, "histogram_window.v", "= 7'd100;", "= 7'd101;"),
    (
        "misses are not corrected",
        CLEARING,
        "port.v",
        ".miss           (left_wake_q)",
        ".miss (1'b0)",
    ),
    (
        "the timer is a tick late",
        CLEARING,
        "pdt_timer.v",
        "== in_force_q)",
        "== in_force_q + 32'd1)",
    ),
    ("an update governs at once", CLEARING, "pdt_timer.v", "if (active) begin", "if (1'b1) begin"),
    (
        "REQ_DOWN is accepted while sending",
        CLEARING,
        "link_sync.v",
        "queue_nonempty | transmitting |",
        "queue_nonempty |",
    ),
    ("a request is not withdrawn", CLEARING, "link_sync.v", "active | cancelled_q", "active"),
    ("a hit counts as a miss", "registers-clearing", "csr.v", ".happens_2  (miss)", ".happens_2  (hit | miss)"),
    (
        "a write ignores its strobes",
        "register-map-1",
        "axi_lite.v",
        "w_strobe_d = wstrb",
        "w_strobe_d = 4'hf",
    ),
    (
        "an answer does not wait",
        "register-map-1",
        "axi_lite.v",
        "end else if (bready) begin",
        "end else if (1'b1) begin",
    ),
    (
        "counters are halved upwards",
        "regular-linear-perfbound-correct-hybrid",
        "histogram_regular.v",
        "~(next_bin_q[0] ^ odd_q)",
        "1'b1",
    ),
    (
        "a sample is forgotten early",
        "circular-log-perfbound-deep-sleep",
        "histogram_circular.v",
        "LAST_PLACE = 6'd39",
        "LAST_PLACE = 6'd38",
    ),
    (
        "a map counts one too many",
        "map-linear-perfbound-refresh",
        "map_entry.v",
        "tail_held_q > limit",
        "tail_held_q >= limit",
    ),
    (
        "the newest weighs half",
        "decaying-log-perfbound-fast-wake",
        "histogram_decaying.v",
        "NEWEST = 2'd3",
        "NEWEST = 2'd2",
    ),
    (
        "the hold is a cycle short",
        "clearing-linear-perfbound-hybrid",
        "lpi_fsm.v",
        "HOLD = 7'd119",
        "HOLD = 7'd118",
    ),
    (
        "the guard refills too fast",
        "clearing-linear-perfbound-hybrid",
        "guard.v",
        "GAIN = 11'd1;",
        "GAIN = 11'd2;",
    ),
]


def wrong(runs):
    """The runs of which one line of Verilog is wrong. They may take twice as long: they end with the
    first difference."""
    by_name = {run["name"]: run for run in runs if run["simulator"] == "icarus"}
    for name, of, file, before, after in WRONG:
        edit = {"file": file, "from": before, "to": after}
        right = by_name[of]
        longer = right["run"] | {"cycles": 2 * right["run"]["cycles"]}
        yield right | {"name": f"wrong: {name}", "edit": edit, "run": longer}


def part(runs):
    """What `make test` runs: two configurations and two wrong edits, all short."""
    names = ["circular-log-perfbound-correct-hybrid", "registers-clearing"]
    wrong = ["wrong: t_w is a cycle short", "wrong: misses are not corrected"]
    for run in runs:
        if run["name"] in names + wrong and run["simulator"] == "icarus":
            cycles = min(run["run"]["cycles"], CYCLES // 8)
            yield run | {"run": run["run"] | {"cycles": cycles}}
