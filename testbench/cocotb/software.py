"""Software at the AXI4-Lite port. Addresses, reset values and accesses come from the SystemRDL
file alone, the requests and random stalls from cocotbext-axi."""

import itertools
import os

from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp
from systemrdl import RDLCompiler
from systemrdl.node import RegNode


def registers():
    """All registers by their paths, port[0].control and so on."""
    compiler = RDLCompiler()
    compiler.compile_file(os.environ["LINKDOZE_RDL"])
    root = compiler.elaborate().top
    found = {}
    for node in root.descendants(unroll=True):
        if isinstance(node, RegNode):
            found[node.get_rel_path(root)] = node
    assert found
    return found


class Software:
    """A master whose five channels stall at random."""

    def __init__(self, dut, rng, stalls=True):
        self.dut, self.rng = dut, rng
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), dut.clk, dut.rst)
        self.failure, self.reads = None, 0
        self.registers = registers()
        write, channels = self.master.write_if, self.master.read_if
        if stalls:
            for channel in (
                write.aw_channel,
                write.w_channel,
                write.b_channel,
                channels.ar_channel,
                channels.r_channel,
            ):
                channel.set_pause_generator(itertools.cycle(rng.choices([0, 1], k=1009)))

    @staticmethod
    async def read_with(master, address):
        """The register at an address."""
        answer = await master.read(address, 4)
        assert answer.resp == AxiResp.OKAY, hex(address)
        return int.from_bytes(answer.data, "little")

    async def read(self, name):
        """A register of the port."""
        self.reads += 1
        return await self.read_with(self.master, self.registers[f"port.{name}"].absolute_address)

    async def wide(self, name):
        """A value of two words."""
        low = await self.read(f"{name}_low")
        return low | await self.read(f"{name}_high") << 32

    async def reads_counters(self, board):
        """Reads counters while they run. A counter may be some cycles late, so the count lies
        between what was counted before the read and after it."""
        late = 4
        cycle = self.dut.cycle
        while not self.failure:
            await ClockCycles(self.dut.clk, self.rng.randrange(1, 200))
            name = self.rng.choice(list(board.counts(0)))
            least = board.counts(cycle.value.to_unsigned())[name]
            await ClockCycles(self.dut.clk, late)
            value = await self.wide(name)
            await ClockCycles(self.dut.clk, 1)
            most = board.counts(cycle.value.to_unsigned())[name]
            if not least <= value <= most:
                self.failure = f"register {name} is {value}, not {least} to {most}"

    async def agrees_at_the_end(self, board):
        """What the registers say when nothing moves any more: the counters of idle periods, the
        threshold and, where bins have counters of their own, every bin."""
        await ClockCycles(self.dut.clk, 600)
        counts = board.counts(self.dut.cycle.value.to_unsigned())
        for name in ("periods", "hits", "misses"):
            value = await self.wide(name)
            if value != counts[name]:
                return f"register {name} is {value}, not {counts[name]}"
        if not board.thresholds or board.of.kind not in ("regular", "clearing", "circular"):
            return None
        for index, count in enumerate(board.thresholds.histograms[0].counts):
            address = self.registers["port.bin_index"].absolute_address
            answer = await self.master.write(address, index.to_bytes(4, "little"))
            assert answer.resp == AxiResp.OKAY
            while await self.read("bin_index") >> 31:
                pass
            value = await self.read("bin_count")
            if value != count:
                return f"bin {index} holds {value}, not {count}"
        return None
