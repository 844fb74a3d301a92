"""Frames of random sizes and gaps, for the bench and for `linkdoze simulate`: the same frames, ready
in the same clock cycles."""

import random

SMALLEST, LARGEST = 60, 1514  # bytes of a frame without FCS (IEEE 802.3, 3.2.7)
PREAMBLE_AND_FCS = 12  # bytes
AROUND = PREAMBLE_AND_FCS + 12  # and the least gap of the standard, in bytes
BYTES_A_CYCLE = 8
FIRST = 720  # cycle in which the first frame is ready: no frame waits for the reset, which simulations have not
BURST = 0.8  # part of the frames that follow closely
CLOSE = 20  # longest gap within a burst, in cycles
MEAN_GAP = 3000  # mean of the other gaps, in cycles: some are too short to sleep in
FANNED = 8  # nodes that the frames of an end go to in `linkdoze simulate`
TOPS = [123] * 5 + [508] * 4 + [LARGEST]  # sizes are drawn up to one of these: half are short


def frames(seed, count):
    """Frames of one end: pairs of bytes, and the cycle in which the frame is ready."""
    rng = random.Random(seed)
    ready, drawn = FIRST, []
    for _ in range(count):
        size = rng.randint(SMALLEST, rng.choice(TOPS))
        drawn.append((size, ready))
        close = rng.random() < BURST
        gap = rng.randint(0, CLOSE) if close else CLOSE + round(rng.expovariate(1 / MEAN_GAP))
        ready += -(-(size + AROUND) // BYTES_A_CYCLE) + gap
    return drawn


def on_wire(size):
    """Bytes for which a frame keeps the wire busy, gap included, between frames that follow each other:
    LiteEth's MAC begins each in lane 0, and leaves two words behind the one with the last byte."""
    return BYTES_A_CYCLE * (-(-(size + PREAMBLE_AND_FCS) // BYTES_A_CYCLE) + 2)


def write_list(path, drawn):
    """Writes frames as the bench reads them."""
    path.write_text("".join(f"{size << 48 | ready:016x}\n" for size, ready in drawn))


def write_program(path, ends, window, keep):
    """Writes the frames of both ends as a program in GOAL that lasts `window` cycles. It computes in
    clock cycles: a scenario has `cpu_speed` = 1 / the cycle in ns.

    A frame of end 0 or 1 leaves node 0 or 1, for a switch, whose ports are no part of the bench. Node
    2 keeps them awake: it sends each that gets frames the shortest packet every `keep` cycles. And
    the frames of an end go to `FANNED` nodes in turn, so that none waits in the switch for the one
    before. So what a frame waits, it waits in its own node. Returns how many nodes there are."""
    keeps = range(max(window // keep - 1, 0))
    first = 3
    nodes = first + 2 * FANNED
    lines = [f"num_ranks {nodes}"]
    for end, drawn in enumerate(ends):
        lines.append(f"rank {end} {{")
        now = 0
        for number, (size, ready) in enumerate(drawn):
            to = first + FANNED * end + number % FANNED
            lines.append(f"c{number}: calc {ready - now}")
            if number:
                lines.append(f"c{number} requires c{number - 1}")
            lines.append(f"s{number}: send {on_wire(size) - AROUND}b to {to} tag 0")
            lines.append(f"s{number} requires c{number}")
            now = ready
        lines.append(f"last: calc {window - now}")
        lines.append(f"last requires c{len(drawn) - 1}")
        lines.append("}")
    lines.append("rank 2 {")
    for number in keeps:
        lines.append(f"c{number}: calc {keep}")
        if number:
            lines.append(f"c{number} requires c{number - 1}")
        for to in range(first, nodes):
            lines.append(f"s{number}e{to}: send 1b to {to} tag 1")
            lines.append(f"s{number}e{to} requires c{number}")
    lines.append("}")
    for to in range(first, nodes):
        end, turn = divmod(to - first, FANNED)
        lines.append(f"rank {to} {{")
        for number, (size, _) in enumerate(ends[end][turn::FANNED]):
            lines.append(f"r{number}: recv {on_wire(size) - AROUND}b from {end} tag 0")
        lines += [f"k{number}: recv 1b from 2 tag 1" for number in keeps]
        lines.append("}")
    path.write_text("\n".join(lines) + "\n")
    return nodes
