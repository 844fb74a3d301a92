//! The LPI state machine (SPEC 4).

pub mod golden;
#[cfg(test)]
pub(crate) mod tests;

use crate::config::plan::{LinkTime, PortPlan, Sleep, SleepTimes};
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

bundle! {
    /// The times of the link that software sets, in clock cycles less one: the pins of what keeps
    /// them.
    pub struct TimingOutputs flips
    /// The pins of what takes them.
    TimingPins;

    /// Of `plan`.
    pub fn new(plan: &PortPlan) {
        let width = time_width(plan);
    }

    {
        pub out t_s_fast_wake: Bits(width, "down to fast wake: clock cycles less one"),
        pub out t_w_fast_wake: Bits(width, "up from fast wake: clock cycles less one"),
        pub out t_s_deep_sleep: Bits(width, "down to deep sleep: clock cycles less one"),
        pub out t_w_deep_sleep: Bits(width, "up from deep sleep: clock cycles less one"),
        pub out hold: Bits(width, "in fast wake before deep sleep: clock cycles less one"),
        pub out t_q: Bits(width, "quiet between two refreshes: clock cycles less one"),
        pub out t_r: Bits(width, "one refresh: clock cycles less one"),
    }
}

bundle! {
    /// The pins of a block that keeps its registers in three copies.
    pub struct UpsetPins;

    /// With a code of so many bits for one of the copies, or none.
    pub fn new(code: u32) {}

    {
        pub in inject_upset: Bits(code, "1 to 3: that copy of every register is stored wrong, a test"),
        pub out upset: Bit("a copy of a register differs from the two others"),
    }
}

/// Bits of the code for one of three copies, or none.
pub const COPY_CODE: u32 = 2;

/// Bits of the longest time that the states of `plan`'s link take, in clock cycles less one.
pub fn time_width(plan: &PortPlan) -> u32 {
    clog2(longest_time(plan).into())
}

/// The longest transition, hold or interval of `plan`'s link, in clock cycles: as long as software can
/// make it.
pub fn longest_time(plan: &PortPlan) -> u64 {
    let slowest = plan.slowest();
    let (uses_fast_wake, uses_deep_sleep) = (plan.uses_fast_wake(), plan.uses_deep_sleep());
    let used = |time: LinkTime| match time {
        LinkTime::SleepFastWake | LinkTime::WakeFastWake => uses_fast_wake,
        LinkTime::SleepDeepSleep | LinkTime::WakeDeepSleep => uses_deep_sleep,
        LinkTime::HybridHold => uses_fast_wake && uses_deep_sleep,
        LinkTime::Quiet | LinkTime::Refresh => uses_deep_sleep && slowest.link.refresh.is_some(),
        LinkTime::SyncTimeout => false,
    };
    let times = slowest.times();
    LinkTime::ALL
        .into_iter()
        .filter(|time| used(*time))
        .map(|time| times[time as usize])
        .fold(1, u64::max)
}

