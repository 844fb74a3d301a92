"""Frames from cocotbext-eth's XGMII sources to its XGMII sinks, through two ports of Ethernet and the
PHY between them. The sinks judge: preamble, FCS, every byte, and that nothing is lost or in another
order; those on the wire judge the frames amid low power idle.

The environment: LINKDOZE_RUN (JSON: the frames of both ends as pairs of bytes and cycle, and the
times of the shims and the PHY in words), LINKDOZE_RESULT, the file that the counts go to."""

import json
import logging
import os
import random
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.eth import XgmiiFrame, XgmiiSink, XgmiiSource

PERIOD = 2  # simulator steps of a cycle


class End:
    """What sends and receives at an end of the link."""

    def __init__(self, dut, name, seed, frames):
        self.dut, self.clk, self.frames = dut, dut.clk, frames
        rng = random.Random(seed)
        self.payloads = [rng.randbytes(size) for size, _ in frames]
        pin = lambda suffix: getattr(dut, f"{name}_{suffix}")
        self.waiting, self.enable, self.waiting.value = pin("waiting"), pin("enable"), 0
        self.sleeps, self.least_wake = pin("sleeps"), pin("least_wake")
        bus = lambda what: (pin(f"{what}_data"), pin(f"{what}_control"), dut.clk, dut.rst)
        self.source = XgmiiSource(*bus("mac_tx"))
        self.sink, self.wire = XgmiiSink(*bus("mac_rx")), XgmiiSink(*bus("wire"))
        for part in [self.source, self.sink, self.wire]:
            part.log.setLevel(logging.WARNING)
        self.sent = False

    async def send(self):
        """Hands over each frame when it is ready, the one before has left, and the port allows it."""
        now = 0
        for (_, ready), payload in zip(self.frames, self.payloads, strict=True):
            if ready > now:
                await ClockCycles(self.clk, ready - now)
                now = ready
            self.waiting.value = 1
            while True:
                await RisingEdge(self.clk)
                now += 1
                if self.enable.value and self.source.idle():
                    break
            self.source.send_nowait(XgmiiFrame.from_payload(payload))
            while not self.source.idle():
                await RisingEdge(self.clk)
                now += 1
            self.waiting.value = 0
        self.sent = True

    def judged(self, sink, payloads):
        """How many frames a sink has as they were sent, and others."""
        intact, others = 0, 0
        for wanted in payloads:
            if sink.empty():
                break
            frame = sink.recv_nowait()
            whole = frame.ctrl is None and frame.check_fcs() and frame.get_payload() == wanted
            intact, others = intact + whole, others + (not whole)
        return {"intact": intact, "altered": others + sink.count()}


@cocotb.test()
async def frames_arrive_as_they_were_sent(dut):
    run = json.loads(os.environ["LINKDOZE_RUN"])
    dut.rst.value = 1
    for name, words in run["times"].items():
        getattr(dut, name).value = words
    ends = [End(dut, name, seed, run["frames"][seed]) for seed, name in enumerate("ab")]
    cocotb.start_soon(Clock(dut.clk, PERIOD, "ns").start())
    await ClockCycles(dut.clk, 4)
    dut.rst.value = 0
    for task in [cocotb.start_soon(end.send()) for end in ends]:
        await task
    await ClockCycles(dut.clk, run["tail"])
    result = []
    for end, other in zip(ends, reversed(ends)):
        result.append({
            "sent": len(end.frames),
            "wire": end.judged(end.wire, end.payloads),
            "received": end.judged(other.sink, end.payloads),
            "sleeps": end.sleeps.value.to_unsigned(),
            "least_wake": end.least_wake.value.to_unsigned(),
        })
    faults = dut.faults.value.to_unsigned()
    Path(os.environ["LINKDOZE_RESULT"]).write_text(json.dumps({"ends": result, "faults": faults}))
