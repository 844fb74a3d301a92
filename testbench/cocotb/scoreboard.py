"""Compares what the Verilog does with the model, cycle by cycle and update by update."""

from collections import deque

from model import NEVER, Correction, End, Histogram


class Difference(AssertionError):
    """The Verilog does not do what the specification says."""


class Expected:
    """The thresholds after one sample."""

    def __init__(self, cycle, window, budget, t_pb, bounds):
        self.cycle, self.window, self.budget = cycle, window, budget
        self.t_pb, self.bounds = t_pb, bounds


class Thresholds:
    """Watches `update`, `t_pb`, `window`, `budget` and `t_pdt` (SPEC 6 to 8 and 10).

    An update that answers one sample alone must be exact. If samples come while an update is
    under way, the specification leaves open which of them it covers; then each update must be
    consistent in itself, and the last one must cover all samples."""

    def __init__(self, of, estimate):
        self.of = of
        self.histogram = Histogram(of)
        self.correction = Correction(of)
        self.accuracy = estimate["accuracy"]
        self.latency = estimate["latency"]["update_cycles"]
        self.latency += estimate["latency"]["halving_delay_cycles"]
        self.interval = estimate["latency"]["update_interval_at_line_rate_cycles"]
        self.interval += estimate["latency"]["halving_delay_cycles"]
        self.pending = None  # what the next update must be
        self.crowded = False  # samples came while an update was under way
        self.owed = None  # the first sample since the last update
        self.shown = (of.t_pdt_init, 0, 0)  # t_pb, window, budget
        self.latest = (of.t_pdt_init, of.t_pdt_init)  # bounds of the newest threshold
        self.t_pdt = of.t_pdt_init
        self.adopts = False  # the threshold in force is the newest from this cycle on
        self.samples = self.updates = self.exact = self.settled = self.slowest = 0

    def expect(self, cycle, window):
        budget = self.histogram.budget(window)
        t_pb = self.histogram.t_pb(budget)
        bounds = t_pb, t_pb
        if self.of.corrects:
            bounds = self.correction.bounds(t_pb, self.accuracy)
        return Expected(cycle, window, budget, t_pb, bounds)

    def sample(self, cycle, ended):
        """An idle period ended in `cycle`."""
        self.samples += 1
        now_ticks = cycle // self.of.clocks_per_tick
        if self.of.corrects:
            self.correction.record(ended.ticks, ended.missed, ended.t_pdt)
        self.histogram.record(ended.ticks, now_ticks)
        if self.pending is None:
            self.owed = cycle
        else:
            self.crowded = True
            if self.owed is None:
                self.owed = cycle
        self.pending = self.expect(cycle, self.histogram.window(now_ticks))

    def deadline(self):
        """The cycle in which something must have happened."""
        if self.pending is None:
            return NEVER
        if self.crowded:
            settles = self.pending.cycle + 2 * self.interval
            return min(settles, self.owed + self.interval) if self.owed else settles
        return self.owed + self.latency

    def check(self, cycle, pins):
        """The outputs in `cycle`, before what its inputs do is known."""
        shown = pins["t_pb"], pins["window"], pins["budget"]
        if shown != self.shown and self.pending is None:
            raise Difference(f"t_pb, window, budget changed to {shown} without a sample")
        self.shown = shown
        if self.adopts:
            low, high = self.latest
            if not low <= pins["t_pdt"] <= high:
                raise Difference(f"t_pdt is {pins['t_pdt']}, not {low} to {high}")
            self.latest = pins["t_pdt"], pins["t_pdt"]
        elif pins["t_pdt"] != self.t_pdt:
            raise Difference(f"t_pdt changed from {self.t_pdt} to {pins['t_pdt']} while idle")
        self.t_pdt = pins["t_pdt"]
        if pins["update"]:
            self.update(cycle, *shown)
            self.histogram.answered = True
        elif cycle >= self.deadline():
            if self.owed is not None:
                raise Difference(f"no update {cycle - self.owed} cycles after a sample")
            self.settle(cycle, *shown)

    def update(self, cycle, t_pb, window, budget):
        """`update` is high."""
        want = self.pending
        if want is None:
            raise Difference("update without a sample")
        self.updates += 1
        self.owed = None
        if self.crowded:
            if budget != self.histogram.budget(window):
                raise Difference(f"budget {budget} for window {window}")
            self.latest = 0, self.of.h_maxval
            return
        if (t_pb, window, budget) != (want.t_pb, want.window, want.budget):
            raise Difference(
                f"t_pb {t_pb}, window {window}, budget {budget} for the sample of {want.cycle}; "
                f"{want.t_pb}, {want.window}, {want.budget} are right"
            )
        self.exact += 1
        self.slowest = max(self.slowest, cycle + 1 - want.cycle)
        self.latest, self.pending = want.bounds, None

    def settle(self, cycle, t_pb, window, budget):
        """No sample has come for long enough: the thresholds must cover all."""
        want = self.expect(cycle, window)
        least = self.pending.window
        most = self.histogram.window(cycle // self.of.clocks_per_tick)
        if not least <= window <= most or (t_pb, budget) != (want.t_pb, want.budget):
            raise Difference(
                f"t_pb {t_pb}, window {window}, budget {budget} after several samples; for "
                f"that window {want.t_pb}, {want.budget} are right, and it is to be from "
                f"{least} to {most}"
            )
        low, high = want.bounds
        if self.latest[0] == self.latest[1] and not low <= self.latest[0] <= high:
            raise Difference(f"t_pdt is {self.latest[0]}, not {low} to {high}")
        if self.latest[0] != self.latest[1]:
            self.latest = want.bounds
        self.settled += 1
        self.pending, self.crowded = None, False


class Scoreboard:
    """The model of the port beside the Verilog."""

    def __init__(self, of, estimate, initiator):
        self.of = of
        self.end = End(of, initiator)
        self.thresholds = Thresholds(of, estimate) if of.predicts else None
        self.before = None
        self.recent = deque(maxlen=40)
        self.hits = self.misses = 0
        self.states = [0] * 6  # cycles in each power state
        self.states_to = 0
        self.transitions = 0

    def check(self, cycle, pins):
        """Compares the outputs in `cycle`."""
        self.recent.append(f"{cycle}: {pins}")
        for name, value in self.end.out._asdict().items():
            if name in pins and pins[name] != value:
                raise Difference(f"{name} is {pins[name]}, not {value}")
        if self.thresholds:
            self.thresholds.check(cycle, pins)
        elif pins["t_pdt"] != self.of.t_pdt_init:
            raise Difference(f"t_pdt is {pins['t_pdt']}, not {self.of.t_pdt_init}")
        self.hits += pins["hit"]
        self.misses += pins["miss"]

    def step(self, cycle, pins, inputs):
        """What the inputs of `cycle` do."""
        self.recent.append(f"{cycle}: {inputs} {self.end.sync}")
        power = self.end.power
        ended = self.end.step(cycle, inputs, pins["t_pdt"])
        self.transitions += power == 0 and self.end.power != 0
        if self.thresholds:
            if ended:
                self.thresholds.sample(cycle, ended)
            self.thresholds.adopts = bool(inputs.active())

    def due(self, cycle):
        """The next cycle to look at."""
        due = self.end.due
        if self.thresholds:
            due = min(due, self.thresholds.deadline())
        return max(due, cycle + 1)