block! {
    /// The power states of the link and the transitions between them (SPEC 4, PerfBound 2.3, 3.1;
    /// hybrid and refresh: Georgakoudis II.A, III.A.3).
    pub struct LpiFsm(clk, rst);

    /// The state machine of `plan`.
    pub fn new(plan: &PortPlan) {
        let link = &plan.link;
        let chooses = plan.registers.is_some();
        let (uses_fast_wake, uses_deep_sleep) = (plan.uses_fast_wake(), plan.uses_deep_sleep());
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
        let slowest = plan.slowest();
        let longest_s_fast_wake = (slowest.link.fast_wake.t_s, uses_fast_wake);
        let longest_w_fast_wake = (slowest.link.fast_wake.t_w, uses_fast_wake);
        let longest_s_deep_sleep = (slowest.link.deep_sleep.t_s, uses_deep_sleep);
        let longest_w_deep_sleep = (slowest.link.deep_sleep.t_w, uses_deep_sleep);
        let width = time_width(plan);
        let adjusts = !plan.adjustable_times().is_empty();
        let duration = |(cycles, used): (u64, bool), doc: &str| {
            let last = if used { u128::from(cycles) - 1 } else { 0 };
            Constant::bits(width, last, format!("{doc}: clock cycles less one"))
        };
        let longest_up_is_deep =
            uses_deep_sleep && (!uses_fast_wake || link.deep_sleep.t_w >= link.fast_wake.t_w);
        let longest_up = if longest_up_is_deep {
            t_w_deep_sleep
        } else {
            t_w_fast_wake
        };
        let starts_up = plan.starts_going_up();
        let first = if starts_up {
            Link::GoingUp
        } else {
            Link::Wake
        };
        // A direction that sleeps for itself may have slept when the reset came.
        let first_deep = longest_up_is_deep && (starts_up || plan.per_direction());
        let first_cycles = if starts_up { longest_up.0 - 1 } else { 0 };
        let longest_wait = wake_bound(plan);
        let wait_bits = clog2(u128::from(longest_wait) + 2);
    }

    about(
        "lpi_fsm",
        "Power states of the link at this end. Nothing is transmitted unless the\n\
         link is awake. A transition down always completes; if it is to go up by then,\n\
         the way up begins at once. From a state that it cannot be in the link goes up,\n\
         as it may be asleep.",
    )

    {
        pub in down_start: Bit("go down at the end of this cycle"),
        pub in up_start: Bit("go up at the end of this cycle, or of the transition down"),
        pub in link_up: Bit("there is a link; without it the way up does not begin") if plan.control_pins,
        pub in sleep: Bits(2, "where to: 0 fast wake, 1 deep sleep, 2 hybrid") if chooses,
        pub flat timing: TimingPins(plan) if adjusts,
        pub flat upsets: UpsetPins(COPY_CODE) if plan.triple_redundancy,
        pub out tx_enable: Bit("the link is awake"),
        pub out leaving: Bit("the link leaves Wake at the end of this cycle"),
        pub out asleep: Bit("the link sleeps or is on the way down"),
        pub out may_go_down: Bit("the link is in a state with a way down"),
        pub out hold_over: Bit("it has been long enough in fast wake for deep sleep"),
        pub out power_state: Bits(3, "state of the link, encoded as LINK_*"),
        pub out t_s_in_force: Bits(
            width, "way down to the sleep state in question: clock cycles less one"
        ) if adjusts && plan.per_direction(),
        pub out t_w_in_force: Bits(
            width, "way up from it: clock cycles less one"
        ) if adjusts && plan.per_direction(),
        pub reg state: Link(first, "state of the link"),
        reg cycles: Bits(width, first_cycles.into(), "clock cycles left in this state, less one"),
        reg deep: Bit(first_deep, "the sleep state in question is deep sleep"),
        reg goes_on: Bit(plan.sleep == Sleep::Hybrid, "fast wake is to be followed by deep sleep"),
        voter copies("the registers, in three copies") if plan.triple_redundancy,
        choice votes(plan.triple_redundancy), // they are kept in three copies
        local over: Bit("the state has lasted its time"),
        local deepens: Bit("from fast wake it is to go on to deep sleep"),
        local to_deep: Bit("a transition is to or from deep sleep"),
        choice hybrid(hybrid), // the link uses both sleep states
        choice controlled(plan.control_pins), // the PHY says whether there is a link
        choice chooses(chooses), // the sleep state is chosen at run time
        constant sleep_deep: Bits(2, 1, "deep sleep"),
        constant sleep_hybrid: Bits(2, 2, "fast wake first, deep sleep after a hold"),
        // The ends agree about the way from fast wake to deep sleep.
        choice agrees(plan.messages().is_some()),
        choice uses_fast_wake(uses_fast_wake), // the link uses fast wake
        choice uses_deep_sleep(uses_deep_sleep), // the link uses deep sleep
        choice uses_refresh(refresh.is_some()), // deep sleep has refreshes
        choice adjusts(adjusts), // the times of the link are set at run time
        choice tells_times(adjusts && plan.per_direction()), // a shim of Ethernet takes them, too
        alias last_s_fast_wake: Bits(),
        alias last_s_deep_sleep: Bits(),
        alias last_w_fast_wake: Bits(),
        alias last_w_deep_sleep: Bits(),
        alias last_w_longest: Bits(),
        alias last_hold: Bits(),
        alias last_q: Bits(),
        alias last_r: Bits(),
        local longest_up_now: Bits(width, "up from wherever the link may be: clock cycles less one"),
        local longest_is_deep: Bit("no way up is longer than that from deep sleep"),
        choice longest_up_is_deep(longest_up_is_deep), // no way up is longer than that from deep sleep
        constant t_s_fast_wake: duration(t_s_fast_wake, "down to fast wake"),
        constant t_s_deep_sleep: duration(t_s_deep_sleep, "down to deep sleep"),
        constant t_w_fast_wake: duration(t_w_fast_wake, "up from fast wake"),
        constant t_w_deep_sleep: duration(t_w_deep_sleep, "up from deep sleep"),
        constant longest_up: duration(longest_up, "up from wherever the link may be"),
        constant hold: duration(hold, "in fast wake before deep sleep"),
        constant t_q: duration(t_q, "quiet between two refreshes"),
        constant t_r: duration(t_r, "one refresh"),
        // For the proofs.
        local last_down: Bits(width, "clock cycles of the transition down, less one"),
        local last_up: Bits(width, "clock cycles of the transition up, less one"),
        pub reg age: Bits(width, 0, "clock cycles since the transition began"),
        reg waiting: Bits(wait_bits, 0, "clock cycles for which up_start has waited"),
        constant longest_wait: Bits(
            wait_bits, longest_wait.into(), "the longest transition down and the way up after it"
        ),
        // Constants of their own: a wrong one in the hardware is to be found. Of times that are set at
        // run time, the longest that they can be.
        constant down_fast_wake: duration(longest_s_fast_wake, "t_s of fast wake"),
        constant down_deep_sleep: duration(longest_s_deep_sleep, "t_s of deep sleep"),
        constant up_fast_wake: duration(longest_w_fast_wake, "t_w of fast wake"),
        constant up_deep_sleep: duration(longest_w_deep_sleep, "t_w of deep sleep"),
        reg lasting: Bits(width, first_cycles.into(), "clock cycles of the transition under way, less one, as they were set when it began"),
        local lasts_down: Bits(width, "clock cycles of this transition down, less one"),
        local lasts_up: Bits(width, "clock cycles of this transition up, less one"),
        property transmits_awake_only("Nothing is transmitted unless the link is awake."),
        property legal_state("The link is in a state that this configuration has."),
        property down_completes(
            "A transition down lasts exactly t_s, and the link does not wake from within it."
        ),
        property up_completes(
            "The link becomes awake only at the end of a transition up, after exactly t_w."
        ),
        invariant lasting_limited(
            "A transition lasts no longer than the longest time that it can be set to."
        ) if adjusts,
        property wait_bounded("up_start never waits longer than one transition down and one up."),
        invariant sleep_known("The link sleeps in the state that it went down to."),
        invariant time_adds_up(
            "The cycles spent in a transition and the cycles left are its duration."
        ),
        invariant wait_explained(
            "What up_start has waited for is the transition under way, and the one before."
        ),
    }
}

