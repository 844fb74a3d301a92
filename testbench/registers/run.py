"""Checks the emitted registers with tools that linkdoze does not come from: the SystemRDL
compiler reads the register file, and cocotbext-axi drives the Verilog through its AXI4-Lite
port with random stalls, knowing the registers from the SystemRDL file alone.

Usage: run.py FOLDER   (what `linkdoze generate` wrote)
"""

import os
import sys
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

folder = Path(sys.argv[1]).resolve()
top = next(folder.glob("*.f")).stem
sources = [folder / name for name in (folder / f"{top}.f").read_text().split()]
here = Path(__file__).resolve().parent
os.environ["LINKDOZE_RDL"] = str(folder / f"{top}_registers.rdl")
build = folder / "cocotb"
runner = get_runner("icarus")
runner.build(
    sources=sources,
    hdl_toplevel=top,
    build_dir=build,
    build_args=["-g2005"],
    timescale=("1ns", "1ps"),
    always=True,
)
sys.path.insert(0, str(here))
results = runner.test(
    hdl_toplevel=top,
    test_module="axi_test",
    build_dir=build,
    test_dir=build,
    extra_env={"PYTHONPATH": str(here)},
)
total, failed = get_results(results)
print(f"{top}: {total} tests, {failed} failed")
sys.exit(1 if failed or not total else 0)
