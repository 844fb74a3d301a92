"""Verilog of LiteEth's MAC for XGMII of 64 bits, as module `liteeth_mac` with plain pins.

Usage: mac.py FOLDER

The MAC is LiteEth's own (liteeth, litex and migen from PyPI): `LiteEthMACCore`, which adds and
checks preamble and FCS and pads, on `LiteEthPHYXGMII`, which makes and reads XGMII. Neither knows of
low power idle. Streams and XGMII share one clock."""

import sys
from pathlib import Path

from litex.gen.fhdl.verilog import convert
from liteeth.mac.core import LiteEthMACCore
from liteeth.phy.xgmii import LiteEthPHYXGMII, LiteEthPHYXGMIIPads
from migen import ClockDomain, Module, Signal

WIDTH = 64  # bits of a word of XGMII and of a stream


class Mac(Module):
    """The MAC, with every signal of its streams and of XGMII a pin."""

    def __init__(self):
        self.clk, self.rst = Signal(name="clk"), Signal(name="rst")
        self.clock_domains.cd_sys = ClockDomain("sys")
        self.comb += self.cd_sys.clk.eq(self.clk), self.cd_sys.rst.eq(self.rst)
        self.pins = {self.clk, self.rst}
        pads = LiteEthPHYXGMIIPads()
        # "model": the clocks of both directions are that of the streams.
        self.submodules.phy = LiteEthPHYXGMII(None, pads, model=True)
        self.submodules.core = LiteEthMACCore(self.phy, WIDTH)
        for name in ["tx_data", "tx_ctl", "rx_data", "rx_ctl"]:
            self.pin(f"xgmii_{name}", getattr(pads, name), name.startswith("rx"))
        for stream, endpoint in [("sink", self.core.sink), ("source", self.core.source)]:
            sinks = stream == "sink"
            for name in ["valid", "last", "data", "last_be", "error"]:
                self.pin(f"{stream}_{name}", getattr(endpoint, name), sinks)
            self.pin(f"{stream}_ready", endpoint.ready, not sinks)

    def pin(self, name, signal, is_input):
        """Makes a pin of a signal."""
        pin = Signal(len(signal), name=name)
        self.comb += signal.eq(pin) if is_input else pin.eq(signal)
        self.pins.add(pin)


if __name__ == "__main__":
    mac = Mac()
    convert(mac, mac.pins, name="liteeth_mac", regular_comb=False).write(str(Path(sys.argv[1]) / "liteeth_mac.v"))