/// The longest time, in clock cycles, that `up_start` can be 1 before the link is awake: a
/// transition down that has just begun, and the way up after it (SPEC 4), as long as software can
/// make them.
pub fn wake_bound(plan: &PortPlan) -> u64 {
    let link = plan.slowest().link;
    let times = |uses: bool, times: SleepTimes| if uses { times.t_s + times.t_w } else { 0 };
    let fast_wake = times(plan.uses_fast_wake(), link.fast_wake);
    let deep_sleep = times(plan.uses_deep_sleep(), link.deep_sleep);
    fast_wake.max(deep_sleep)
}

pieces! {
    impl Logic for LpiFsm {
        Times,
        Copies,
        Outputs,
        States,
        LostLink,
        Durations,
        Claims,
    }
}

/// The times of the link: those that software has set, or those of the configuration.
impl Piece<Times> for LpiFsm {
    #[hdl_gen]
    fn update(&mut self) {
        if self.adjusts {
            self.last_s_fast_wake.next = self.timing.t_s_fast_wake.val();
            self.last_s_deep_sleep.next = self.timing.t_s_deep_sleep.val();
            self.last_w_fast_wake.next = self.timing.t_w_fast_wake.val();
            self.last_w_deep_sleep.next = self.timing.t_w_deep_sleep.val();
            self.last_hold.next = self.timing.hold.val();
            if self.uses_refresh {
                self.last_q.next = self.timing.t_q.val();
                self.last_r.next = self.timing.t_r.val();
            }
            self.longest_is_deep.next =
                self.timing.t_w_deep_sleep.val() >= self.timing.t_w_fast_wake.val();
            self.longest_up_now.next = self.timing.t_w_fast_wake.val();
            if self.longest_is_deep.val() {
                self.longest_up_now.next = self.timing.t_w_deep_sleep.val();
            }
            self.last_w_longest.next = self.longest_up_now.val();
        } else {
            self.last_s_fast_wake.next = self.t_s_fast_wake.val();
            self.last_s_deep_sleep.next = self.t_s_deep_sleep.val();
            self.last_w_fast_wake.next = self.t_w_fast_wake.val();
            self.last_w_deep_sleep.next = self.t_w_deep_sleep.val();
            self.last_hold.next = self.hold.val();
            self.last_q.next = self.t_q.val();
            self.last_r.next = self.t_r.val();
            self.longest_is_deep.next = self.longest_up_is_deep;
            self.last_w_longest.next = self.longest_up.val();
        }
    }
}

