//! The LPI state machine (SPEC 4).

pub mod golden;
#[cfg(test)]
mod tests;

use crate::config::plan::{PortPlan, Sleep, SleepTimes};
use crate::hdl::prelude::*;

states! {
    /// The state of the link at this end (SPEC 4), in the encoding of `power_state`.
    pub enum Link {
        Wake = "ready to transmit",
        GoingDown = "on the way down, full power",
        FastWake = "asleep, most of the PHY on",
        DeepSleep = "asleep, deepest",
        Refresh = "refreshing within deep sleep, full power",
        GoingUp = "on the way up, full power",
    }
}

/// The power states of the link and the transitions between them (SPEC 4, p000 2.3, 3.1;
/// hybrid and refresh: p002 II.A, III.A.3).
#[derive(LogicBlock)]
pub struct LpiFsm {
    about: About,
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub down_start: Signal<In, Bit>,
    pub up_start: Signal<In, Bit>,
    pub sleep: Optional<Signal<In, Bits>>,
    pub tx_enable: Signal<Out, Bit>,
    pub leaving: Signal<Out, Bit>,
    pub asleep: Signal<Out, Bit>,
    pub may_go_down: Signal<Out, Bit>,
    pub hold_over: Signal<Out, Bit>,
    pub power_state: Signal<Out, Bits>,
    pub state: Reg<Link>,
    cycles: Reg<Bits>,
    deep: Reg<Bit>,
    goes_on: Reg<Bit>,
    over: Signal<Local, Bit>,
    deepens: Signal<Local, Bit>,
    to_deep: Signal<Local, Bit>,
    hybrid: Constant<Bit>,
    chooses: Constant<Bit>,
    sleep_deep: Constant<Bits>,
    sleep_hybrid: Constant<Bits>,
    agrees: Constant<Bit>,
    uses_fast_wake: Constant<Bit>,
    uses_deep_sleep: Constant<Bit>,
    uses_refresh: Constant<Bit>,
    t_s_fast_wake: Constant<Bits>,
    t_s_deep_sleep: Constant<Bits>,
    t_w_fast_wake: Constant<Bits>,
    t_w_deep_sleep: Constant<Bits>,
    hold: Constant<Bits>,
    t_q: Constant<Bits>,
    t_r: Constant<Bits>,
    // For the proofs.
    last_down: Signal<Local, Bits>,
    last_up: Signal<Local, Bits>,
    pub age: Reg<Bits>,
    waiting: Reg<Bits>,
    longest_wait: Constant<Bits>,
    down_fast_wake: Constant<Bits>,
    down_deep_sleep: Constant<Bits>,
    up_fast_wake: Constant<Bits>,
    up_deep_sleep: Constant<Bits>,
    _wait_bits: usize,
    transmits_awake_only: Reg<Bit>,
    legal_state: Reg<Bit>,
    down_completes: Reg<Bit>,
    up_completes: Reg<Bit>,
    wait_bounded: Reg<Bit>,
    sleep_known: Reg<Bit>,
    time_adds_up: Reg<Bit>,
    wait_explained: Reg<Bit>,
}

/// The longest time, in clock cycles, that `up_start` can be 1 before the link is awake: a
/// transition down that has just begun, and the way up after it (SPEC 4).
pub fn wake_bound(plan: &PortPlan) -> u64 {
    let times = |uses: bool, times: SleepTimes| match uses {
        true => times.t_s + times.t_w,
        false => 0,
    };
    let chooses = plan.registers.is_some();
    let fast_wake = times(
        chooses || plan.sleep != Sleep::DeepSleep,
        plan.link.fast_wake,
    );
    let deep_sleep = times(
        chooses || plan.sleep != Sleep::FastWake,
        plan.link.deep_sleep,
    );
    fast_wake.max(deep_sleep)
}

