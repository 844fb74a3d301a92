"""Compares what the Verilog does with the model, cycle by cycle and update by update."""

import copy
from collections import deque
from typing import NamedTuple

from model import NEVER, WAKE, Correction, End, Histogram


class Difference(AssertionError):
    """The Verilog does not do what the specification says."""


class Expected(NamedTuple):
    """The thresholds after the sample of `cycle`, or for a window."""

    cycle: int
    t_pb: int
    window: int
    budget: int
    bounds: tuple  # of t_pdt

    def shown(self):
        """What the pins show of it."""
        return self.t_pb, self.window, self.budget


class Thresholds:
    """Watches `update`, `t_pb`, `window`, `budget` and `t_pdt` (SPEC 6 to 8 and 10).

    An update that answers one sample alone must be exact. If samples come while an update is
    under way, the specification leaves open which of them it covers; then each update must be
    consistent in itself, and the last one must cover all samples. Of a regular
    histogram with the correction, the outputs do not tell whether PerfBound's threshold has come
    out since the last halving, which decides about the next one if samples come during updates;
    then both are followed until the window tells."""

    def __init__(self, of, estimate):
        self.of = of
        self.histograms = [Histogram(of)]  # as a rule one
        self.correction = Correction(of)
        self.accuracy = estimate["accuracy"]
        self.latency = estimate["latency"]["update_cycles"]
        self.latency += estimate["latency"]["halving_delay_cycles"]
        self.interval = estimate["latency"]["update_interval_at_line_rate_cycles"]
        self.interval += estimate["latency"]["halving_delay_cycles"]
        self.pending = []  # what the next update must be, for each histogram
        self.crowded = False  # samples came while an update was under way
        self.owed = None  # the first sample since the last update
        self.shown = (of.t_pdt_init, 0, 0)  # t_pb, window, budget
        self.latest = (of.t_pdt_init, of.t_pdt_init)  # bounds of the newest threshold
        self.t_pdt = of.t_pdt_init
        self.adopts = False  # the threshold in force is the newest from this cycle on
        self.samples = self.updates = self.exact = self.settled = self.slowest = 0

    def expect(self, histogram, cycle, window):
        """The thresholds that follow from a histogram."""
        budget = histogram.budget(window)
        t_pb = histogram.t_pb(budget)
        bounds = t_pb, t_pb
        if self.of.corrects:
            bounds = self.correction.bounds(t_pb, self.accuracy)
        return Expected(cycle, t_pb, window, budget, bounds)

    def sample(self, cycle, ended):
        """An idle period ended in `cycle`."""
        self.samples += 1
        if self.of.corrects:
            self.correction.record(ended.ticks, ended.missed, ended.t_pdt)
        for histogram in list(self.histograms):
            if histogram.answered is None and histogram.might_halve(cycle):
                other = copy.deepcopy(histogram)
                other.answered = False
                other.record(ended.ticks, cycle)
                other.answered = None
                self.histograms.append(other)
            histogram.record(ended.ticks, cycle)
        if not self.pending:
            self.owed = cycle
        else:
            self.crowded = True
            if self.owed is None:
                self.owed = cycle
        self.pending = [self.expect(it, cycle, it.window(cycle)) for it in self.histograms]

    def keep(self, right):
        """Goes on with the histograms that the outputs agree with."""
        self.histograms = [it for it, good in zip(self.histograms, right, strict=True) if good]
        for histogram in self.histograms:
            histogram.answered = True
        self.pending, self.crowded = [], False

    def deadline(self):
        """The cycle in which something must have happened."""
        if not self.pending:
            return NEVER
        if self.crowded:
            settles = self.pending[0].cycle + 2 * self.interval
            return min(settles, self.owed + self.interval) if self.owed else settles
        return self.owed + self.latency

    def check(self, cycle, pins):
        """The outputs in `cycle`, before what its inputs do is known."""
        shown = pins["t_pb"], pins["window"], pins["budget"]
        if shown != self.shown and not self.pending:
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
        elif cycle >= self.deadline():
            if self.owed is not None:
                raise Difference(f"no update {cycle - self.owed} cycles after a sample")
            self.settle(cycle, *shown)

    def update(self, cycle, t_pb, window, budget):
        """`update` is high."""
        if not self.pending:
            raise Difference("update without a sample")
        self.updates += 1
        self.owed = None
        if self.crowded:
            # With the correction, the search after this one may have its window already.
            if not self.of.corrects and budget != self.histograms[0].budget(window):
                raise Difference(f"budget {budget} for window {window}")
            for histogram in self.histograms:
                histogram.answered = histogram.answered or (None if self.of.corrects else True)
            self.latest = 0, self.of.h_maxval
            return
        right = [want.shown() == (t_pb, window, budget) for want in self.pending]
        want = self.pending[right.index(True) if any(right) else 0]
        if not any(right):
            raise Difference(
                f"t_pb, window, budget {t_pb, window, budget} for the sample of {want.cycle}; "
                f"{want.shown()} are right"
            )
        self.exact += 1
        self.slowest = max(self.slowest, cycle - want.cycle)
        self.latest = want.bounds
        self.keep(right)

    def settle(self, cycle, t_pb, window, budget):
        """No sample has come for long enough: the thresholds must cover all."""
        wants = [self.expect(it, cycle, window) for it in self.histograms]
        spans = [
            (first.window, it.window(cycle))
            for first, it in zip(self.pending, self.histograms, strict=True)
        ]
        right = [
            least <= window <= most and want.shown() == (t_pb, window, budget)
            for want, (least, most) in zip(wants, spans, strict=True)
        ]
        if not any(right):
            raise Difference(
                f"t_pb, window, budget {t_pb, window, budget} after several samples; "
                f"{wants[0].shown()} are right, for a window within {spans[0]}"
            )
        low, high = wants[right.index(True)].bounds
        if self.latest[0] == self.latest[1]:
            if not low <= self.latest[0] <= high:
                raise Difference(f"t_pdt is {self.latest[0]}, not {low} to {high}")
        else:
            self.latest = low, high
        self.settled += 1
        self.keep(right)


