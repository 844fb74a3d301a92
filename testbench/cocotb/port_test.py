"""A port with a peer on a cable, under traffic that is drawn: what a switch would do with it.

The environment: LINKDOZE_PORT (folder of the Verilog), LINKDOZE_CONFIG (TOML), LINKDOZE_ESTIMATE
(`linkdoze estimate --json`), LINKDOZE_RUN (JSON: cycles, seed, delay of the cable and so on), and
LINKDOZE_RESULT, the file that the counts go to."""

import json
import os
import random
from pathlib import Path

import bench
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ValueChange
from environment import Levels, Nobody, Peer, Source
from model import NACK, Configuration
from scoreboard import Difference, Scoreboard
from software import Software

FOLDER = Path(os.environ["LINKDOZE_PORT"])


class Pins:
    """The pins of the bench, packed and unpacked."""

    def __init__(self, dut):
        every = bench.pins((FOLDER / "port.v").read_text())
        self.dut, self.seen = dut, [(p.name, p.width) for p in reversed(bench.watched(every))]
        self.driven = [(p.name, p.width) for p in bench.driven(every)]

    def read(self):
        """The outputs in this cycle by their names."""
        bits, values = self.dut.seen.value.to_unsigned(), {}
        for name, width in self.seen:
            values[name] = bits & ((1 << width) - 1)
            bits >>= width
        return values

    def write(self, inputs, initiator):
        """Sets the inputs of this cycle, and of all until they are set anew."""
        bits = 0
        for name, width in self.driven:
            value = initiator if name == "initiator" else getattr(inputs, name, 0)
            bits = bits << width | value
        self.dut.drive.value = bits


async def reset(dut):
    dut.rst.value = 1
    dut.drive.value = 0
    dut.alarm.value = 0
    cocotb.start_soon(Clock(dut.clk, 2, "ns").start())
    await ClockCycles(dut.clk, 3)
    dut.rst.value = 0


@cocotb.test()
async def port_does_what_the_specification_says(dut):
    of = Configuration(Path(os.environ["LINKDOZE_CONFIG"]).read_text())
    estimate = json.loads(Path(os.environ["LINKDOZE_ESTIMATE"]).read_text())
    run = json.loads(os.environ["LINKDOZE_RUN"])
    rng = random.Random(run["seed"])
    initiator = run["seed"] & 1
    board = Scoreboard(of, estimate, initiator)
    source = Source(of, rng, run)
    if of.messages:
        other = Peer(of, rng, run, 1 - initiator)
    elif of.alone:
        other = Nobody()
    else:
        other = Levels(of, rng)
    await reset(dut)
    pins = Pins(dut)
    software = Software(dut, rng) if of.registers else None
    if software:
        cocotb.start_soon(software.reads_counters(board))
    driven = None
    last, failure = 0, None
    while last < run["cycles"]:
        await ValueChange(dut.woken)
        cycle = dut.cycle.value.to_unsigned()
        seen = pins.read()
        try:
            board.check(cycle, seen)
            queue, sends = source.step(cycle, seen["tx_enable"], seen["t_pdt"])
            inputs = other.step(cycle, queue, sends, seen)
            if inputs != driven:
                pins.write(inputs, initiator)
                driven = inputs
            board.step(cycle, seen, inputs)
            if software and software.failure:
                raise Difference(software.failure)
        except Difference as difference:
            failure = f"cycle {cycle}: {difference}"
            break
        due = min(board.due(cycle), source.due, other.due, run["cycles"])
        dut.alarm.value = max(due, cycle + 1)
        last = cycle
    watch = board.thresholds
    if software and failure is None:
        failure = await software.agrees_at_the_end(board)
    result = {
        "cycles": last,
        "samples": board.hits + board.misses,
        "hits": board.hits,
        "misses": board.misses,
        "sleeps": board.transitions,
        "updates": watch.updates if watch else 0,
        "exact": watch.exact if watch else 0,
        "settled": watch.settled if watch else 0,
        "latency": watch.slowest if watch else 0,
        "difference": failure,
        "messages": sum(board.sent[1:]) + sum(board.heard[1:]),
        "refused": board.sent[NACK] + board.heard[NACK],
        "gave_up": int(board.end.error),
        "registers_read": software.reads if software else 0,
        "recent": list(board.recent) if failure else [],
    }
    Path(os.environ["LINKDOZE_RESULT"]).write_text(json.dumps(result))
    assert failure is None, failure