/// The vote of registers that are kept in three copies.
impl Piece<Copies> for LpiFsm {
    #[hdl_gen]
    fn update(&mut self) {
        if self.votes {
            self.copies.d.next = self.upsets.inject_upset.val();
            self.upsets.upset.next = self.copies.q.val().any();
        }
    }
}

/// What the state of the link means to others.
impl Piece<Outputs> for LpiFsm {
    #[hdl_gen]
    fn update(&mut self) {
        self.over.next = self.cycles.q.val() == 0;
        if self.chooses {
            if self.agrees {
                self.deepens.next = self.goes_on.q.val() & self.down_start.val();
            } else {
                self.deepens.next = self.goes_on.q.val() & self.over.val();
            }
        } else if self.agrees {
            self.deepens.next = self.down_start.val();
        } else {
            self.deepens.next = self.over.val();
        }
        self.tx_enable.next = self.state.q.val() == Link::Wake;
        self.leaving.next = (self.state.q.val() == Link::Wake) & self.down_start.val();
        self.asleep.next =
            !(self.state.q.val() == Link::Wake) & !(self.state.q.val() == Link::GoingUp);
        if self.chooses {
            comment!("The choice stands when the link leaves Wake.");
            if self.leaving.val() {
                self.goes_on.d.next = self.sleep.val() == self.sleep_hybrid.val();
            }
            self.may_go_down.next = (self.state.q.val() == Link::Wake)
                | ((self.state.q.val() == Link::FastWake) & self.goes_on.q.val());
            self.hold_over.next =
                (self.state.q.val() == Link::FastWake) & self.goes_on.q.val() & self.over.val();
        } else if self.hybrid {
            self.may_go_down.next =
                (self.state.q.val() == Link::Wake) | (self.state.q.val() == Link::FastWake);
            self.hold_over.next = (self.state.q.val() == Link::FastWake) & self.over.val();
        } else {
            self.may_go_down.next = self.state.q.val() == Link::Wake;
            self.hold_over.next = false;
        }
        self.power_state.next = bit_cast(self.state.q.val(), 3);

        if self.hybrid {
            self.to_deep.next = self.deep.q.val();
        } else {
            self.to_deep.next = self.uses_deep_sleep;
        }

        if self.tells_times {
            self.t_s_in_force.next = self.timing.t_s_fast_wake.val();
            self.t_w_in_force.next = self.timing.t_w_fast_wake.val();
            if self.deep.q.val() {
                self.t_s_in_force.next = self.timing.t_s_deep_sleep.val();
                self.t_w_in_force.next = self.timing.t_w_deep_sleep.val();
            }
        }
    }
}