impl LpiFsm {
    /// The state machine of `plan`.
    pub fn new(plan: &PortPlan) -> Self {
        let link = &plan.link;
        let chooses = plan.registers.is_some();
        let uses_fast_wake = chooses || plan.sleep != Sleep::DeepSleep;
        let uses_deep_sleep = chooses || plan.sleep != Sleep::FastWake;
        let hybrid = uses_fast_wake && uses_deep_sleep;
        let refresh = link.refresh.filter(|_| uses_deep_sleep);
        // Each duration with whether this configuration has it.
        let t_s_fast_wake = (link.fast_wake.t_s, uses_fast_wake);
        let t_w_fast_wake = (link.fast_wake.t_w, uses_fast_wake);
        let t_s_deep_sleep = (link.deep_sleep.t_s, uses_deep_sleep);
        let t_w_deep_sleep = (link.deep_sleep.t_w, uses_deep_sleep);
        let hold = (link.hybrid_hold, hybrid);
        let t_q = (refresh.map_or(1, |refresh| refresh.t_q), refresh.is_some());
        let t_r = (refresh.map_or(1, |refresh| refresh.t_r), refresh.is_some());
        let longest = [
            t_s_fast_wake,
            t_w_fast_wake,
            t_s_deep_sleep,
            t_w_deep_sleep,
            hold,
            t_q,
            t_r,
        ]
        .iter()
        .map(|&(cycles, used)| if used { cycles } else { 1 })
        .fold(1, u64::max);
        let width = clog2(longest.into());
        let duration = |(cycles, used): (u64, bool), doc: &str| {
            let last = if used { u128::from(cycles) - 1 } else { 0 };
            Constant::bits(width, last, format!("{doc}: clock cycles less one"))
        };
        let longest_wait = wake_bound(plan);
        let wait_bits = clog2(u128::from(longest_wait) + 2);
        LpiFsm {
            about: About::new(
                "lpi_fsm",
                "Power states of the link at this end. Nothing is transmitted unless the\n\
                 link is awake. A transition down always completes; if it is to go up by then,\n\
                 the way up begins at once.",
            ),
            clk: Signal::clock("clock"),
            rst: Signal::bit("synchronous reset"),
            down_start: Signal::bit("go down at the end of this cycle"),
            up_start: Signal::bit("go up at the end of this cycle, or of the transition down"),
            sleep: Optional::when(
                chooses,
                Signal::bits(2, "where to: 0 fast wake, 1 deep sleep, 2 hybrid"),
            ),
            tx_enable: Signal::bit("the port may start a packet"),
            leaving: Signal::bit("the link leaves Wake at the end of this cycle"),
            asleep: Signal::bit("the link sleeps or is on the way down"),
            may_go_down: Signal::bit("the link is in a state with a way down"),
            hold_over: Signal::bit("it has been long enough in fast wake for deep sleep"),
            power_state: Signal::bits(3, "state of the link, encoded as LINK_*"),
            state: Reg::state(Link::Wake, "state of the link"),
            cycles: Reg::bits(width, 0, "clock cycles left in this state, less one"),
            deep: Reg::bit(false, "the sleep state in question is deep sleep"),
            goes_on: Reg::bit(
                plan.sleep == Sleep::Hybrid,
                "fast wake is to be followed by deep sleep",
            ),
            over: Signal::bit("the state has lasted its time"),
            deepens: Signal::bit("from fast wake it is to go on to deep sleep"),
            to_deep: Signal::bit("a transition is to or from deep sleep"),
            hybrid: Constant::bit(hybrid, "the link uses both sleep states"),
            chooses: Constant::bit(chooses, "the sleep state is chosen at run time"),
            sleep_deep: Constant::bits(2, 1, "deep sleep"),
            sleep_hybrid: Constant::bits(2, 2, "fast wake first, deep sleep after a hold"),
            agrees: Constant::bit(
                plan.sync.is_some(),
                "the ends agree about the way from fast wake to deep sleep",
            ),
            uses_fast_wake: Constant::bit(uses_fast_wake, "the link uses fast wake"),
            uses_deep_sleep: Constant::bit(uses_deep_sleep, "the link uses deep sleep"),
            uses_refresh: Constant::bit(refresh.is_some(), "deep sleep has refreshes"),
            t_s_fast_wake: duration(t_s_fast_wake, "down to fast wake"),
            t_s_deep_sleep: duration(t_s_deep_sleep, "down to deep sleep"),
            t_w_fast_wake: duration(t_w_fast_wake, "up from fast wake"),
            t_w_deep_sleep: duration(t_w_deep_sleep, "up from deep sleep"),
            hold: duration(hold, "in fast wake before deep sleep"),
            t_q: duration(t_q, "quiet between two refreshes"),
            t_r: duration(t_r, "one refresh"),
            last_down: Signal::bits(width, "clock cycles of the transition down, less one"),
            last_up: Signal::bits(width, "clock cycles of the transition up, less one"),
            age: Reg::bits(width, 0, "clock cycles since the transition began"),
            waiting: Reg::bits(wait_bits, 0, "clock cycles for which up_start has waited"),
            longest_wait: Constant::bits(
                wait_bits,
                longest_wait.into(),
                "the longest transition down and the way up after it",
            ),
            // Constants of their own: a wrong one in the hardware is to be found.
            down_fast_wake: duration(t_s_fast_wake, "t_s of fast wake"),
            down_deep_sleep: duration(t_s_deep_sleep, "t_s of deep sleep"),
            up_fast_wake: duration(t_w_fast_wake, "t_w of fast wake"),
            up_deep_sleep: duration(t_w_deep_sleep, "t_w of deep sleep"),
            _wait_bits: wait_bits as usize,
            transmits_awake_only: Reg::property("Nothing is transmitted unless the link is awake."),
            legal_state: Reg::property("The link is in a state that this configuration has."),
            down_completes: Reg::property(
                "A transition down lasts exactly t_s, and the link does not wake from within it.",
            ),
            up_completes: Reg::property(
                "The link becomes awake only at the end of a transition up, after exactly t_w.",
            ),
            wait_bounded: Reg::property(
                "up_start never waits longer than one transition down and one up.",
            ),
            sleep_known: Reg::invariant("The link sleeps in the state that it went down to."),
            time_adds_up: Reg::invariant(
                "The cycles spent in a transition and the cycles left are its duration.",
            ),
            wait_explained: Reg::invariant(
                "What up_start has waited for is the transition under way, and the one before.",
            ),
        }
    }
}

