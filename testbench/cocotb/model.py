"""What one end of a link must do, written from docs/how/specification.md, docs/how/link-sync.md,
docs/how/controller.md and docs/how/histograms.md alone ("SPEC n" is a section of the first).

It shares nothing with the golden models in Rust. Numbers are exact integers and fractions; the
correction of `perfbound-correct` is real arithmetic with the error that `linkdoze estimate` states.

The models go from event to event. `step(cycle, ...)` is called for every cycle in which an input
differs from the cycle before, and for every cycle that `due` names; in all others nothing happens
but the passing of time. Times are clock cycles since reset, unless a name ends in `_ticks`.
"""

import math
import tomllib
from collections import deque
from fractions import Fraction
from typing import NamedTuple

WAKE, GOING_DOWN, FAST_WAKE, DEEP_SLEEP, REFRESH, GOING_UP = range(6)
NONE, REQ_DOWN, REQ_UP, ACK, NACK, SYNC = range(6)
NEVER = 1 << 62
PICOSECONDS = 1000


class Configuration:
    """A configuration of a port (docs/reference/keys.md): the defaults, and times in whole clock
    cycles or whole ticks."""

    def __init__(self, text):
        tables = tomllib.loads(text, parse_float=Fraction)

        def get(table, key, default):
            found = tables
            for part in table.split("."):
                found = found.get(part, {})
            return found.get(key, default)

        period = Fraction(get("clock", "period_ps", 1000), PICOSECONDS)

        def whole(ns, unit):
            count = Fraction(ns) / unit
            assert count.denominator == 1, f"{ns} ns is no multiple of {unit} ns"
            return int(count)

        def cycles(table, key, default):
            return whole(get(table, key, default), period)

        tick = Fraction(get("clock", "tick_ns", math.ceil(period)))
        self.clocks_per_tick = whole(tick, period)
        self.time_width = get("port", "time_width", 32)
        self.longest = 2**self.time_width - 1
        self.policy = get("port", "policy", "perfbound")
        self.predicts = self.policy.startswith("perfbound")
        self.corrects = self.policy == "perfbound-correct"
        self.sleep = get("port", "sleep", "deep-sleep")
        self.hybrid = self.sleep == "hybrid"
        self.messages = get("port", "sync", "messages") == "messages"
        # SPEC 14: the direction that the port sends on sleeps for itself.
        self.alone = get("port", "sync", "messages") == "lpi"
        self.registers = get("port", "registers", False)
        self.hold = cycles("port", "hybrid_hold_ns", 8000)
        self.sync_timeout = (
            whole(get("port", "sync_timeout_ns", 10000), tick) * self.clocks_per_tick
        )
        fast, deep = "states.fast-wake", "states.deep-sleep"
        self.t_w = {
            FAST_WAKE: cycles(fast, "t_w_ns", 375),
            DEEP_SLEEP: cycles(deep, "t_w_ns", 4480),
        }
        self.t_s = {
            FAST_WAKE: cycles(fast, "t_s_ns", 200),
            DEEP_SLEEP: cycles(deep, "t_s_ns", 2000),
        }
        self.quiet = cycles(deep, "t_q_ns", 0)
        self.refresh = cycles(deep, "t_r_ns", 0)
        used = {"fast-wake": [FAST_WAKE], "deep-sleep": [DEEP_SLEEP]}
        self.sleeps = used.get(self.sleep, [FAST_WAKE, DEEP_SLEEP])
        # SPEC 5, docs/how/link-sync.md: an end that has been reset. Through registers, software may
        # choose another state, and longer times.
        chosen = [FAST_WAKE, DEEP_SLEEP] if self.registers else self.sleeps
        longer = get("port", "timing_range", 1) if self.registers else 1
        longest = [max(times[s] for s in chosen) for times in (self.t_s, self.t_w)]
        self.start_cycles = longer * (self.sync_timeout + sum(longest)) + 3

        # SPEC 6.
        self.kind = get("histogram", "kind", "clearing")
        self.log_scale = get("histogram", "bin_scale", "linear") == "log"
        self.bins = get("histogram", "bins", 256)
        self.bin = whole(get("histogram", "bin_ns", tick if self.log_scale else 16384), tick)
        assert self.bin & (self.bin - 1) == 0, "bin_ns is a power of two ticks"
        self.counter_max = 2 ** get("histogram", "counter_bits", 8) - 1
        self.max_samples = get("histogram", "max_samples", 250)
        self.ttl = whole(get("histogram", "ttl_ns", 10**9), tick) or self.longest
        self.map_entries = get("histogram", "map_entries", min(64, self.bins))
        longest = 10**9 if self.log_scale else self.bins * self.bin * tick
        self.h_maxval = whole(get("histogram", "max_value_ns", longest), tick)
        self.mantissa_bits = 0
        if self.log_scale:
            units = self.h_maxval // self.bin
            fits = [m for m in range(1, 13) if log_bin(units, m) < self.bins]
            self.mantissa_bits = max(fits, default=0)

        # SPEC 3.
        fixed = self.policy == "fixed"
        init = "t_pdt_ns" if fixed else "t_pdt_init_ns"
        default = 100000 if fixed else self.h_maxval * tick
        self.t_pdt_init = whole(get("port", init, default), tick)
        backstop = get("port", "t_backstop_ns", self.h_maxval * tick)
        self.backstop = None if backstop == "off" else whole(backstop, tick)

        # SPEC 7: `l / t_w` for each tick. The state that takes longest to wake counts.
        default = [[2, Fraction("0.002")], [4, Fraction("0.013")], [5, Fraction("0.985")]]
        hops = get("perfbound", "hops", default)
        self.measured = hops == "measured"
        bound = Fraction(get("perfbound", "bound", Fraction("0.01")))
        mean = Fraction(1, 63) if self.measured else sum(Fraction(p) / h for h, p in hops)
        self.l = Fraction(get("perfbound", "hop_factor", bound * mean))
        t_w = max(self.t_w[state] for state in self.sleeps[-1:])
        # SPEC 12, docs/how/guard.md: where nothing computes the rate anew, it is that of the longest
        # `t_w` that software can set.
        if self.registers and not self.predicts:
            t_w = max(self.t_w.values()) * longer
        self.rate = self.l * self.clocks_per_tick / t_w
        self.elapsed = get("perfbound", "window", "held") == "elapsed"

        # SPEC 8.
        self.history = get("correction", "history", 16)
        self.raw = get("correction", "mode", "at-least-one") == "raw"
        self.percent = get("correction", "miss_unit", "fraction") == "percent"
        # SPEC 12.
        self.burst = get("guard", "burst", 0)

    def bin_of(self, ticks):
        """The bin of an idle period (SPEC 6, docs/how/histograms.md)."""
        units = min(ticks, self.h_maxval) // self.bin
        if self.log_scale:
            units = log_bin(units, self.mantissa_bits)
        return min(units, self.bins - 1)

    def middle(self, index):
        """The middle of a bin in whole ticks, at most `h_maxval` (SPEC 7.5)."""
        if index == self.bins:
            return self.h_maxval
        first, exponent = index, 0
        m = self.mantissa_bits
        if self.log_scale and index >= 2 ** (m + 1):
            exponent = index // 2**m - 1
            first = (2**m + index % 2**m) << exponent
        return min(first * self.bin + (self.bin << exponent) // 2, self.h_maxval)


def log_bin(units, m):
    """The bin of so many units on a logarithmic scale with `m` bits of mantissa."""
    if units < 2**m:
        return units
    exponent = units.bit_length() - 1 - m
    return (exponent << m) + (units >> exponent)


class Histogram:
    """All five kinds of histogram with their windows `X` (SPEC 6 and 7.1)."""

    def __init__(self, configuration):
        self.of = configuration
        self.counts = [0] * configuration.bins
        self.samples = 0
        self.began = 0  # the cycle in which the window began
        self.halved = 0  # regular: halvings so far
        self.lost = 0  # regular: ticks that the halvings have taken off X
        self.full = False  # regular: a counter stands at its largest value
        self.held = deque()  # circular
        self.older = []  # decaying: (counts, ticks) of older generations, the latest first
        self.overflows = 0  # map
        # Regular: whether a threshold came out since the last halving; None if the outputs do not
        # tell.
        self.answered = True

    def might_halve(self, cycle):
        """Whether a sample that comes in `cycle` finds it due to be halved."""
        if self.of.kind != "regular" or self.answered is False:
            return False
        return self.full or self.window(cycle) > self.window_max()

    def record(self, ticks, cycle):
        """Records an idle period of `ticks` that ended in `cycle`."""
        of = self.of
        sample, index = min(ticks, of.h_maxval), of.bin_of(ticks)
        if of.kind == "regular":
            if self.might_halve(cycle):
                self.halve(cycle)
        elif of.kind == "circular":
            self.held.append((sample, index))
            if len(self.held) > of.max_samples:
                self.counts[self.held.popleft()[1]] -= 1
        else:
            age = self.ticks_since(self.began, cycle)
            due = self.samples >= of.max_samples or age >= of.ttl
            if of.kind == "map" and not due and self.counts[index] == 0:
                if sum(count > 0 for count in self.counts) == of.map_entries:
                    due, self.overflows = True, self.overflows + 1
            if due:
                if of.kind == "decaying":
                    generation = self.counts, self.duration(cycle)
                    self.older = [generation, *self.older[:2]]
                self.counts = [0] * of.bins
                self.samples, self.began = 0, cycle
        self.samples += 1
        if of.kind == "regular" or self.counts[index] < of.counter_max:
            self.counts[index] += 1
        self.full |= self.counts[index] >= of.counter_max

    def halve(self, cycle):
        """Halves the counters and the window of a regular histogram."""
        for index, count in enumerate(self.counts):
            up = (index + self.halved) % 2
            self.counts[index] = (count + up) // 2
        self.halved += 1
        self.lost = self.ticks_since(0, cycle) - self.window(cycle) // 2
        self.full = any(count >= self.of.counter_max for count in self.counts)
        # The correction follows the threshold, so that one may have come out unseen.
        self.answered = None if self.of.corrects else False

    def ticks_since(self, began, cycle):
        """Whole ticks from the beginning of a cycle to that of another."""
        return (cycle - began) // self.of.clocks_per_tick

    def window_max(self):
        """What `X` of a regular histogram may not pass."""
        return 2 ** min(self.of.time_width, 48) - 1

    def duration(self, cycle):
        """Ticks that the present generation of a decaying histogram has lasted."""
        return min(self.ticks_since(self.began, cycle), self.of.ttl)

    def window(self, cycle):
        """The window `X` at the beginning of `cycle`."""
        of = self.of
        if of.kind == "regular":
            return min(self.ticks_since(0, cycle) - self.lost, 2 * self.window_max() + 1)
        if of.kind == "circular":
            ticks = sum(sample for sample, _ in self.held)
            if of.elapsed:
                ticks = self.ticks_since(0, cycle)
        elif of.kind == "decaying":
            ticks = 8 * self.duration(cycle)
            ticks += sum(d << 2 - age for age, (_, d) in enumerate(self.older))
            ticks //= 8
        else:
            ticks = self.ticks_since(self.began, cycle)
        return min(ticks, of.longest)

    def budget(self, window):
        """`N` for a window (SPEC 7.3)."""
        return math.floor(self.of.rate * window)

    def t_pb(self, budget):
        """The middle of the lowest bin whose tail sum is within the budget (SPEC 7.4 and 7.5)."""
        tail, index = 0, self.of.bins
        while index > 0:
            tail += 8 * self.counts[index - 1]
            tail += sum(counts[index - 1] << 2 - age for age, (counts, _) in enumerate(self.older))
            if tail > 8 * budget:
                break
            index -= 1
        return self.of.middle(index)


class Correction:
    """The correction factor (SPEC 8)."""

    def __init__(self, configuration):
        self.of = configuration
        self.logs = deque([None] * configuration.history)  # of the ratios of misses

    def record(self, ticks, missed, t_pdt):
        """An idle period ended."""
        self.logs.popleft()
        self.logs.append(math.log2(ticks / max(t_pdt, 1)) if missed else None)

    def log2_factor(self):
        """The logarithm of the factor; `None` without a miss."""
        logs = [log for log in self.logs if log is not None]
        if not logs:
            return None
        rate = len(logs) * (100 if self.of.percent else 1) / self.of.history
        return math.log2(rate) + math.fsum(logs) / len(logs)

    def bounds(self, t_pb, accuracy):
        """The least and the greatest threshold that are right for `t_pb`."""
        log2 = self.log2_factor()
        if log2 is None:
            return t_pb, t_pb
        exact = t_pb * 2.0**log2
        if not self.of.raw:
            exact = max(exact, t_pb)
        exact = min(exact, self.of.h_maxval)
        error = accuracy["ticks"] + accuracy["relative"] * exact + 1e-9 * exact
        return math.ceil(exact - error), min(math.floor(exact + error), self.of.h_maxval)


class Inputs(NamedTuple):
    """What an end sees in one cycle."""

    queue_nonempty: int = 0
    transmitting: int = 0
    receiving: int = 0
    message_in: int = 0
    sleep_permit: int = 0
    remote_down: int = 0
    remote_up: int = 0

    def active(self):
        return self.queue_nonempty or self.transmitting or self.receiving


class Outputs(NamedTuple):
    """What the specification fixes to the cycle."""

    tx_enable: int
    power_state: int
    hit: int
    miss: int
    message_out: int
    sync_error: int
    lpi_request: int


class Ended(NamedTuple):
    """An idle period that has ended, and the threshold that governed it."""

    ticks: int
    missed: bool
    t_pdt: int


START, IDLE, ASK_DOWN, SYNC_DOWN, AWAIT_DOWN, ASK_UP, SYNC_UP, AWAIT_UP = (
    "START IDLE ASK_DOWN SYNC_DOWN AWAIT_DOWN ASK_UP SYNC_UP AWAIT_UP".split()
)


class End:
    """One end of a link: idle periods, timer, power state, the agreement with the other end and
    the guard (SPEC 2 to 5 and 12). `out` is what the outputs are in the cycle that comes next."""

    def __init__(self, configuration, initiator):
        self.of = configuration
        self.initiator = initiator
        self.power = WAKE
        self.target = None  # where a transition down leads, or what one up leaves
        self.power_until = NEVER  # the last cycle of the present transition, hold or interval
        self.rise = False  # the way up follows the transition down
        self.idle_from = None  # the first cycle of the present idle time
        self.seen_active = False
        self.last_sender = True
        self.t_pdt = configuration.t_pdt_init  # that governs the present idle time
        self.expires = NEVER  # in this cycle the timer expires
        self.left_wake = False
        self.refuses = False  # the environment wants it not to sleep
        self.sync = START if configuration.messages else IDLE
        self.sync_from = 0  # the first cycle in this state
        self.count_from = 0  # of which this one is the first that its counter counts
        self.round_trip = 0
        self.withdrawn = False
        self.unheard = False
        self.heard = False
        self.error = False
        self.tokens = Fraction(configuration.burst)
        self.tokens_at = 0  # ticks up to which `tokens` is current
        self.charged = False
        self.waits = 0
        self.due = 0
        self.out = Outputs(int(not configuration.messages), WAKE, 0, 0, NONE, 0, 0)

    # The guard (SPEC 12).

    def token_level(self, cycle):
        """Tokens in the bucket in `cycle`."""
        ticks = cycle // self.of.clocks_per_tick
        level = self.tokens + (ticks - self.tokens_at) * self.of.rate
        return min(level, Fraction(self.of.burst))

    def permitted(self, cycle):
        """Whether this end may agree to leave `WAKE`."""
        if self.refuses:
            return False
        return self.of.burst == 0 or self.token_level(cycle) >= 1

    def charge(self, cycle, queue_nonempty):
        """Takes a token for the first packet that waits in a time asleep."""
        if self.power == WAKE:
            self.charged = False
        elif queue_nonempty and not self.charged:
            self.charged = True
            self.waits += 1
            if self.of.burst:
                self.tokens = self.token_level(cycle + 1) - 1
                self.tokens_at = (cycle + 1) // self.of.clocks_per_tick

    # Idle time (SPEC 2 and 3).

    def idle_ticks(self, cycle):
        """Whole ticks of idle time before `cycle`."""
        return min((cycle - self.idle_from) // self.of.clocks_per_tick, self.of.longest)

    def begin_idle(self, cycle, t_pdt):
        """`cycle` is the first idle one."""
        self.idle_from, self.left_wake, self.t_pdt = cycle, False, t_pdt
        threshold = t_pdt
        if not self.last_sender:
            if self.of.backstop is None:
                threshold = None
            else:
                threshold = max(t_pdt, self.of.backstop)
        if threshold is None or self.of.policy == "always-on":
            self.expires = NEVER
        else:
            self.expires = cycle + (threshold + 1) * self.of.clocks_per_tick - 1

    def step(self, cycle, inputs, t_pdt):
        """What happens in `cycle`; `t_pdt` is the threshold in force. Returns the idle period
        that ended in this cycle, if it is one."""
        ended = None
        active = inputs.active()
        if active:
            if self.idle_from is not None and self.seen_active:
                ended = Ended(self.idle_ticks(cycle), self.left_wake, self.t_pdt)
            self.idle_from, self.expires = None, NEVER
            self.seen_active = True
            self.last_sender = bool(inputs.transmitting) or self.of.alone
        elif self.idle_from is None:
            self.begin_idle(cycle, t_pdt)
        expires = cycle == self.expires
        overdue = cycle > self.expires and self.power == WAKE

        waits = bool(inputs.queue_nonempty)
        if self.of.messages:
            message, down, up = self.agree(cycle, inputs, expires, overdue)
        elif self.of.alone:
            message, up = NONE, waits
            # The timer is over, be it for long, and the guard has a token.
            down = self.power == WAKE and not active and (expires or overdue)
            down = down and self.permitted(cycle)
            down = down or (
                self.power == FAST_WAKE and self.of.hybrid and cycle == self.power_until
            )
        else:
            message = NONE
            down = inputs.remote_down or expires and inputs.sleep_permit
            held = self.power == FAST_WAKE and self.of.hybrid and cycle == self.power_until
            down = down and self.power == WAKE or held
            up = waits or inputs.remote_up
        self.charge(cycle, waits)
        before = self.power
        self.move(cycle, down, up)
        if not active and before == WAKE and self.power != WAKE:
            self.left_wake = True

        committed = self.sync in (START, SYNC_DOWN, AWAIT_DOWN)
        self.out = Outputs(
            int(self.power == WAKE and not committed),
            self.power,
            int(ended is not None and not ended.missed),
            int(ended is not None and ended.missed),
            message,
            int(self.error),
            int(self.power in (GOING_DOWN, FAST_WAKE, DEEP_SLEEP, REFRESH)),
        )
        self.due = self.next_event(cycle, message, ended, overdue)
        return ended

    # The power state (SPEC 4).

    def enter(self, cycle, power, cycles):
        """From `cycle` on the link is in `power`, for so many cycles."""
        self.power = power
        self.power_until = cycle + cycles - 1 if cycles else NEVER

    def fall_asleep(self, cycle):
        """The link reaches the state that it went down to."""
        hold = 0
        if self.target == FAST_WAKE and self.of.hybrid:
            hold = self.of.hold
        elif self.target == DEEP_SLEEP:
            hold = self.of.quiet
        self.enter(cycle, self.target, hold)

    def move(self, cycle, down, up):
        """The power state after `cycle`."""
        over = cycle == self.power_until
        if self.power == GOING_DOWN:
            self.rise |= bool(up) and self.of.messages
            if over and (self.rise or up):
                self.go_up(cycle, self.target)
            elif over:
                self.fall_asleep(cycle + 1)
        elif self.power == GOING_UP:
            if over:
                self.enter(cycle + 1, WAKE, 0)
        elif up and self.power != WAKE:
            self.go_up(cycle, DEEP_SLEEP if self.power == REFRESH else self.power)
        elif down:
            self.target = DEEP_SLEEP if self.power == FAST_WAKE else self.of.sleeps[0]
            self.enter(cycle + 1, GOING_DOWN, self.of.t_s[self.target])
        elif over and self.power == DEEP_SLEEP:
            self.enter(cycle + 1, REFRESH, self.of.refresh)
        elif over and self.power == REFRESH:
            self.enter(cycle + 1, DEEP_SLEEP, self.of.quiet)

    def go_up(self, cycle, leaves):
        self.rise = False
        self.enter(cycle + 1, GOING_UP, self.of.t_w[leaves])

    # The agreement of both ends (SPEC 5, docs/how/link-sync.md).

    def change(self, cycle, state):
        """From the next cycle on the agreement is in `state`."""
        self.sync, self.sync_from, self.count_from = state, cycle + 1, cycle + 1

    def give_up(self):
        """No answer has come."""
        self.error = self.unheard = True

    def agree(self, cycle, inputs, expires, overdue):
        """One cycle of the agreement: the message that is sent, and whether the link goes down
        or up."""
        if cycle == 0:
            return REQ_UP, False, False
        message = inputs.message_in
        waits = bool(inputs.queue_nonempty)
        asleep = self.power in (FAST_WAKE, DEEP_SLEEP, REFRESH)
        below = self.power == WAKE or self.of.hybrid and self.power == FAST_WAKE
        permitted = self.power != WAKE or self.permitted(cycle)
        accepts = below and permitted and not waits and not inputs.transmitting
        count = cycle - self.count_from
        late = count >= self.of.sync_timeout
        if message == SYNC or message == ACK and self.sync in (START, ASK_DOWN, ASK_UP):
            self.unheard, self.heard = False, True

        def accept_down():
            if accepts:
                self.change(cycle, AWAIT_DOWN)
                return ACK
            self.change(cycle, IDLE)
            return NACK

        if self.sync == START:
            sent = {REQ_DOWN: NACK, REQ_UP: ACK, ACK: SYNC}.get(message, NONE)
            if count == self.of.start_cycles - 1:
                if not self.heard:
                    self.give_up()
                self.change(cycle, IDLE)
            return sent, False, False
        if self.sync == IDLE:
            if message == REQ_UP:
                self.change(cycle, AWAIT_UP)
                return ACK, False, False
            if waits and (asleep or self.power == GOING_DOWN) and not self.rise:
                self.change(cycle, ASK_UP)
                return REQ_UP, False, False
            if message == REQ_DOWN:
                return accept_down(), False, False
            second = self.of.hybrid and self.initiator and self.power == FAST_WAKE
            second = second and cycle >= self.power_until
            if not overdue and not second:
                self.count_from = cycle + 1
            asks = expires and self.power == WAKE or second or overdue and late
            if asks and not self.unheard and below:
                if permitted:
                    self.change(cycle, ASK_DOWN)
                    self.withdrawn = False
                    return REQ_DOWN, False, False
                self.count_from = cycle + 1
            return NONE, False, False
        if self.sync == ASK_DOWN:
            self.withdrawn |= bool(inputs.active())
            if message == ACK:
                if self.withdrawn:
                    self.change(cycle, IDLE)
                    return NACK, False, False
                self.round_trip = count
                self.change(cycle, SYNC_DOWN)
                return SYNC, False, False
            if message == NACK:
                self.change(cycle, IDLE)
            elif message == REQ_UP:
                self.change(cycle, AWAIT_UP)
                return ACK, False, False
            elif message == REQ_DOWN and not self.initiator:
                return accept_down(), False, False
            elif late:
                # From fast wake of `hybrid` it comes awake.
                self.give_up()
                self.change(cycle, IDLE)
                return NONE, False, True
            return NONE, False, False
        if self.sync == SYNC_DOWN:
            if message == REQ_UP:
                self.change(cycle, AWAIT_UP)
                return ACK, False, False
            if count == self.round_trip >> 1:
                self.change(cycle, IDLE)
                return NONE, True, False
            return NONE, False, False
        if self.sync == AWAIT_DOWN:
            if message == SYNC:
                self.change(cycle, IDLE)
                return NONE, True, False
            if message == REQ_UP:
                self.change(cycle, AWAIT_UP)
                return ACK, False, False
            if message == NACK:
                self.change(cycle, IDLE)
            elif late:
                # From fast wake of `hybrid` it comes awake.
                self.give_up()
                self.change(cycle, IDLE)
                return NONE, False, True
            return NONE, False, False
        refusal = NACK if message == REQ_DOWN else NONE
        if self.sync == ASK_UP:
            if message == ACK:
                self.round_trip = count
                self.change(cycle, SYNC_UP)
                return SYNC, False, False
            if message == SYNC:
                self.change(cycle, IDLE)
                return NONE, False, True
            if message == REQ_UP:
                if not self.initiator:
                    self.change(cycle, AWAIT_UP)
                return ACK, False, False
        elif self.sync == SYNC_UP:
            if message == SYNC or count == self.round_trip >> 1:
                self.change(cycle, IDLE)
                return refusal, False, True
            return ACK if message == REQ_UP else refusal, False, False
        elif message == SYNC:
            self.change(cycle, IDLE)
            return NONE, False, True
        elif message == REQ_UP:
            refusal = ACK
        if late:
            self.give_up()
            self.change(cycle, IDLE)
            return refusal, False, True
        return refusal, False, False

    def next_event(self, cycle, message, ended, overdue):
        """The next cycle in which something happens without a change of the inputs."""
        soon = message != NONE or ended is not None or self.sync_from == cycle + 1
        waits_for_token = self.of.alone and overdue and self.power == WAKE
        if soon or cycle == self.expires or waits_for_token:
            return cycle + 1
        events = [NEVER]
        if self.expires > cycle:
            events.append(self.expires)
        if self.power_until > cycle:
            events.append(self.power_until)
        if self.sync == START:
            events.append(self.of.start_cycles - 1)
        elif self.sync in (SYNC_DOWN, SYNC_UP):
            events.append(self.count_from + (self.round_trip >> 1))
        elif self.sync != IDLE or overdue:
            events.append(self.count_from + self.of.sync_timeout)
        return max(min(events), cycle + 1)
