"""What is around a port: packets that are drawn, the cable and the other end."""

from collections import deque

from model import NEVER, NONE, REQ_DOWN, WAKE, End, Inputs


class Source:
    """Packets for one port. A packet waits in the queue until the port may start it."""

    def __init__(self, of, rng, run):
        self.of, self.rng = of, rng
        self.gaps = run["gaps"]  # kinds of idle times, drawn anew every few packets
        self.longest = run["longest_ticks"]
        self.length = run["packet_cycles"]  # of a packet that outlasts an update
        self.queue = 0
        self.sends_until = -1  # last cycle of the packet under way
        self.next = rng.randrange(1, 4 * self.length)  # when the next packet comes
        self.left = 0  # packets until another kind of idle times is drawn
        self.kind = None
        self.due = self.next

    def gap(self, t_pdt):
        """Cycles from the end of a packet to the next one."""
        rng, of = self.rng, self.of
        if self.left == 0:
            self.kind, self.left = rng.choice(self.gaps), rng.randrange(4, 24)
        self.left -= 1
        if self.kind == "dense":
            return 2
        if self.kind == "short":
            return rng.randrange(1, 40 * of.clocks_per_tick)
        if self.kind == "edge":
            ticks = min(t_pdt, self.longest) + rng.randrange(-1, 4)
            return max(1, ticks * of.clocks_per_tick + rng.randrange(-1, 2))
        log = rng.uniform(0, self.longest.bit_length())
        return max(1, int(min(2**log, self.longest) * of.clocks_per_tick))

    def step(self, cycle, tx_enable, t_pdt):
        """Whether the queue holds a packet, and whether one leaves, in `cycle`."""
        if cycle > self.sends_until >= 0:
            self.sends_until = -1
            if self.queue == 0 and self.next == NEVER:
                self.next = cycle + self.gap(t_pdt)
        if cycle >= self.next:
            self.next = NEVER
            self.queue += 1 + (self.rng.random() < 0.1)
        sends = self.sends_until >= 0
        if self.queue and not sends and tx_enable:
            self.queue -= 1
            short = self.kind == "dense" or self.rng.random() < 0.05
            self.sends_until = cycle if short else cycle + self.length
            self.sends_until += 0 if self.kind == "dense" else self.rng.randrange(3)
            sends = True
        # A packet that may leave is looked at in every cycle until it does.
        self.due = self.next
        if sends:
            self.due = self.sends_until + 1
        return int(self.queue > 0), int(sends)

    def hurry(self, cycle):
        """A packet comes in `cycle`, whatever was drawn."""
        if self.next != NEVER:
            self.next = self.due = cycle


class Cable:
    """One direction of a cable: what enters it comes out `delay` cycles later."""

    def __init__(self, delay):
        self.delay, self.under_way, self.level, self.entered = delay, deque(), 0, 0

    def step(self, cycle, level, message):
        """The level and the message that come out in `cycle`."""
        if level != self.entered or message != NONE:
            self.under_way.append((cycle + self.delay, level, message))
            self.entered = level
        message = NONE
        while self.under_way and self.under_way[0][0] <= cycle:
            _, self.level, message = self.under_way.popleft()
        return self.level, message

    def due(self):
        return self.under_way[0][0] if self.under_way else NEVER


class Peer:
    """The other end, and the cable. It follows the same specification; it refuses, withdraws,
    falls silent and comes back from reset when the run asks for it."""

    def __init__(self, of, rng, run, initiator):
        self.of, self.rng, self.run, self.initiator = of, rng, run, initiator
        self.there, self.back = Cable(run["delay"]), Cable(run["delay"])
        self.powered = 0  # cycle in which its reset was over, None in reset
        self.source = None
        self.due = 0
        self.turns = rng.randrange(run["mood_cycles"])  # when its mood changes
        self.start(0)

    def start(self, cycle):
        self.end = End(self.of, self.initiator)
        self.powered = cycle
        self.source = Source(self.of, self.rng, self.run)
        self.source.next += self.rng.randrange(2 * self.run["mood_cycles"])
        self.t_pdt = self.rng.choice([0, 5, 40, self.of.t_pdt_init, self.of.h_maxval])

    def change_mood(self, cycle):
        """It goes into reset or comes out of it, refuses to sleep, or is at its best."""
        self.turns = cycle + self.rng.randrange(1, self.run["mood_cycles"])
        if self.powered is None:
            self.start(cycle)
            return
        mood = self.rng.choice(self.run["moods"])
        self.end.refuses = mood == "refuses"
        if mood == "silent":
            self.powered = None

    def step(self, cycle, queue, sends, seen):
        """The inputs of the port in `cycle`."""
        if cycle >= self.turns:
            self.change_mood(cycle)
        arriving, told = self.there.step(cycle, sends, seen["message_out"])
        level, message, due = 0, NONE, NEVER
        if self.powered is not None:
            own = cycle - self.powered
            source = self.source
            out = self.end.out
            if out.message_out == REQ_DOWN and self.rng.random() < 0.2:
                source.hurry(own + self.rng.randrange(2 * self.run["delay"] + 2))
            waits, level = source.step(own, out.tx_enable, self.t_pdt)
            message = out.message_out
            inputs = Inputs(waits, level, arriving, told)
            self.end.step(own, inputs, self.t_pdt)
            due = self.powered + min(self.end.due, source.due)
        receiving, message = self.back.step(cycle, level, message)
        once = cycle + 1 if message != NONE or told != NONE else NEVER
        self.due = min(due, once, self.turns, self.there.due(), self.back.due())
        return Inputs(queue, sends, receiving, message)


class Nobody:
    """The other end of a port whose direction of the link sleeps for itself (`sync = "lpi"`): what
    it does plays no part."""

    due = NEVER

    def step(self, _cycle, queue, sends, _seen):
        """The inputs of the port."""
        return Inputs(queue, sends, 0, NONE)


class Levels:
    """The other end of a port whose pins tell what it does (`sync = "levels"`)."""

    def __init__(self, of, rng):
        self.of, self.rng = of, rng
        self.turns, self.due = 0, 0
        self.permit = self.wants = self.receives = self.down = 0

    def step(self, cycle, queue, sends, seen):
        """The inputs of the port in `cycle`."""
        asleep = seen["power_state"] != WAKE
        idle = not (queue or sends or self.receives)
        if cycle >= self.turns:
            self.turns = cycle + 1 + int(self.rng.expovariate(1 / 100))
            self.permit = int(self.rng.random() < 0.7)
            self.wants = int(asleep and self.rng.random() < 0.3)
            self.receives = int(not asleep and self.rng.random() < 0.1)
            self.down = int(idle and not asleep and not self.receives and self.rng.random() < 0.1)
        self.down &= int(not asleep and idle)
        self.receives &= int(not asleep)
        self.due = self.turns
        return Inputs(queue, sends, self.receives, NONE, self.permit, self.down, self.wants)