/// The states, and how long they last.
impl Piece<States> for LpiFsm {
    #[hdl_gen]
    fn update(&mut self) {
        if !self.over.val() {
            self.cycles.d.next = self.cycles.q.val() - 1;
        }
        match self.state.q.val() {
            Link::Wake => {
                if self.down_start.val() {
                    self.state.d.next = Link::GoingDown;
                    if self.chooses {
                        if self.sleep.val() == self.sleep_deep.val() {
                            self.cycles.d.next = self.last_s_deep_sleep.val();
                            self.deep.d.next = true;
                        } else {
                            self.cycles.d.next = self.last_s_fast_wake.val();
                            self.deep.d.next = false;
                        }
                    } else if self.uses_fast_wake {
                        self.cycles.d.next = self.last_s_fast_wake.val();
                        if self.hybrid {
                            self.deep.d.next = false;
                        }
                    } else {
                        self.cycles.d.next = self.last_s_deep_sleep.val();
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
                            self.cycles.d.next = self.last_w_deep_sleep.val();
                        } else {
                            self.cycles.d.next = self.last_w_fast_wake.val();
                        }
                    } else if self.to_deep.val() {
                        if self.uses_refresh {
                            self.cycles.d.next = self.last_q.val();
                        }
                    } else if self.hybrid {
                        self.cycles.d.next = self.last_hold.val();
                    }
                }
            }
            Link::FastWake => {
                if self.uses_fast_wake {
                    if self.up_start.val() {
                        self.state.d.next = Link::GoingUp;
                        self.cycles.d.next = self.last_w_fast_wake.val();
                    } else if self.hybrid & self.deepens.val() {
                        self.state.d.next = Link::GoingDown;
                        self.cycles.d.next = self.last_s_deep_sleep.val();
                        self.deep.d.next = true;
                    }
                } else {
                    comment!("Not used in this configuration: the link may be asleep.");
                    self.state.d.next = Link::GoingUp;
                    self.cycles.d.next = self.last_w_longest.val();
                }
            }
            Link::DeepSleep => {
                if self.uses_deep_sleep {
                    if self.up_start.val() {
                        self.state.d.next = Link::GoingUp;
                        self.cycles.d.next = self.last_w_deep_sleep.val();
                    } else if self.uses_refresh & self.over.val() {
                        self.state.d.next = Link::Refresh;
                        self.cycles.d.next = self.last_r.val();
                    }
                } else {
                    comment!("Not used in this configuration: the link may be asleep.");
                    self.state.d.next = Link::GoingUp;
                    self.cycles.d.next = self.last_w_longest.val();
                }
            }
            Link::Refresh => {
                if self.uses_refresh {
                    if self.up_start.val() {
                        self.state.d.next = Link::GoingUp;
                        self.cycles.d.next = self.last_w_deep_sleep.val();
                    } else if self.over.val() {
                        self.state.d.next = Link::DeepSleep;
                        self.cycles.d.next = self.last_q.val();
                    }
                } else {
                    comment!("Not used in this configuration: the link may be asleep.");
                    self.state.d.next = Link::GoingUp;
                    self.cycles.d.next = self.last_w_longest.val();
                    if self.hybrid {
                        self.deep.d.next = self.longest_is_deep.val();
                    }
                }
            }
            Link::GoingUp => {
                if self.over.val() {
                    self.state.d.next = Link::Wake;
                }
            }
            _ => {
                comment!("No such state: the link may be asleep.");
                self.state.d.next = Link::GoingUp;
                self.cycles.d.next = self.last_w_longest.val();
                if self.hybrid {
                    self.deep.d.next = self.longest_is_deep.val();
                }
            }
        }
    }
}

/// Where there is no link, the state is that of the longest way up.
impl Piece<LostLink> for LpiFsm {
    #[hdl_gen]
    fn update(&mut self) {
        if self.controlled {
            if !self.link_up.val() {
                comment!(
                    "Where the other end is, nobody knows: the longest way up is still to come."
                );
                self.state.d.next = Link::GoingUp;
                self.cycles.d.next = self.last_w_longest.val();
                if self.hybrid {
                    self.deep.d.next = self.longest_is_deep.val();
                }
            }
        }
    }
}

