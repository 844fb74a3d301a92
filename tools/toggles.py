#!/usr/bin/env python3
"""How many bits of a port change in a clock cycle, from a waveform of `linkdoze cosim --wave`.

    tools/toggles.py NAME WAVE.vcd

Prints a row of a table: the bits of registers and how many of them change in a cycle, while the link is
idle and awake and while it sleeps; and which registers change most while it sleeps.
"""

import sys
from collections import Counter, defaultdict

WAKE, SLEEPING = 0, (2, 3)
PORT = "top.lockstep.port"


def registers(lines):
    """The registers of the port by the codes of the waveform: name and width; and the codes of
    `power_state`, `clk` and the pins that say that the port is active."""
    scope, found, pins = [], {}, {}
    for line in lines:
        words = line.split()
        if not words:
            continue
        if words[0] == "$scope":
            scope.append(words[2])
        elif words[0] == "$upscope":
            scope.pop()
        elif words[0] == "$var":
            width, code, name = int(words[2]), words[3], words[4]
            path = ".".join(scope)
            if path == PORT:
                pins[name] = code
            # Checkers are no hardware.
            if path.startswith(PORT) and name.endswith("_q") and "checker" not in path:
                found[code] = (f"{path}.{name}".removeprefix(f"{PORT}."), width)
        elif words[0] == "$enddefinitions":
            return found, pins
    raise SystemExit("toggles: the waveform has no definitions")


def main(name, file):
    with open(file, encoding="ascii") as wave:
        found, pins = registers(wave)
        values, cycles = Counter(), Counter()
        changes = defaultdict(Counter)
        state = lambda: values[pins["power_state"]]
        busy = [pins[pin] for pin in ("queue_nonempty", "transmitting", "receiving") if pin in pins]
        phase = None
        for line in wave:
            if line[0] == "b":
                value, code = line[1:].split()
            elif line[0] in "01":
                value, code = line[0], line[1:].strip()
            else:
                continue
            value = int(value.replace("x", "0").replace("z", "0"), 2)
            before, values[code] = values[code], value
            if code == pins["clk"] and value == 1:
                # What changes from here on belongs to the cycle that ends with this edge.
                if any(values[pin] for pin in busy):
                    phase = None
                elif state() == WAKE:
                    phase = "awake"
                else:
                    phase = "asleep" if state() in SLEEPING else None
                cycles[phase] += 1
            elif code in found:
                changes[phase][found[code][0]] += (before ^ value).bit_count()
    if not cycles["asleep"] or not cycles["awake"]:
        raise SystemExit(f"toggles: {file}: the link is not seen both awake and asleep")
    bits = sum(width for _, width in found.values())
    awake, asleep = (sum(changes[it].values()) / cycles[it] for it in ("awake", "asleep"))
    most = ", ".join(
        f"`{register}` {count / cycles['asleep']:.1f}"
        for register, count in changes["asleep"].most_common(4)
        if count >= 0.05 * cycles["asleep"]
    )
    print(f"| {name} | {bits} | {awake:.1f} | {asleep:.1f} | {100 * asleep / bits:.1f} % | {most} |")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2])
