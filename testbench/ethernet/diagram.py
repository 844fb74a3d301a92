"""The diagram of a frame that wakes its direction, from what the bench prints of it."""

NAMES = ["frame waits", "lpi_request", "mac_tx_enable", "word of the MAC", "word to the PHY", "quiet",
         "word from the PHY", "rx_lpi", "word to the MAC"]
LEVELS = {"0": "_", "1": "#"}
KEPT = 2  # cycles at each end of a stretch in which nothing changes
SHORTEST = 4 * KEPT  # a shorter one is drawn in full


def drawn(traced):
    """A line for each signal, a character a cycle. `traced` has a list for each cycle: its number,
    then the signals. What is left out of a long stretch is a `~`; its lengths stand below."""
    cycles = [(int(line[0]), line[1:]) for line in traced]
    stretches = []
    for cycle, values in cycles:
        if stretches and stretches[-1][1] == values:
            stretches[-1][2] += 1
        else:
            stretches.append([cycle, values, 1])
    columns, left_out = [], []
    for begins, values, length in stretches:
        if length <= SHORTEST:
            columns += [values] * length
        else:
            columns += [values] * KEPT + [None] + [values] * KEPT
            left_out.append(length - 2 * KEPT)
    lines = []
    for number, name in enumerate(NAMES):
        marks = "".join("~" if it is None else LEVELS.get(it[number], it[number]) for it in columns)
        lines.append(f"{name:<18} {marks}")
    lines.append(f"{'':<18} " + "".join("|" if it is None else " " for it in columns).rstrip())
    lines.append(f"left out, words: {', '.join(map(str, left_out))}")
    return "\n".join(lines) + "\n"
