"""Puts a crate together that holds the golden models and what replays recorded runs with them.

    assemble.py ROOT OUT NAME...

NAME.rs and NAME.run in OUT/../runs are the runs, in the order in which they are replayed.

The whole program takes minutes to compile, this crate seconds. The golden models are copied as they
are, under their names; of the files that hold descriptions, too, only the items are taken that a
golden model names. Nothing here is written a second time: a model that needs one more item does not
compile until it is in the list below.
"""

import pathlib
import re
import shutil
import sys

# Copied whole, but for their tests.
WHOLE = [
    "src/blocks/csr/map.rs",
    "src/blocks/fixed_point.rs",
    "src/blocks/perfbound/latency.rs",
    "src/blocks/port/controller.rs",
    "src/blocks/port/model.rs",
    "src/blocks/port/pins.rs",
    "src/blocks/queue.rs",
    "src/config/plan.rs",
    "src/cosim/lock_step.rs",
    "src/cosim/predictor.rs",
    "src/cosim/scoreboard.rs",
    "src/cosim/two_threads.rs",
]

# Blocks that no port has: the co-simulation does not see them.
NOT_IN_A_PORT = [
    "ethernet_port",
    "lane_controller",
    "lpi_hold_off",
    "lpi_rx",
    "lpi_tx",
    "mii",
    "port_choice",
    "selectable_ports",
    "tree_links",
]

# Files of which items are taken: what stands before them, and how they begin.
PARTS = {
    "src/blocks/axi_lite/mod.rs": ("", ["pub const DATA_WIDTH", "pub mod response"]),
    "src/blocks/digit_step.rs": ("", ["pub const STEP_BITS"]),
    "src/blocks/histogram/mod.rs": (
        "use crate::config::plan::{BinScale, HistogramKind, HistogramPlan, PortPlan, GENERATIONS};\n"
        "use crate::hdl::clog2;\n",
        ["pub struct Shape", "impl Shape", "fn largest_before_halving", "fn bin_of"],
    ),
    "src/blocks/histogram/regular/mod.rs": (
        "use super::Shape;\nuse crate::config::plan::PortPlan;\n",
        ["pub fn halving_cycles"],
    ),
    "src/blocks/lpi_fsm/mod.rs": (
        "pub use crate::blocks::port::pins::PowerState as Link;\n",
        ["pub const COPY_CODE"],
    ),
    "src/blocks/perfbound/mod.rs": ("pub use self::latency::update_latency;\n", []),
    "src/blocks/port/mod.rs": ("", ["pub enum Access"]),
    "src/hdl/mod.rs": ("pub use self::values::{clog2, MAX_WIDTH};\n", []),
    "src/hdl/values.rs": ("", ["pub const MAX_WIDTH", "pub fn clog2"]),
    "src/input/keys.rs": ("", ["pub(crate) const HOP_COUNTS"]),
    "src/input/mod.rs": ("pub(crate) use self::keys::HOP_COUNTS;\n", []),
    "src/cosim/mod.rs": (
        "pub use self::lock_step::LockStep;\n"
        "pub use self::scoreboard::Ended;\n"
        "pub use crate::blocks::port::model::Model;\n"
        "use crate::blocks::port::pins::{Inputs, Outputs, Pin, PinValue, Place, PowerState, Values};\n"
        "use crate::blocks::port::pins::PackedOutputs;\n"
        "#[derive(Default)]\npub struct CodeCoverage;\n"
        "#[derive(Debug)]\npub struct EngineError {\n"
        "    pub engine: &'static str,\n    pub message: String,\n}\n",
        [
            "pub struct Run",
            "impl Run",
            "pub struct Difference",
            "pub trait Rtl",
            "pub struct Leap",
            "pub enum LeapDifference",
            "impl EngineError",
            "const LONG_STRETCH",
            "pub struct Stretch",
            "impl Stretch",
            "pub enum SoftwareMay",
            "pub trait Activity",
        ],
    ),
}


def without_tests(text):
    """The text without items that are compiled for tests only."""
    kept, lines = [], iter(text.splitlines(keepends=True))
    for line in lines:
        if line.strip() != "#[cfg(test)]":
            kept.append(line)
            continue
        item = next(lines)
        if item.rstrip().endswith("{"):
            end = item[: len(item) - len(item.lstrip())] + "}\n"
            for line in lines:
                if line == end:
                    break
    return "".join(kept)