class Scoreboard:
    """The model of the port beside the Verilog."""

    def __init__(self, of, estimate, initiator):
        self.of = of
        self.end = End(of, initiator)
        self.thresholds = Thresholds(of, estimate) if of.predicts else None
        self.before = None
        self.recent = deque(maxlen=40)
        self.hits = self.misses = 0
        self.transitions = 0
        self.sent, self.heard = [0] * 8, [0] * 8  # messages by their codes
        self.cycles_in = [0] * 6  # clock cycles in each power state, before `seen_at`
        self.state, self.seen_at = 0, 0

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
        self.cycles_in[self.state] += cycle - self.seen_at
        self.state, self.seen_at = pins["power_state"], cycle
        self.hits += pins["hit"]
        self.misses += pins["miss"]

    def step(self, cycle, pins, inputs):
        """What the inputs of `cycle` do."""
        self.recent.append(f"{cycle}: {inputs} {self.end.sync}")
        power = self.end.power
        ended = self.end.step(cycle, inputs, pins["t_pdt"])
        self.transitions += power == WAKE and self.end.power != WAKE
        self.sent[self.end.out.message_out] += 1
        self.heard[inputs.message_in] += 1
        if self.thresholds:
            if ended:
                self.thresholds.sample(cycle, ended)
            self.thresholds.adopts = bool(inputs.active())

    def counts(self, cycle):
        """What the registers of these names have to count up to `cycle`."""
        cycles_in = list(self.cycles_in)
        cycles_in[self.state] += cycle - self.seen_at
        names = ["wake", "going_down", "fast_wake", "deep_sleep", "refresh", "going_up"]
        return dict(zip(names, cycles_in, strict=True)) | {
            "periods": self.hits + self.misses,
            "hits": self.hits,
            "misses": self.misses,
            "transitions": self.transitions,
            "waits": self.end.waits,
        }

    def due(self, cycle):
        """The next cycle to look at."""
        due = self.end.due
        if self.thresholds:
            due = min(due, self.thresholds.deadline())
        return max(due, cycle + 1)
