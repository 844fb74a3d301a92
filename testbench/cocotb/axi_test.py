"""The AXI4-Lite port as software sees it. Every address, reset value and access comes from
the SystemRDL file."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiResp
from software import Software, registers

REGISTERS = registers()
PORT = "port[0]." if any(path.startswith("port[0].") for path in REGISTERS) else "port."


def field(register, name):
    return REGISTERS[PORT + register].get_child_by_name(name)


def reset_value(register):
    return sum((f.get_property("reset") or 0) << f.low for f in register.fields())


def writable(register):
    return any(f.is_sw_writable for f in register.fields())


async def start(dut, stalls=True):
    """Resets the design; returns a master, whose channels stall at random."""
    random.seed(1)
    dut.rst.value = 1
    for handle in dut:
        name = handle._name
        if any(
            name.startswith(pin)
            for pin in (
                "queue_nonempty",
                "transmitting",
                "receiving",
                "packet_",
                "sleep_permit",
                "remote_",
                "initiator",
                "message_in",
            )
        ):
            handle.value = 0
        if name.startswith("sleep_permit"):
            handle.value = 1
    cocotb.start_soon(Clock(dut.clk, 2, "ns").start())
    software = Software(dut, random, stalls)
    await ClockCycles(dut.clk, 5)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 2)
    return software.master


async def read(master, path):
    return await Software.read_with(master, REGISTERS[path].absolute_address)


async def write(master, path, value):
    answer = await master.write(REGISTERS[path].absolute_address, value.to_bytes(4, "little"))
    return answer.resp


async def wide(master, name):
    low = await read(master, f"{PORT}{name}_low")
    return low | await read(master, f"{PORT}{name}_high") << 32


def pins(dut, name):
    """The pin of port 0."""
    return getattr(dut, f"{name}_0" if PORT == "port[0]." else name)


def transmit(dut, active):
    """From the next cycle on the port transmits, or idles."""
    pins(dut, "queue_nonempty").value = int(active)
    pins(dut, "transmitting").value = int(active)


async def period(dut, busy, idle):
    """Transmits for some cycles, then idles."""
    transmit(dut, True)
    await ClockCycles(dut.clk, busy)
    transmit(dut, False)
    await ClockCycles(dut.clk, idle)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def reset_values(dut):
    """Every register reads as its SystemRDL reset value, but for those that count cycles."""
    master = await start(dut)
    for path, register in REGISTERS.items():
        value = await read(master, path)
        if not path.endswith("wake_low"):
            assert value == reset_value(register), f"{path}: {value:#x}"


@cocotb.test(timeout_time=100, timeout_unit="us")
async def where_there_is_no_register(dut):
    """Addresses without a register answer DECERR."""
    master = await start(dut)
    taken = {register.absolute_address for register in REGISTERS.values()}
    for address in range(0, 0x400, 4):
        if address not in taken:
            assert (await master.read(address, 4)).resp == AxiResp.DECERR, hex(address)
            answer = await master.write(address, bytes(4))
            assert answer.resp == AxiResp.DECERR, hex(address)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def what_is_only_read(dut):
    """Writing a register that software may only read answers SLVERR and changes nothing."""
    master = await start(dut)
    for path, register in REGISTERS.items():
        reserved = [f.inst_name for f in register.fields()] == ["reserved"]
        if not writable(register) and not reserved:
            assert await write(master, path, 0xFFFFFFFF) == AxiResp.SLVERR, path


@cocotb.test(timeout_time=100, timeout_unit="us")
async def bytes_and_reserved_bits(dut):
    """Byte strobes write their bytes alone; reserved bits read 0."""
    master = await start(dut)
    low = PORT + "t_pdt_low"
    assert await write(master, low, 0x00112233) == AxiResp.OKAY
    address = REGISTERS[low].absolute_address
    assert (await master.write(address + 1, b"\x5a")).resp == AxiResp.OKAY
    mask = sum(((1 << f.width) - 1) << f.low for f in REGISTERS[low].fields())
    assert await read(master, low) == 0x00115A33 & mask
    control = PORT + "control"
    before = await read(master, control)
    used = sum(((1 << f.width) - 1) << f.low for f in REGISTERS[control].fields())
    assert await write(master, control, before | ~used & 0xFFFFFFFF) == AxiResp.OKAY
    assert await read(master, control) == before


@cocotb.test(timeout_time=100, timeout_unit="us")
async def values_that_are_refused(dut):
    """A sleep state that does not exist is refused, and so are staged writes while the
    parameters wait to be applied."""
    master = await start(dut)
    control = PORT + "control"
    before = await read(master, control)
    sleep = field("control", "sleep")
    illegal = before & ~(3 << sleep.low) | 3 << sleep.low
    assert await write(master, control, illegal) == AxiResp.SLVERR
    assert await read(master, control) == before
    assert await write(master, PORT + "command", 1) == AxiResp.OKAY
    assert await read(master, PORT + "command") == 1
    assert await write(master, control, before) == AxiResp.SLVERR
    await period(dut, 400, 0)
    assert await read(master, PORT + "command") == 0
    assert await write(master, control, before) == AxiResp.OKAY


@cocotb.test(timeout_time=100, timeout_unit="us")
async def parameters_take_effect_together(dut):
    """After `apply`, a fixed threshold of 20 ticks governs the next idle period."""
    master = await start(dut)
    ticks = await read(master, PORT + "clocks_per_tick")
    encoding = field("control", "policy").get_property("encode")
    fixed = encoding["fixed"].value
    policy = field("control", "policy")
    control = await read(master, PORT + "control") & ~(3 << policy.low)
    assert await write(master, PORT + "control", control | fixed << policy.low) == AxiResp.OKAY
    assert await write(master, PORT + "t_pdt_low", 20) == AxiResp.OKAY
    assert await write(master, PORT + "t_pdt_high", 0) == AxiResp.OKAY
    await period(dut, 10, 10)
    assert await wide(master, "t_pdt_now") != 20
    assert await write(master, PORT + "command", 1) == AxiResp.OKAY
    # From here on the port is active while software reads.
    transmit(dut, True)
    await ClockCycles(dut.clk, 400)
    assert await wide(master, "t_pdt_now") == 20
    assert await write(master, PORT + "command", 2) == AxiResp.OKAY
    for idle in (10, 10, 10, 40):
        transmit(dut, False)
        await ClockCycles(dut.clk, idle * ticks)
        transmit(dut, True)
        await ClockCycles(dut.clk, 20)
    assert await wide(master, "hits") == 3
    assert await wide(master, "misses") == 1
    assert await wide(master, "periods") == 4
    assert await wide(master, "transitions") == 1


@cocotb.test(timeout_time=100, timeout_unit="us")
async def an_event_raises_the_interrupt(dut):
    """Parameters that come into force raise it once it is enabled; writing 1 ends it."""
    master = await start(dut)
    applied = field("events", "applied")
    assert await write(master, PORT + "command", 1) == AxiResp.OKAY
    await period(dut, 400, 0)
    assert await read(master, PORT + "events") >> applied.low & 1 == 1
    # A switch has one pin for all ports.
    assert dut.irq.value == 0
    assert await write(master, PORT + "interrupt_enable", 1 << applied.low) == AxiResp.OKAY
    await ClockCycles(dut.clk, 4)
    assert dut.irq.value == 1
    if PORT != "port.":
        interrupts = next(path for path in REGISTERS if path.endswith("interrupts_low"))
        assert await read(master, interrupts) == 1
    # A write of other bits changes nothing.
    assert await write(master, PORT + "events", ~(1 << applied.low) & 0xFFFFFFFF) == AxiResp.OKAY
    await ClockCycles(dut.clk, 4)
    assert dut.irq.value == 1
    assert await write(master, PORT + "events", 1 << applied.low) == AxiResp.OKAY
    await ClockCycles(dut.clk, 4)
    assert dut.irq.value == 0


@cocotb.test(timeout_time=100, timeout_unit="us")
async def time_is_counted_in_every_state(dut):
    """The times in all states add up to the cycles that passed, read while they run."""
    master = await start(dut)
    names = ["wake", "going_down", "fast_wake", "deep_sleep", "refresh", "going_up"]
    assert await write(master, PORT + "command", 2) == AxiResp.OKAY
    cycles = 0

    async def count():
        nonlocal cycles
        while True:
            await RisingEdge(dut.clk)
            cycles += 1

    cocotb.start_soon(count())
    await ClockCycles(dut.clk, 1000)
    first = cycles
    total = sum([await wide(master, name) for name in names])
    assert first <= total + 100 and total <= cycles + 100


@cocotb.test(timeout_time=100, timeout_unit="us")
async def packets_per_hop_count(dut):
    """The hop monitor counts, also a packet in every cycle."""
    master = await start(dut)
    pins(dut, "packet_valid").value = 1
    for hops, packets in ((3, 7), (5, 4)):
        pins(dut, "packet_hops").value = hops
        await ClockCycles(dut.clk, packets)
    pins(dut, "packet_valid").value = 0
    for hops, packets in ((3, 7), (5, 4), (4, 0)):
        assert await write(master, PORT + "hop_index", hops) == AxiResp.OKAY
        assert await read(master, PORT + "hop_count") == packets
    assert await write(master, PORT + "command", 2) == AxiResp.OKAY
    assert await read(master, PORT + "hop_count") == 0


@cocotb.test(timeout_time=100, timeout_unit="us")
async def the_histogram_can_be_read(dut):
    """Samples appear in their bins, and reading them does not disturb the others."""
    master = await start(dut)
    bins = await read(master, PORT + "shape") & 0x1FFF
    if bins == 0:
        return
    for _ in range(5):
        await period(dut, 200, 3)
    await period(dut, 200, 0)
    total = 0
    for index in range(bins):
        assert await write(master, PORT + "bin_index", index) == AxiResp.OKAY
        while await read(master, PORT + "bin_index") >> 31:
            pass
        total += await read(master, PORT + "bin_count")
    # The time before the first transmission is no idle period.
    assert total == 5, total
    assert await write(master, PORT + "bin_index", bins) == AxiResp.SLVERR