impl Logic for LpiFsm {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, state, cycles, deep, goes_on, age, waiting);
        dff_setup!(
            self,
            clk,
            transmits_awake_only,
            legal_state,
            down_completes,
            up_completes
        );
        dff_setup!(
            self,
            clk,
            wait_bounded,
            sleep_known,
            time_adds_up,
            wait_explained
        );

        self.over.next = self.cycles.q.val() == 0;
        if self.chooses.val() {
            if self.agrees.val() {
                self.deepens.next = self.goes_on.q.val() & self.down_start.val();
            } else {
                self.deepens.next = self.goes_on.q.val() & self.over.val();
            }
        } else if self.agrees.val() {
            self.deepens.next = self.down_start.val();
        } else {
            self.deepens.next = self.over.val();
        }
        self.tx_enable.next = self.state.q.val() == Link::Wake;
        self.leaving.next = (self.state.q.val() == Link::Wake) & self.down_start.val();
        self.asleep.next =
            !(self.state.q.val() == Link::Wake) & !(self.state.q.val() == Link::GoingUp);
        if self.chooses.val() {
            comment!("The choice stands when the link leaves Wake.");
            if self.leaving.val() {
                self.goes_on.d.next = self.sleep.val() == self.sleep_hybrid.val();
            }
            self.may_go_down.next = (self.state.q.val() == Link::Wake)
                | ((self.state.q.val() == Link::FastWake) & self.goes_on.q.val());
            self.hold_over.next =
                (self.state.q.val() == Link::FastWake) & self.goes_on.q.val() & self.over.val();
        } else if self.hybrid.val() {
            self.may_go_down.next =
                (self.state.q.val() == Link::Wake) | (self.state.q.val() == Link::FastWake);
            self.hold_over.next = (self.state.q.val() == Link::FastWake) & self.over.val();
        } else {
            self.may_go_down.next = self.state.q.val() == Link::Wake;
            self.hold_over.next = false;
        }
        self.power_state.next = bit_cast(self.state.q.val(), 3);

        if self.hybrid.val() {
            self.to_deep.next = self.deep.q.val();
        } else {
            self.to_deep.next = self.uses_deep_sleep.val();
        }

        if !self.over.val() {
            self.cycles.d.next = self.cycles.q.val() - 1;
        }
        match self.state.q.val() {
            Link::Wake => {
                if self.down_start.val() {
                    self.state.d.next = Link::GoingDown;
                    if self.chooses.val() {
                        if self.sleep.val() == self.sleep_deep.val() {
                            self.cycles.d.next = self.t_s_deep_sleep.val();
                            self.deep.d.next = true;
                        } else {
                            self.cycles.d.next = self.t_s_fast_wake.val();
                            self.deep.d.next = false;
                        }
                    } else if self.uses_fast_wake.val() {
                        self.cycles.d.next = self.t_s_fast_wake.val();
                        if self.hybrid.val() {
                            self.deep.d.next = false;
                        }
                    } else {
                        self.cycles.d.next = self.t_s_deep_sleep.val();
                    }
                }
            }
            Link::GoingDown => {
                if self.over.val() {
                    if self.up_start.val() {
                        self.state.d.next = Link::GoingUp;
                    } else if self.to_deep.val() {
                        self.state.d.next = Link::DeepSleep;
                    } else {
                        self.state.d.next = Link::FastWake;
                    }
                    if self.up_start.val() {
                        if self.to_deep.val() {
                            self.cycles.d.next = self.t_w_deep_sleep.val();
                        } else {
                            self.cycles.d.next = self.t_w_fast_wake.val();
                        }
                    } else if self.to_deep.val() {
                        if self.uses_refresh.val() {
                            self.cycles.d.next = self.t_q.val();
                        }
                    } else if self.hybrid.val() {
                        self.cycles.d.next = self.hold.val();
                    }
                }
            }
            Link::FastWake => {
                if self.uses_fast_wake.val() {
                    if self.up_start.val() {
                        self.state.d.next = Link::GoingUp;
                        self.cycles.d.next = self.t_w_fast_wake.val();
                    } else if self.hybrid.val() & self.deepens.val() {
                        self.state.d.next = Link::GoingDown;
                        self.cycles.d.next = self.t_s_deep_sleep.val();
                        self.deep.d.next = true;
                    }
                } else {
                    comment!("Not used in this configuration.");
                    self.state.d.next = Link::Wake;
                }
            }
            Link::DeepSleep => {
                if self.uses_deep_sleep.val() {
                    if self.up_start.val() {
                        self.state.d.next = Link::GoingUp;
                        self.cycles.d.next = self.t_w_deep_sleep.val();
                    } else if self.uses_refresh.val() & self.over.val() {
                        self.state.d.next = Link::Refresh;
                        self.cycles.d.next = self.t_r.val();
                    }
                } else {
                    comment!("Not used in this configuration.");
                    self.state.d.next = Link::Wake;
                }
            }
            Link::Refresh => {
                if self.uses_refresh.val() {
                    if self.up_start.val() {
                        self.state.d.next = Link::GoingUp;
                        self.cycles.d.next = self.t_w_deep_sleep.val();
                    } else if self.over.val() {
                        self.state.d.next = Link::DeepSleep;
                        self.cycles.d.next = self.t_q.val();
                    }
                } else {
                    comment!("Not used in this configuration.");
                    self.state.d.next = Link::Wake;
                }
            }
            Link::GoingUp => {
                if self.over.val() {
                    self.state.d.next = Link::Wake;
                }
            }
            _ => {
                comment!("No such state: awake is the safe one.");
                self.state.d.next = Link::Wake;
            }
        }

        if self.to_deep.val() {
            self.last_down.next = self.down_deep_sleep.val();
            self.last_up.next = self.up_deep_sleep.val();
        } else {
            self.last_down.next = self.down_fast_wake.val();
            self.last_up.next = self.up_fast_wake.val();
        }
        self.age.d.next = 0.into();
        self.waiting.d.next = 0.into();
        if !(self.state.q.val() == Link::Wake) & self.up_start.val() {
            self.waiting.d.next = self.waiting.q.val() + 1;
        }
        match self.state.q.val() {
            Link::Wake => {
                self.wait_explained.d.next = self.waiting.q.val() <= self.longest_wait.val();
            }
            Link::GoingDown => {
                if !self.over.val() {
                    self.age.d.next = self.age.q.val() + 1;
                }
                self.time_adds_up.d.next = (self.cycles.q.val()
                    == (self.last_down.val() - self.age.q.val()))
                    & (self.age.q.val() <= self.last_down.val());
                self.down_completes.d.next = (self.age.q.val() <= self.last_down.val())
                    & ((self.state.d.val() == Link::GoingDown)
                        | ((self.age.q.val() == self.last_down.val())
                            & !(self.state.d.val() == Link::Wake)));
                self.wait_explained.d.next =
                    self.waiting.q.val() <= bit_cast(self.age.q.val(), self._wait_bits);
            }
            Link::FastWake => {
                self.legal_state.d.next = self.uses_fast_wake.val();
                self.sleep_known.d.next = !self.to_deep.val();
                self.wait_explained.d.next = self.waiting.q.val() == 0;
            }
            Link::DeepSleep => {
                self.legal_state.d.next = self.uses_deep_sleep.val();
                self.sleep_known.d.next = self.to_deep.val();
                self.wait_explained.d.next = self.waiting.q.val() == 0;
            }
            Link::Refresh => {
                self.legal_state.d.next = self.uses_refresh.val();
                self.sleep_known.d.next = self.to_deep.val();
                self.wait_explained.d.next = self.waiting.q.val() == 0;
            }
            Link::GoingUp => {
                if !self.over.val() {
                    self.age.d.next = self.age.q.val() + 1;
                }
                self.time_adds_up.d.next = (self.cycles.q.val()
                    == (self.last_up.val() - self.age.q.val()))
                    & (self.age.q.val() <= self.last_up.val());
                self.wait_explained.d.next = self.waiting.q.val()
                    <= (bit_cast(self.last_down.val(), self._wait_bits)
                        + 1
                        + bit_cast(self.age.q.val(), self._wait_bits));
            }
            _ => {
                self.legal_state.d.next = false;
            }
        }
        if !(self.state.q.val() == Link::Wake) & (self.state.d.val() == Link::Wake) {
            self.up_completes.d.next =
                (self.state.q.val() == Link::GoingUp) & (self.age.q.val() == self.last_up.val());
        }
        self.transmits_awake_only.d.next =
            self.tx_enable.val() == (self.state.q.val() == Link::Wake);
        self.wait_bounded.d.next = self.waiting.q.val() <= self.longest_wait.val();
    }
}