/// For the claims: how long a transition lasts.
impl Piece<Durations> for LpiFsm {
    #[hdl_gen]
    fn update(&mut self) {
        if self.to_deep.val() {
            self.last_down.next = self.down_deep_sleep.val();
            self.last_up.next = self.up_deep_sleep.val();
        } else {
            self.last_down.next = self.down_fast_wake.val();
            self.last_up.next = self.up_fast_wake.val();
        }
        if self.adjusts {
            if (self.state.d.val() == Link::GoingDown) & !(self.state.q.val() == Link::GoingDown) {
                self.lasting.d.next = self.timing.t_s_fast_wake.val();
                if self.deep.d.val() {
                    self.lasting.d.next = self.timing.t_s_deep_sleep.val();
                }
            }
            if (self.state.d.val() == Link::GoingUp) & !(self.state.q.val() == Link::GoingUp) {
                self.lasting.d.next = self.timing.t_w_fast_wake.val();
                if self.to_deep.val() {
                    self.lasting.d.next = self.timing.t_w_deep_sleep.val();
                }
            }
            if self.controlled {
                if !self.link_up.val() {
                    self.lasting.d.next = self.longest_up_now.val();
                }
            }
            self.lasts_down.next = self.lasting.q.val();
            self.lasts_up.next = self.lasting.q.val();
            if self.state.q.val() == Link::GoingDown {
                self.lasting_limited.d.next = self.lasting.q.val() <= self.last_down.val();
            } else if self.state.q.val() == Link::GoingUp {
                self.lasting_limited.d.next = self.lasting.q.val() <= self.last_up.val();
            }
        } else {
            self.lasts_down.next = self.last_down.val();
            self.lasts_up.next = self.last_up.val();
        }
    }
}

/// What the claims say in each state.
impl Piece<Claims> for LpiFsm {
    #[hdl_gen]
    fn update(&mut self) {
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
                    == (self.lasts_down.val() - self.age.q.val()))
                    & (self.age.q.val() <= self.lasts_down.val());
                self.down_completes.d.next = (self.age.q.val() <= self.lasts_down.val())
                    & ((self.state.d.val() == Link::GoingDown)
                        | ((self.age.q.val() == self.lasts_down.val())
                            & !(self.state.d.val() == Link::Wake)));
                self.wait_explained.d.next =
                    self.waiting.q.val() <= bit_cast(self.age.q.val(), &self.waiting);
            }
            Link::FastWake => {
                self.legal_state.d.next = self.uses_fast_wake;
                self.sleep_known.d.next = !self.to_deep.val();
                self.wait_explained.d.next = self.waiting.q.val() == 0;
            }
            Link::DeepSleep => {
                self.legal_state.d.next = self.uses_deep_sleep;
                self.sleep_known.d.next = self.to_deep.val();
                self.wait_explained.d.next = self.waiting.q.val() == 0;
            }
            Link::Refresh => {
                self.legal_state.d.next = self.uses_refresh;
                self.sleep_known.d.next = self.to_deep.val();
                self.wait_explained.d.next = self.waiting.q.val() == 0;
            }
            Link::GoingUp => {
                if !self.over.val() {
                    self.age.d.next = self.age.q.val() + 1;
                }
                self.time_adds_up.d.next = (self.cycles.q.val()
                    == (self.lasts_up.val() - self.age.q.val()))
                    & (self.age.q.val() <= self.lasts_up.val());
                self.wait_explained.d.next = self.waiting.q.val()
                    <= (bit_cast(self.last_down.val(), &self.waiting)
                        + 1
                        + bit_cast(self.age.q.val(), &self.waiting));
            }
            _ => {
                self.legal_state.d.next = false;
            }
        }
        if !(self.state.q.val() == Link::Wake) & (self.state.d.val() == Link::Wake) {
            self.up_completes.d.next =
                (self.state.q.val() == Link::GoingUp) & (self.age.q.val() == self.lasts_up.val());
        }
        if self.controlled {
            if !self.link_up.val() {
                comment!(
                    "Nothing is waited for, and no transition counts, where there is no link."
                );
                self.age.d.next = 0.into();
                self.waiting.d.next = 0.into();
                self.down_completes.d.next = true;
            }
        }
        self.transmits_awake_only.d.next =
            self.tx_enable.val() == (self.state.q.val() == Link::Wake);
        self.wait_bounded.d.next = self.waiting.q.val() <= self.longest_wait.val();
    }
}