def item(text, begin, path):
    """The item at the left margin that begins so, with its attributes and its documentation."""
    lines = text.splitlines(keepends=True)
    starts = [at for at, line in enumerate(lines) if re.match(re.escape(begin) + r"\b", line)]
    if len(starts) != 1:
        sys.exit(f"{path}: `{begin}` begins {len(starts)} items")
    first = last = starts[0]
    while lines[first - 1].startswith(("#[", "///")):
        first -= 1
    if not lines[last].rstrip().endswith(";"):
        while lines[last] != "}\n":
            last += 1
    return "".join(lines[first : last + 1])


MANIFEST = """[package]
name = "golden-mutants"
version = "0.0.0"
edition = "2021"

[workspace]

# As the program: an overflow is no panic. But compiled in seconds.
[profile.dev]
opt-level = 1
debug = false
debug-assertions = false
overflow-checks = false
"""

# A model that does not come to an end is killed after some time of the processor, not of the clock:
# whatever else the machine does, one that is only slow gets through.
RUNNER = """[target.'cfg(unix)']
runner = ["sh", "-c", 'ulimit -t 90; exec "$0" "$@"']
"""


def plans(runs, names):
    """What is told of the runs as Rust: what `{:?}` prints of a plan is an expression."""
    entries = "".join(f'("{name}", {(runs / (name + ".rs")).read_text().strip()}),\n' for name in names)
    return f"""use crate::config::plan::{{BinScale::*, CircularWindow::*, HistogramKind::*, MemoryCode::*, MissUnit::*}};
use crate::config::plan::{{Policy::*, Sleep::*, SyncPlan::*, *}};

/// A run: its name, its plan, the registers that count time, and which of them cannot be left out.
type Told = (&'static str, PortPlan, &'static [&'static str], &'static [&'static [&'static str]]);

pub fn plans() -> Vec<Told> {{
vec![
{entries}]
}}
"""


def main(root, out, names):
    shutil.rmtree(out / "src", ignore_errors=True)
    golden = [path.relative_to(root) for path in (root / "src/blocks").rglob("golden.rs")]
    golden = [path for path in golden if path.parent.name not in NOT_IN_A_PORT]
    texts = {path: (root / path).read_text() for path in map(pathlib.Path, golden)}
    for path in map(pathlib.Path, WHOLE):
        texts[path] = without_tests((root / path).read_text())
    for name, (head, items) in PARTS.items():
        text = (root / name).read_text()
        texts[pathlib.Path(name)] = head + "".join(item(text, begin, name) for begin in items)

    replay = root / "testbench/golden-mutants/replay.rs"
    texts[pathlib.Path("src/replay.rs")] = replay.read_text()
    texts[pathlib.Path("src/plans.rs")] = plans(out.parent / "runs", names)

    # Every file is a module of the folder above it.
    src = pathlib.Path("src")
    for path in sorted(texts):
        folder = path.parent.parent if path.name == "mod.rs" else path.parent
        while folder != src:
            texts.setdefault(folder / "mod.rs", "")
            folder = folder.parent
    modules = {}
    for path in texts:
        here = path.parent if path.name == "mod.rs" else path
        modules.setdefault(here.parent, set()).add(here.stem)
    for folder, names in modules.items():
        # Not public at the top: the compiler tells what nobody uses.
        public = "" if folder == src else "pub "
        declared = "".join(f"{public}mod {name};\n" for name in sorted(names))
        if folder == src:
            texts[src / "main.rs"] = declared + "\nfn main() {\n    replay::all();\n}\n"
        else:
            texts[folder / "mod.rs"] = declared + texts[folder / "mod.rs"]
    for path, text in texts.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text(text)
    (out / "Cargo.toml").write_text(MANIFEST)
    (out / ".cargo").mkdir(exist_ok=True)
    (out / ".cargo/config.toml").write_text(RUNNER)
    # The same versions of libraries.
    shutil.copy(root / "Cargo.lock", out / "Cargo.lock")


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:])
