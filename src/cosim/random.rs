//! Constrained random activity: what a switch does to a port, with the corners of SPEC 2
//! to 7 made likely, and now and then what no switch would do.
//!
//! A seed and a number of cycles determine the activity, given the port's outputs.

use std::collections::VecDeque;
use std::ops::Range;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::controls::ControlPins;
use super::coverage::Corner;
use super::interrupted::Driven;
use super::low_power_idle::LpiPins;
use super::peer::WithPeer;
use super::software::WithSoftware;
use super::upsets::Upsets;
use super::{Activity, SoftwareMay, Stretch};
use crate::blocks::link_sync::wake_bound;
use crate::blocks::port::pins::{Inputs, Message, Outputs, PackedOutputs, PowerState};
use crate::config::plan::{Policy, PortPlan};

/// The share of a run's cycles that the longest idle periods may take.
const LONG_SHARE: u64 = 2;

/// The longest idle period that is leapt over, in clock cycles: 9 years at 1 GHz. All of a run
/// together have to fit into a count of 64 bits.
const LONGEST_LEAPT: u64 = 1 << 58;

/// The most samples that are taken to fill a counter.
const MOST_TO_FILL: u64 = 1024;

/// In so many times the cycles in which events are counted, they are counted once.
const COUNTING_PERIOD: u64 = 4;

/// The share of a run's cycles in which events are counted without a break.
const COUNTING_SHARE: u64 = 24;

/// Of so many parts of that time software reads what was counted in the last but one, and clears it in
/// the last.
const COUNTING_PARTS: u64 = 6;

/// How often each of them comes if it is short.
const LONG_TIMES: u64 = 4;

/// The corners whose idle periods are long, in the order in which they get their share.
const LONG_CORNERS: [Corner; 11] = [
    Corner::AtMax,
    Corner::Backstop,
    Corner::Unused,
    Corner::AboveMax,
    Corner::BelowMax,
    Corner::ClearByTtl,
    Corner::ClearAtTtl,
    Corner::IdleSaturated,
    Corner::WindowSaturated,
    Corner::Halved,
    Corner::UpperRead,
];

/// Whether a run of `cycles` clocked cycles is long enough for `corner`; idle time costs nothing
/// where the engine `leaps`.
pub fn affords(plan: &PortPlan, cycles: u64, leaps: bool, corner: Corner) -> bool {
    match corner.long_idle(plan) {
        Some(_) => long_idles(plan, cycles, leaps).contains(&corner),
        None => leaps || !corner.counts_many(),
    }
}

/// The long corners that fit into their share of `cycles`.
fn long_idles(plan: &PortPlan, cycles: u64, leaps: bool) -> Vec<Corner> {
    let mut left = cycles / LONG_SHARE;
    LONG_CORNERS
        .into_iter()
        .filter(|corner| corner.impossible(plan).is_none())
        .filter(|corner| {
            let needed = corner
                .long_idle(plan)
                .and_then(|ticks| ticks.checked_mul(plan.clocks_per_tick));
            match needed {
                Some(needed) if leaps => needed <= LONGEST_LEAPT,
                Some(needed) if needed <= left => {
                    left -= needed;
                    true
                }
                _ => false,
            }
        })
        .collect()
}

/// One part of a scene.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// These inputs for so many cycles.
    Hold(Inputs, u64),
    /// These inputs until the port is in a state, for at most so many changes of its
    /// outputs and so many cycles between two of them.
    Until(Inputs, PowerState, u32, u64),
    /// Idle for the threshold in force plus so many cycles.
    IdleAroundPdt(Inputs, i64),
    /// Idle for so many times the threshold in force, in parts of 1024.
    IdleTimesPdt(Inputs, u64),
    /// These inputs until the port has asked twice to go down, for at most so many changes of its
    /// outputs, and then until about the cycle in which it would ask again. With the time at which it
    /// asked first.
    UntilAsksAgain(Inputs, Option<u64>, u32),
}

/// The mixture of scenes for some thousand cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Regime {
    /// Short gaps: samples every few cycles.
    Dense,
    /// Gaps so long that the budget of PerfBound exceeds 0 before the histogram is full,
    /// and thresholds become short enough to be crossed.
    Sparse,
    /// Heavy-tailed gaps, packets in bursts.
    Bursty,
}

impl Regime {
    const ALL: [Regime; 3] = [Regime::Dense, Regime::Sparse, Regime::Bursty];

    /// Its share of the cycles, long idle periods left out, relative to the others.
    fn share(self) -> u64 {
        match self {
            Regime::Dense => 4,
            Regime::Sparse => 3,
            Regime::Bursty => 3,
        }
    }
}

/// Random activity of a port, with what moves its pins: another end of the link that answers messages
/// where there are any, control pins, upsets of registers that are kept in copies, and low power idle
/// that is received.
type Hardware = Driven<Driven<Driven<WithPeer<Scenes>, ControlPins>, Upsets>, LpiPins>;

/// Such activity, with software that asks the registers where there are any.
pub struct Random(WithSoftware<Hardware>);

/// The activity without software.
fn hardware(plan: &PortPlan, seed: u64, cycles: u64, leaps: bool) -> Hardware {
    let scenes = Scenes::new(plan, seed, cycles, leaps);
    let with_peer = WithPeer::random(scenes, plan, seed, leaps);
    let with_controls = Driven::new(with_peer, ControlPins::of(plan, seed));
    let with_upsets = Driven::new(with_controls, Upsets::of(plan, seed));
    Driven::new(with_upsets, LpiPins::of(plan, seed))
}

impl Random {
    /// The activity of `seed` for a run of `cycles` clocked cycles, with idle times of any length
    /// where the engine `leaps` ([`super::LockStep::leaps`]).
    pub fn new(plan: &PortPlan, seed: u64, cycles: u64, leaps: bool) -> Random {
        let hardware = hardware(plan, seed, cycles, leaps);
        Random(WithSoftware::random(hardware, plan, seed, leaps))
    }
}

/// The activity of one port of a switch, whose idle time is clocked; software is not its own.
pub(super) fn port_of_switch(plan: &PortPlan, seed: u64, cycles: u64) -> impl Activity + use<> {
    hardware(plan, seed, cycles, false)
}

impl Activity for Random {
    fn next(&mut self, outputs: &PackedOutputs) -> Option<Stretch> {
        self.0.next(outputs)
    }

    fn passed(&mut self, cycles: u64, leapt: u64) {
        self.0.passed(cycles, leapt);
    }
}

/// The scenes of a run: what the port's own switch does, and what the other end wishes.
struct Scenes {
    random: ChaCha8Rng,
    plan: PortPlan,
    steps: VecDeque<Step>,
    regime: Regime,
    /// Cycles clocked in each regime so far, long idle periods left out.
    spent: [u64; 3],
    /// The present stretch is one of these.
    part_of_long: bool,
    /// Scenes until the next choice of a regime.
    scenes: u32,
    /// The threshold in force when the scene was chosen, in cycles.
    threshold: u64,
    /// The engine leaps over idle time: its length costs nothing.
    leaps: bool,
    /// The shortest and the longest gap of a sparse regime, in cycles.
    gaps: (u64, u64),
    /// Long idle periods still to come, in cycles.
    long: Vec<(Corner, u64)>,
    /// Scenes until the next of them.
    until_long: u32,
    /// The longest idle period, in cycles, that is drawn freely.
    longest: u64,
    /// Clocked cycles of the whole run.
    cycles: u64,
    /// Cycles clocked so far.
    now: u64,
    /// Cycles so far, those that were leapt over among them.
    time: u64,
    /// Scenes until the port may be reset again, and the cycle before which it is not.
    no_reset: (u32, u64),
    /// Software may change parameters until this cycle; then the port is reset.
    configures_until: Option<u64>,
    /// How long it may at most, in cycles, and from when on it may again.
    configuring: (u64, u64),
    /// Events are counted until this cycle: nothing resets the port, and software clears no counter.
    counts_until: Option<u64>,
    /// For how many cycles, and from when on again.
    counting: (u64, u64),
    /// From this cycle on the window of the hop monitor may be filled, with packets of this hop
    /// count.
    hops_at: u64,
    hops: u8,
}

impl Scenes {
    fn new(plan: &PortPlan, seed: u64, cycles: u64, leaps: bool) -> Scenes {
        let longest = match leaps {
            // Past the end of the histogram's range by far.
            true => (plan.histogram.max_value)
                .saturating_mul(2)
                .saturating_mul(plan.clocks_per_tick)
                .min(1 << 44),
            false => cycles / 200,
        };
        let mut scenes = Scenes {
            random: ChaCha8Rng::seed_from_u64(seed),
            plan: *plan,
            steps: VecDeque::new(),
            regime: Regime::Dense,
            spent: [0; 3],
            part_of_long: false,
            scenes: 12,
            threshold: u64::MAX,
            leaps,
            gaps: (1, 1),
            long: Vec::new(),
            until_long: 60,
            longest: longest.max(64),
            cycles,
            now: 0,
            time: 0,
            no_reset: (0, 0),
            configures_until: None,
            configuring: ((cycles / 200).clamp(200, 20_000), 0),
            counts_until: None,
            counting: (cycles / COUNTING_SHARE, cycles / COUNTING_SHARE),
            hops_at: 0,
            hops: 0,
        };
        for round in 0..LONG_TIMES {
            scenes.add_long(round);
        }
        // The first one comes first.
        scenes.long.reverse();
        scenes
    }

    /// Adds the long idle periods of one round.
    fn add_long(&mut self, round: u64) {
        for corner in long_idles(&self.plan, self.cycles, self.leaps) {
            let Some(ticks) = corner.long_idle(&self.plan) else {
                continue;
            };
            let extra = self.random.random_range(0..self.plan.clocks_per_tick);
            let length = ticks * self.plan.clocks_per_tick + extra;
            // The other end, or software, may spoil one: what is short comes again.
            if self.leaps || round == 0 || length * round <= self.cycles / 200 {
                self.long.push((corner, length));
            }
        }
    }

    /// The longest gap that suits the regime, in cycles.
    fn longest_now(&self) -> u64 {
        match self.regime {
            _ if self.counts_until.is_some() => self.longest,
            Regime::Dense => self.longest.min(400),
            Regime::Bursty => self.longest.min(20_000),
            Regime::Sparse => self.longest,
        }
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.random.random_ratio(1, one_in)
    }

    /// The inputs of an idle port.
    fn idle(&mut self) -> Inputs {
        Inputs {
            sleep_permit: !self.chance(10),
            ..Inputs::default()
        }
    }

    fn hold(&mut self, inputs: Inputs, cycles: u64) {
        if cycles > 0 {
            self.steps.push_back(Step::Hold(inputs, cycles));
        }
    }

    /// Holds `inputs` before what comes next.
    fn hold_next(&mut self, inputs: Inputs, cycles: u64) {
        self.steps.push_front(Step::Hold(inputs, cycles));
    }

    /// Holds `inputs` for some of so many cycles.
    fn hold_some(&mut self, inputs: Inputs, cycles: Range<u64>) {
        let cycles = self.random.random_range(cycles);
        self.hold(inputs, cycles);
    }

    /// Holds `inputs` until the port is in `state`, for at most so many of its changes of
    /// state and so many cycles between two changes.
    fn until(&mut self, inputs: Inputs, state: PowerState, changes: u32, cycles: u64) {
        // Each change of state takes up to four messages, and each of them comes and goes.
        let pulses = if self.plan.messages().is_some() { 8 } else { 1 };
        self.steps
            .push_back(Step::Until(inputs, state, changes * pulses, cycles));
    }

    fn hops(&mut self) -> u8 {
        *[0, 1, 2, 2, 3, 4, 5, 17, 63]
            .choose(&mut self.random)
            .unwrap_or(&2)
    }

    /// A length between 1 and `most` cycles, short ones likelier (Pareto, alpha = 1).
    fn heavy_tailed(&mut self, most: u64) -> u64 {
        let uniform: f64 = self.random.random();
        // Truncation is the point: a whole number of cycles.
        ((1.0 / (1.0 - uniform)) as u64).clamp(1, most.max(1))
    }

    /// The longest time that waking can take, in cycles, with some to spare.
    fn wake_limit(&self) -> u64 {
        let link = self.plan.slowest().link;
        let transitions =
            link.fast_wake.t_w + link.fast_wake.t_s + link.deep_sleep.t_w + link.deep_sleep.t_s;
        wake_bound(&self.plan, None).unwrap_or(0).max(transitions) + 8
    }

    /// A packet reaches the queue, waits until the port is awake, and is sent.
    fn packet(&mut self, length: u64) {
        let waiting = Inputs::waiting();
        let limit = self.wake_limit();
        self.until(waiting, PowerState::Wake, 12, limit);
        self.transmit(length);
    }

    /// A packet is sent in `length` cycles.
    fn transmit(&mut self, length: u64) {
        let sending = Inputs {
            queue_nonempty: true,
            transmitting: true,
            receiving: self.chance(8),
            sleep_permit: !self.chance(4),
            ..Inputs::default()
        };
        let first = Inputs {
            packet_valid: true,
            packet_hops: self.hops(),
            ..sending
        };
        self.hold(first, 1);
        self.hold(sending, length.saturating_sub(1));
    }

    fn next_scene(&mut self) {
        if self.scenes == 0 {
            // By cycles, not by scenes: one quiet scene is as long as thousands of packets.
            self.regime = Regime::ALL
                .into_iter()
                .min_by_key(|&regime| self.spent[regime as usize] / regime.share())
                .unwrap_or(Regime::Dense);
            self.scenes = match self.regime {
                // The window of one histogram and a little more.
                Regime::Sparse => {
                    self.gaps = self.gaps_of_window();
                    let samples = self.plan.histogram.max_samples.clamp(40, 300);
                    samples + self.random.random_range(0..samples / 2)
                }
                Regime::Dense | Regime::Bursty => self.random.random_range(10..60),
            };
        }
        self.scenes -= 1;
        self.no_reset.0 = self.no_reset.0.saturating_sub(1);
        if self.configures_until.is_some_and(|end| self.now >= end) {
            self.configures_until = None;
            self.configuring.1 = self.now + 2 * self.configuring.0;
            return self.hold(Inputs::default().with(|pins| pins.rst = true), 1);
        }
        if self.configures_until.is_none() && self.counts() {
            return self.event();
        }
        // What is rare needs the port as it was configured.
        if self.configures_until.is_none() && self.begin_rare_scene() {
            return;
        }
        if self.configures_until.is_some() && self.chance(12) {
            // So long that a rate is computed meanwhile, and applied more than once.
            let cycles = self.log_uniform(150, 8_000);
            self.packet(1);
            return self.hold(Inputs::sending(), cycles);
        }
        if self.configures_until.is_some() && self.chance(6) {
            // Around the backstop, wherever software has put it.
            let ticks = self
                .plan
                .t_backstop
                .unwrap_or(self.plan.histogram.max_value);
            let most = ticks.saturating_mul(4 * self.plan.clocks_per_tick);
            let cycles = self.random.random_range(1..=most.clamp(1, self.longest));
            return self.idle_after_receiving(cycles);
        }
        if self.plan.corrects() && self.chance(20) {
            return self.few_misses();
        }
        match self.random.random_range(0..100) {
            0..22 => self.traffic(),
            22..36 => self.around_threshold(),
            36..44 => self.around_bin(),
            44..50 => self.short_gaps(),
            50..72 => self.in_phase(),
            72..78 => self.receive_only(),
            78..84 => self.remote(),
            84..88 => self.refused(),
            88..90 => self.reset(),
            90..93 => self.glitch(),
            93 => self.equal_gaps(),
            94 if self.leaps && self.plan.registers.is_some() => self.long_residence(),
            94 => self.equal_gaps(),
            95 if self.leaps => self.edge_of_budget(),
            96 if self.leaps && self.plan.messages().is_some() => self.asks_again(),
            97 if self.leaps => self.resets_in_traffic(),
            98 if self.plan.messages().is_some() => self.led_up(),
            98 if self.plan.per_direction() => self.woken_for_nothing(),
            99 if self.leaps && self.plan.halves() => self.halving(),
            _ => self.traffic(),
        }
    }

    /// Whether this is a time in which events are counted.
    fn counts(&mut self) -> bool {
        let (cycles, next) = self.counting;
        if self.leaps && self.plan.registers.is_some() && self.now >= next {
            self.counts_until = Some(self.now + cycles);
            self.counting.1 = self.now + COUNTING_PERIOD * cycles;
        }
        self.counts_until = self.counts_until.filter(|&end| self.now < end);
        self.counts_until.is_some()
    }

    /// One of the events that are counted and that are rare otherwise; nothing resets the port.
    fn event(&mut self) {
        let backstop = Corner::Backstop.long_idle(&self.plan).unwrap_or(0);
        let backstop = backstop.saturating_mul(self.plan.clocks_per_tick);
        match self.random.random_range(0..20) {
            0..5 => self.around_threshold(),
            5..8 => {
                // So often that a guard refuses.
                for _ in 0..self.random.random_range(2..8) {
                    self.packet(1);
                    let idle = Inputs::quiet();
                    let late = i64::try_from(2 * self.plan.clocks_per_tick).unwrap_or(i64::MAX);
                    self.steps.push_back(Step::IdleAroundPdt(idle, late));
                }
            }
            8..11 if backstop <= self.longest => {
                self.hold(Inputs::default().with(|pins| pins.receiving = true), 2);
                self.hold(Inputs::quiet(), backstop);
            }
            11..13 => self.refused(),
            13..16 => self.in_phase(),
            16 => self.led_up(),
            17 => self.remote(),
            _ => self.traffic(),
        }
    }

    /// Begins a scene that comes now and then, if it is time for one.
    fn begin_rare_scene(&mut self) -> bool {
        let (longest, next) = self.configuring;
        // Where idle time is clocked, scenes are long, and few.
        let seldom = if self.leaps { 8 } else { 2 };
        if self.plan.registers.is_some() && self.now >= next && self.chance(seldom) {
            let cycles = self.random.random_range(longest / 10..=longest);
            self.configures_until = Some(self.now + cycles);
            return false;
        }
        let packets = 2 << self.plan.hop_window_log2;
        let affords = self.leaps || self.longest >= packets;
        if self.counts_hops() && self.now >= self.hops_at && affords {
            // All hop counts come in turn, and leave time for the rest.
            self.hops_at = self.now + (4 * packets).max(self.cycles / 200);
            self.hops = self.hops % 63 + 1;
            self.many_packets(packets);
            return true;
        }
        if self.until_long > 0 {
            self.until_long -= 1;
            return false;
        }
        // Where they cost nothing they come more often.
        self.until_long = match self.leaps {
            true => self.random.random_range(10..40),
            false => self.random.random_range(40..160),
        };
        if self.long.is_empty() && self.leaps {
            self.add_long(0);
        }
        let Some((corner, cycles)) = self.long.pop() else {
            return false;
        };
        match (corner, self.plan.histogram.ttl) {
            (Corner::ClearAtTtl, Some(ttl)) => self.expiry(ttl),
            (Corner::Backstop, _) => self.idle_after_receiving(cycles),
            (Corner::Unused, _) => self.idle_from_reset(cycles),
            _ => self.long_idle(cycles),
        }
        true
    }

    fn counts_hops(&self) -> bool {
        self.plan.registers.is_some() || self.plan.measures()
    }

    /// As many packets of one hop count as fill the window of the hop monitor, twice: one whole
    /// window has no others.
    fn many_packets(&mut self, packets: u64) {
        let packet = Inputs::sending().with(|pins| {
            pins.packet_valid = true;
            pins.packet_hops = self.hops;
        });
        if self.chance(4) {
            return self.reset_after_window(packet, packets / 2);
        }
        self.hold(packet, packets + 2);
        self.hold(Inputs::quiet(), 2);
    }

    /// A window is filled, and soon after that the port is reset: with its last packet, with the hop factor
    /// that comes of it, or while the rate of the budget is computed. The window is filled again at once:
    /// what was being computed must not come instead of the rate that now is. Budgets tell, after gaps.
    fn reset_after_window(&mut self, packet: Inputs, window: u64) {
        let reset = Inputs::default().with(|pins| pins.rst = true);
        self.hold(reset, 1);
        self.hold(packet, window);
        let cycles = match self.chance(3) {
            true => 0,
            false => self.log_uniform(1, 400),
        };
        self.hold(Inputs::quiet(), cycles);
        self.hold(reset, 1);
        self.hold(packet, window);
        self.hold(Inputs::quiet(), 200);
        let (least, most) = self.gaps_of_window();
        // Where idle time is clocked, they would take too much of it.
        let gaps = if self.leaps { 8 } else { 0 };
        for _ in 0..gaps {
            self.packet(1);
            self.hold_some(Inputs::quiet(), least..most + 1);
        }
    }

    /// Packets and gaps as the regime has them.
    fn traffic(&mut self) {
        let regime = self.regime;
        match regime {
            Regime::Dense => {
                for _ in 0..self.random.random_range(1..20) {
                    let length = self.heavy_tailed(30);
                    self.transmit(length);
                    let idle = self.idle();
                    let gap = self.heavy_tailed(60);
                    self.hold(idle, gap);
                }
            }
            Regime::Sparse if self.threshold <= self.longest && self.chance(2) => {
                self.around_threshold();
            }
            Regime::Sparse => {
                let length = self.heavy_tailed(100);
                self.packet(length);
                let idle = Inputs::quiet();
                let gap = self.sparse_gap();
                self.hold(idle, gap);
            }
            Regime::Bursty => {
                for _ in 0..self.random.random_range(1..6) {
                    let length = self.heavy_tailed(300);
                    self.packet(length);
                    if self.chance(2) {
                        let idle = self.idle();
                        self.hold_some(idle, 1..40);
                    }
                }
                let idle = self.idle();
                let gap = self.heavy_tailed(self.longest_now()) * self.plan.clocks_per_tick;
                self.hold(idle, gap.min(self.longest_now()));
            }
        }
    }

    /// The shortest and the longest gap of some dozen that make a window, in cycles. Around an
    /// eighth of the time in which one packet may be delayed thresholds come out that are crossed;
    /// with more idle time they become short, with less they become long.
    fn gaps_of_window(&mut self) -> (u64, u64) {
        let budget = self.plan.budget;
        let one = match self.plan.predicts() {
            true => u64::try_from(budget.denominator / budget.numerator).unwrap_or(u64::MAX),
            false => self.plan.t_pdt_init,
        };
        let one = one.saturating_mul(self.plan.clocks_per_tick);
        if !self.leaps {
            let most = one.div_ceil(8).clamp(64, self.longest);
            return (most / 8, most);
        }
        let most = match self.random.random_range(0..3) {
            0 => one.div_ceil(8),
            1 => self.log_uniform(one.div_ceil(64), one.saturating_mul(8)),
            _ => self.log_uniform(64, self.longest),
        };
        let most = most.clamp(64, self.longest);
        let least = match self.random.random_range(0..4) {
            0 => most / 2,
            1 => most / 8 * 7,
            _ => self.log_uniform(1, most),
        };
        (least.max(1), most)
    }

    /// A length of so many cycles at least and at most, all magnitudes alike.
    fn log_uniform(&mut self, least: u64, most: u64) -> u64 {
        let least = least.max(1);
        let most = most.max(least);
        let exponent = self
            .random
            .random_range((least as f64).ln()..=(most as f64).ln());
        // Truncation is the point: a whole number of cycles.
        (exponent.exp() as u64).clamp(least, most)
    }

    /// A gap of a sparse regime.
    fn sparse_gap(&mut self) -> u64 {
        let (least, most) = self.gaps;
        if self.leaps && self.chance(2) {
            return self.log_uniform(least, most);
        }
        self.random.random_range(least..=most)
    }

    /// An armed idle period that ends just before, at or after the threshold.
    fn around_threshold(&mut self) {
        let length = self.heavy_tailed(20);
        self.packet(length);
        let tick = i64::try_from(self.plan.clocks_per_tick).unwrap_or(i64::MAX / 8);
        let offset = self.random.random_range(-2..=2) * tick + self.random.random_range(0..tick);
        let idle = Inputs {
            sleep_permit: !self.chance(30),
            ..Inputs::default()
        };
        self.steps.push_back(Step::IdleAroundPdt(idle, offset));
        if self.chance(2) {
            self.transmit(1);
        } else {
            self.packet(1);
        }
    }

    /// Idle periods after a history without a miss, of so many times the threshold that the
    /// correction raises it, and every row of the tables of logarithms counts: in a mean of many
    /// ratios, and where the threshold is `h_maxval` anyway, what one row says is lost.
    fn few_misses(&mut self) {
        let history = u64::from(self.plan.correction.history);
        for _ in 0..self.random.random_range(8..24) {
            if self.chance(8) {
                self.packet(1);
                for _ in 0..history.min(300) {
                    self.hold(Inputs::default(), 1);
                    self.transmit(1);
                }
            } else {
                self.hold(Inputs::default().with(|pins| pins.rst = true), 1);
            }
            for _ in 0..self.random.random_range(1..4) {
                self.packet(1);
                let most = history.saturating_mul(2 * u64::from(self.plan.histogram.bins));
                let parts = self.log_uniform(1024, most.saturating_mul(1024));
                self.steps
                    .push_back(Step::IdleTimesPdt(Inputs::quiet(), parts));
                self.packet(1);
                // The new threshold, with what was corrected in it, is computed meanwhile.
                self.hold_some(Inputs::quiet(), 1..200);
            }
        }
    }

    /// An idle period that ends at the boundary of a bin, or one tick before or after.
    fn around_bin(&mut self) {
        let bin = 1u64 << self.plan.histogram.bin_shift.min(62);
        let within = (self.longest_now() / self.plan.clocks_per_tick / bin)
            .min(u64::from(self.plan.histogram.bins) + 1);
        if within == 0 {
            return self.traffic();
        }
        self.packet(1);
        let boundary = self.random.random_range(1..=within) * bin;
        let ticks = (boundary + self.random.random_range(0..3)).saturating_sub(1);
        let idle = self.idle();
        let extra = self.random.random_range(0..self.plan.clocks_per_tick);
        self.hold(idle, ticks * self.plan.clocks_per_tick + extra);
        self.transmit(1);
    }

    /// A long idle period of exactly so many cycles, at an otherwise quiet time.
    fn long_idle(&mut self, cycles: u64) {
        // The last transmitter or the other end: the histogram records both.
        if self.chance(2) {
            return self.idle_after_receiving(cycles);
        }
        self.packet(1);
        self.permitted(cycles);
    }

    fn idle_after_receiving(&mut self, cycles: u64) {
        self.hold(Inputs::default().with(|pins| pins.receiving = true), 2);
        self.permitted(cycles);
    }

    fn idle_from_reset(&mut self, cycles: u64) {
        self.hold(Inputs::default().with(|pins| pins.rst = true), 1);
        self.permitted(cycles);
    }

    /// Idle, and permitted to sleep, until a packet comes.
    fn permitted(&mut self, cycles: u64) {
        self.hold(Inputs::quiet(), cycles);
        if self.leaps && self.chance(6) {
            // What has counted so far is to be forgotten.
            self.hold(Inputs::default().with(|pins| pins.rst = true), 1);
            return self.hold_some(Inputs::quiet(), 1..200);
        }
        self.packet(3);
    }

    /// The same gap again and again: all samples fall into one bin, up to the saturation
    /// of its counter where that is narrow.
    fn equal_gaps(&mut self) {
        let bin = (1u64 << self.plan.histogram.bin_shift.min(62))
            .saturating_mul(self.plan.clocks_per_tick);
        let counter = 1u64 << self.plan.histogram.counter_bits.min(63);
        let samples = u64::from(self.plan.histogram.max_samples)
            .min(counter.saturating_add(4))
            .min(300);
        // Not longer than the other scenes of this run.
        let cost = if self.leaps { 1 } else { samples.max(1) };
        let within =
            (self.longest.saturating_mul(2) / bin / cost).min(u64::from(self.plan.histogram.bins));
        if within == 0 {
            return self.traffic();
        }
        let idle = Inputs::default();
        self.packet(1);
        let gap = self.random.random_range(0..within) * bin + self.random.random_range(1..=bin);
        for _ in 0..self.random.random_range(samples / 2..=samples) {
            self.hold(idle, gap);
            self.transmit(1);
        }
    }

    /// A window that allows a certain number of packets to be delayed, then about so many samples:
    /// their number passes the budget while the threshold is computed again and again.
    fn edge_of_budget(&mut self) {
        let budget = self.plan.budget;
        // Of a policy that does not predict there is none.
        let Some(one) = budget.denominator.checked_div(budget.numerator) else {
            return self.traffic();
        };
        let one = u64::try_from(one).unwrap_or(u64::MAX);
        // What the hop monitor or software allows may be far less.
        let times = match self.chance(4) {
            true => self.log_uniform(1, 64),
            false => 1,
        };
        let one = one.saturating_mul(self.plan.clocks_per_tick * times);
        let samples = u64::from(self.plan.histogram.max_samples).clamp(2, 300);
        let wanted = self.log_uniform(1, samples);
        let ttl = self.plan.histogram.ttl.unwrap_or(u64::MAX);
        let most = ttl.saturating_mul(self.plan.clocks_per_tick / 2 + 1);
        self.packet(1);
        // Circular histograms forget what is long: there it is in several pieces.
        let pieces = self.random.random_range(1..=wanted.min(4));
        for _ in 0..pieces {
            let gap = (one.saturating_mul(wanted) / pieces).min(most).min(1 << 50);
            let idle = self.idle();
            let extra = self.random.random_range(0..=gap / 16 + 8);
            self.hold(idle, gap + extra);
            self.transmit(1);
        }
        // Around the boundary of a bin, so that several bins share them.
        let bin = (1u64 << self.plan.histogram.bin_shift.min(40))
            .saturating_mul(self.plan.clocks_per_tick);
        let near = match self.random.random_range(0..3) {
            0 => 0,
            _ => {
                self.random
                    .random_range(0..u64::from(self.plan.histogram.bins.min(6)))
                    * bin
            }
        };
        for _ in 0..wanted + self.random.random_range(0..6) {
            let gap = match self.random.random_range(0..4) {
                0 | 1 => near + self.random.random_range(1..4),
                2 => self.random.random_range(1..3),
                // Long enough for the search.
                _ => self.random.random_range(1..200),
            };
            self.hold(Inputs::quiet(), gap);
            self.transmit(1);
        }
    }

    /// Resets in the cycles in which samples, searches and messages are under way.
    fn resets_in_traffic(&mut self) {
        for _ in 0..self.random.random_range(2..12) {
            for _ in 0..self.random.random_range(1..6) {
                let idle = self.idle();
                let gap = self.random.random_range(1..4);
                self.hold(idle, gap);
                self.transmit(1);
            }
            let idle = self.idle();
            let pause = match self.chance(3) {
                true => self.heavy_tailed(20_000),
                false => self.random.random_range(0..60),
            };
            self.hold(idle, pause);
            let pins = Inputs {
                rst: true,
                queue_nonempty: self.chance(3),
                transmitting: self.chance(3),
                receiving: self.chance(3),
                ..idle
            };
            self.hold(pins, 1);
            if self.chance(2) {
                let limit = self.wake_limit();
                self.hold(idle, limit);
            }
        }
    }

    /// The port is so long in one state that the registers count it in more than 32 bits, and
    /// software has some time to read them.
    fn long_residence(&mut self) {
        self.packet(1);
        let cycles = self.log_uniform(1 << 31, 1 << 40);
        let idle = self.idle();
        self.hold(idle, cycles);
        self.packet(1);
        self.hold_some(Inputs::quiet(), 20..400);
    }

    /// Counters and window of a regular histogram are halved: after an idle period in which the
    /// window passes its largest value, or with a full counter, or with both, or with the first
    /// sample after a reset. There may be a reset when a counter has just become full, or while bins
    /// are halved.
    fn halving(&mut self) {
        let window = (self.plan.max_window().saturating_add(1))
            .saturating_mul(self.plan.clocks_per_tick)
            .min(LONGEST_LEAPT);
        // Awake all the time, so that a sample comes after every gap.
        let idle = Inputs::default();
        let reset = idle.with(|pins| pins.rst = true);
        if self.chance(4) {
            self.halving_in_a_search(window);
            return;
        }
        if self.chance(3) {
            self.packet(1);
        } else {
            self.hold(reset, 1);
        }
        let largest = u64::MAX >> (64 - self.plan.histogram.counter_bits);
        let fills = largest <= MOST_TO_FILL && self.chance(2);
        if fills {
            // The first activity after a reset ends no idle period.
            self.transmit(1);
            for _ in 0..largest.saturating_sub(self.random.random_range(0..3)) {
                self.hold(idle, 1);
                self.transmit(1);
            }
        }
        if fills && self.chance(2) {
            self.hold_some(idle, 1..12);
            self.hold(reset, 1);
        } else if !fills || self.chance(2) {
            self.hold(idle, window);
        }
        for _ in 0..2 {
            self.transmit(1);
            self.hold_some(idle, 1..4);
        }
        self.transmit(1);
        self.hold_some(idle, 1..u64::from(self.plan.histogram.bins) + 4);
        if self.chance(2) {
            self.hold(reset, 1);
        }
        for _ in 0..4 {
            self.hold_some(idle, 1..8);
            self.transmit(1);
        }
        self.hold_some(idle, 1..200);
        self.transmit(1);
    }

    /// Counters and window of a regular histogram are halved by a sample that comes while a threshold
    /// is computed for the one before: the window passes its largest value, `window` cycles after a
    /// reset, between the two.
    fn halving_in_a_search(&mut self, window: u64) {
        let idle = Inputs::default();
        self.hold(idle.with(|pins| pins.rst = true), 1);
        // Only after a threshold has come out counters are halved.
        self.transmit(1);
        self.hold(idle, 1);
        self.transmit(1);
        let gap = self
            .random
            .random_range(1..u64::from(self.plan.time_width) + 8);
        let early = self.random.random_range(0..gap);
        self.hold(idle, window.saturating_sub(3 + early).max(1));
        self.transmit(1);
        self.hold(idle, gap);
        self.transmit(1);
        self.hold_some(idle, 1..200);
        self.transmit(1);
    }

    /// The other end leads a link up that is awake, and the port then asks to go down: after a
    /// time-out that is the first thing that it asks.
    fn led_up(&mut self) {
        self.packet(2);
        let idle = Inputs::quiet();
        self.hold_some(idle, 1..10);
        self.hold_some(idle.with(|pins| pins.remote_up = true), 1..100);
        self.packet(1);
        self.steps.push_back(Step::IdleAroundPdt(idle, 2));
        self.packet(1);
    }

    /// The packet that a direction wakes for is dropped, and another one comes about when it is awake.
    fn woken_for_nothing(&mut self) {
        self.packet(1);
        let idle = Inputs::quiet();
        self.steps.push_back(Step::IdleTimesPdt(idle, 1024 + 512));
        self.hold(Inputs::waiting(), 1);
        let link = self.plan.link;
        let t_w = match self.chance(2) {
            true => link.fast_wake.t_w,
            false => link.deep_sleep.t_w,
        };
        let early = self.random.random_range(0..4);
        self.hold(idle, t_w.saturating_sub(early));
        self.packet(1);
    }

    /// Samples in the last cycle before the histogram expires, in the cycle in which it
    /// does, and in the next; `ttl` is its time to live in ticks.
    fn expiry(&mut self, ttl: u64) {
        let cycles = ttl * self.plan.clocks_per_tick;
        // Awake all the time: nothing but the histogram matters here.
        let idle = Inputs::default();
        self.packet(1);
        // This sample clears, wherever the window stood: from here the cycles count.
        self.hold(idle, cycles + self.plan.clocks_per_tick);
        for age in [cycles.saturating_sub(1), cycles, cycles + 1] {
            self.transmit(1);
            self.hold(idle, age.saturating_sub(1).max(1));
            if age < cycles {
                // Too early to clear: the next sample does, two cycles later.
                self.transmit(1);
                self.hold(idle, 1);
            }
        }
        self.transmit(1);
        if self.chance(2) {
            // A reset in the last tick: the time to live begins anew.
            let tick = self.plan.clocks_per_tick;
            let extra = self.random.random_range(0..=tick);
            self.hold(idle, cycles + tick);
            self.transmit(1);
            self.hold(idle, cycles.saturating_sub(2 + extra));
            self.hold(idle.with(|pins| pins.rst = true), 1);
            self.hold_some(idle, 1..4 * tick + 4);
            self.transmit(1);
            self.hold_some(idle, 1..200);
            self.transmit(1);
        }
    }

    /// The hardest traffic: a sample every second or third cycle.
    fn short_gaps(&mut self) {
        let cycles = if self.chance(6) {
            3000.min(self.longest * 20)
        } else {
            self.random.random_range(4..200)
        };
        let gap = self.random.random_range(1..=2);
        let idle = self.idle();
        let limit = self.wake_limit();
        let waiting = Inputs::default().with(|pins| pins.queue_nonempty = true);
        self.until(waiting, PowerState::Wake, 12, limit);
        for _ in 0..cycles / (gap + 1) {
            self.transmit(1);
            self.hold(idle, gap);
        }
    }

    /// A packet, or the other end's wish to wake, in a certain cycle of a certain state.
    fn in_phase(&mut self) {
        let states: Vec<PowerState> = PowerState::ALL[1..]
            .iter()
            .copied()
            .filter(|&state| self.plan.policy != Policy::AlwaysOn && self.has(state))
            .collect();
        let Some(&state) = states.choose(&mut self.random) else {
            return self.traffic();
        };
        self.packet(2);
        let idle = Inputs::quiet();
        // Down by the timer where that is near, otherwise behind the other end.
        if self.chance(3) {
            self.steps.push_back(Step::IdleAroundPdt(idle, 2));
        }
        let down = idle.with(|pins| pins.remote_down = true);
        self.hold_some(idle, 1..10);
        self.until(down, PowerState::GoingDown, 3, 100);
        let waking = state == PowerState::GoingUp;
        let asleep = if self.has(PowerState::FastWake) {
            PowerState::FastWake
        } else {
            PowerState::DeepSleep
        };
        let link = self.plan.link;
        let slowest = self.plan.slowest().link;
        let refresh = slowest
            .refresh
            .map_or(0, |refresh| refresh.t_q + refresh.t_r);
        let limit = self.wake_limit() + slowest.hybrid_hold + refresh;
        if waking {
            self.until(idle, asleep, 12, limit);
            let request = idle.with(|pins| pins.remote_up = true);
            self.until(request, PowerState::GoingUp, 4, limit);
        } else {
            self.until(idle, state, 12, limit);
        }
        let lasts = match state {
            PowerState::GoingDown if self.has(PowerState::FastWake) => link.fast_wake.t_s,
            PowerState::GoingDown => link.deep_sleep.t_s,
            PowerState::GoingUp if self.has(PowerState::FastWake) => link.fast_wake.t_w,
            PowerState::GoingUp => link.deep_sleep.t_w,
            PowerState::Refresh => link.refresh.map_or(1, |refresh| refresh.t_r),
            PowerState::FastWake => link.hybrid_hold,
            _ => 200,
        };
        let delay = match self.random.random_range(0..5) {
            0 => 0,
            1 => lasts - 1,
            2 => lasts.saturating_sub(2),
            3 => lasts,
            _ => self.random.random_range(0..lasts),
        };
        self.hold(idle, delay);
        match self.random.random_range(0..8) {
            0 if self.counts_until.is_none() => self.reset(),
            1 | 2 => {
                let request = idle.with(|pins| pins.remote_up = true);
                self.until(request, PowerState::Wake, 6, limit);
                let receiving = idle.with(|pins| pins.receiving = true);
                self.hold(receiving, 3);
            }
            _ => {
                // One cycle on its own, so that a port that samples the queue only in some
                // cycle of the state is found out.
                self.hold(Inputs::waiting(), 1);
                self.packet(2);
            }
        }
    }

    /// Whether the port can be in this state at all.
    fn has(&self, state: PowerState) -> bool {
        Corner::visit(state).is_none_or(|corner| corner.impossible(&self.plan).is_none())
    }

    /// The port only receives: the other end's timer governs.
    fn receive_only(&mut self) {
        let receiving = Inputs {
            receiving: true,
            sleep_permit: self.chance(2),
            ..Inputs::default()
        };
        let idle = Inputs::quiet();
        let length = self.heavy_tailed(40);
        self.hold(receiving, length);
        self.steps.push_back(Step::IdleAroundPdt(idle, 3));
        let length = self.heavy_tailed(5);
        self.hold(receiving, length);
    }

    /// The other end goes down, or asks to wake, whatever this end does.
    fn remote(&mut self) {
        let mut inputs = match self.random.random_range(0..3) {
            0 => Inputs {
                queue_nonempty: true,
                transmitting: true,
                ..Inputs::default()
            },
            _ => self.idle(),
        };
        self.hold_some(inputs, 1..20);
        inputs.remote_down = !self.chance(3);
        inputs.remote_up = !inputs.remote_down || self.chance(8);
        let length = self.heavy_tailed(60);
        self.hold(inputs, length);
        inputs.remote_down = false;
        self.hold_some(inputs, 1..30);
    }

    /// The other end refuses to sleep, and a packet comes about when the port would ask it again.
    fn asks_again(&mut self) {
        self.packet(1);
        let refusing = Inputs::default();
        self.steps
            .push_back(Step::UntilAsksAgain(refusing, None, 12));
        self.transmit(1);
        self.hold_some(refusing, 1..60);
    }

    /// The timer expires while the other end does not permit to sleep, then it does.
    fn refused(&mut self) {
        self.packet(2);
        let refusing = Inputs::default();
        self.steps.push_back(Step::IdleAroundPdt(refusing, 0));
        self.hold_some(refusing, 2..30);
        if self.chance(2) {
            let permitting = Inputs::quiet();
            self.hold_some(permitting, 1..40);
        }
    }

    /// A reset of one to three cycles, with the pins as they may be.
    fn reset(&mut self) {
        // A port that exchanges messages sends nothing for a while after a reset.
        if self.no_reset.0 > 0 || self.now < self.no_reset.1 {
            return self.traffic();
        }
        if self.leaps {
            // Some times long enough for windows that follow each other.
            let samples = u64::from(self.plan.histogram.max_samples).clamp(40, 300);
            self.no_reset.0 = self.log_uniform(4, 20 * samples) as u32;
        } else {
            self.no_reset.1 = self.now + 4 * wake_bound(&self.plan, None).unwrap_or(0);
        }
        if self.leaps && self.chance(3) {
            // What is short seldom comes of itself.
            self.packet(1);
            let refreshes = self.plan.link.refresh.is_some() && self.chance(2);
            let asleep = match refreshes {
                true => PowerState::Refresh,
                false => PowerState::GoingDown,
            };
            self.until(Inputs::quiet(), asleep, 8, 1 << 44);
            if !refreshes && self.chance(2) {
                let limit = self.wake_limit();
                self.until(Inputs::waiting(), PowerState::GoingUp, 8, limit);
            }
            self.hold_some(Inputs::quiet(), 1..8);
        }
        let inputs = Inputs {
            rst: true,
            queue_nonempty: self.chance(2),
            transmitting: self.chance(4),
            ..self.idle()
        };
        self.hold_some(inputs, 1..4);
        if self.chance(3) {
            let idle = self.idle();
            self.steps.push_back(Step::IdleAroundPdt(idle, 1));
        }
    }

    /// Single cycles of anything, legal or not; the hardware must agree here too.
    fn glitch(&mut self) {
        let idle = self.idle();
        self.hold_some(idle, 2..12);
        if self.chance(2) {
            let receiving = idle.with(|pins| pins.receiving = true);
            self.hold(receiving, 1);
        } else {
            for _ in 0..self.random.random_range(1..6) {
                let inputs = Inputs {
                    rst: false,
                    queue_nonempty: self.chance(3),
                    transmitting: self.chance(3),
                    receiving: self.chance(3),
                    sleep_permit: self.chance(2),
                    remote_down: self.chance(3),
                    remote_up: self.chance(3),
                    packet_valid: self.chance(2),
                    packet_hops: self.random.random_range(0..64),
                    ..Inputs::default()
                };
                self.hold(inputs, 1);
            }
        }
        self.hold_some(idle, 1..12);
    }
}

impl Activity for Scenes {
    fn next(&mut self, outputs: &PackedOutputs) -> Option<Stretch> {
        let stretch = self.stretch(&outputs.unpack());
        Some(Stretch {
            software: match (self.configures_until, self.counts_until) {
                (Some(_), _) => SoftwareMay::Configure,
                (None, Some(end)) => {
                    match end.saturating_sub(self.now) * COUNTING_PARTS / self.counting.0 {
                        // The last scene may go on beyond the end.
                        0 => SoftwareMay::ClearCounts,
                        1 => SoftwareMay::ReadCounts,
                        _ => SoftwareMay::Nothing,
                    }
                }
                (None, None) => SoftwareMay::Ask,
            },
            ..stretch
        })
    }

    fn passed(&mut self, cycles: u64, leapt: u64) {
        self.now += cycles - leapt;
        self.time = self.time.saturating_add(cycles);
        if !self.part_of_long {
            self.spent[self.regime as usize] += cycles - leapt;
        }
    }
}

impl Scenes {
    /// What the scene goes on with.
    fn stretch(&mut self, outputs: &Outputs) -> Stretch {
        loop {
            let Some(step) = self.steps.pop_front() else {
                self.threshold = outputs.t_pdt.saturating_mul(self.plan.clocks_per_tick);
                self.next_scene();
                continue;
            };
            match step {
                Step::Hold(inputs, cycles) => {
                    self.part_of_long = cycles > self.longest;
                    return Stretch::hold(inputs, cycles);
                }
                Step::Until(inputs, state, changes, cycles) => {
                    if outputs.power_state == state || changes == 0 {
                        continue;
                    }
                    self.steps
                        .push_front(Step::Until(inputs, state, changes - 1, cycles));
                    return Stretch::until_change(inputs, cycles);
                }
                Step::UntilAsksAgain(inputs, first, changes) => {
                    let asks = outputs.message_out == Message::ReqDown;
                    match first {
                        Some(first) if asks => {
                            let late = self.random.random_range(0..3);
                            let period = self.time - first;
                            self.hold_next(inputs, period.saturating_sub(late).max(1));
                        }
                        _ if changes == 0 => {}
                        _ => {
                            let first = if asks { Some(self.time) } else { first };
                            let again = Step::UntilAsksAgain(inputs, first, changes - 1);
                            self.steps.push_front(again);
                            let threshold = outputs.t_pdt.saturating_mul(self.plan.clocks_per_tick);
                            return Stretch::until_change(
                                inputs,
                                threshold.saturating_add(1 << 20),
                            );
                        }
                    }
                }
                Step::IdleAroundPdt(inputs, offset) => {
                    let threshold = outputs.t_pdt.saturating_mul(self.plan.clocks_per_tick);
                    // A threshold beyond what the run affords: an ordinary gap.
                    let cycles = if threshold <= self.longest_now() {
                        threshold.saturating_add_signed(offset).max(1)
                    } else {
                        self.random.random_range(1..64)
                    };
                    return Stretch::hold(inputs, cycles);
                }
                Step::IdleTimesPdt(inputs, parts) => {
                    let threshold = outputs.t_pdt.saturating_mul(self.plan.clocks_per_tick);
                    let cycles = u128::from(threshold) * u128::from(parts) / 1024;
                    let cycles = u64::try_from(cycles).unwrap_or(u64::MAX);
                    let most = if self.leaps { 1 << 44 } else { self.longest };
                    let cycles = match cycles <= most {
                        true => cycles.max(1),
                        false => self.random.random_range(1..64),
                    };
                    self.part_of_long = cycles > self.longest;
                    return Stretch::hold(inputs, cycles);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::port::golden;
    use crate::blocks::testing::share;
    use crate::config::plan::{
        BudgetPlan, GuardPlan, HistogramKind, MessagesPlan, RefreshPlan, Sleep, SyncPlan,
    };
    use crate::cosim::coverage::Coverage;
    use crate::cosim::fixture::small_plan;
    use crate::cosim::{Ended, EngineError, LockStep, Model, Rtl, Run};
    use std::ops::ControlFlow;

    /// An engine that agrees with everything.
    struct Agreeing;

    impl Rtl for Agreeing {
        fn run(&mut self, _: &[Run]) -> Result<Option<crate::cosim::Difference>, EngineError> {
            Ok(None)
        }
    }

    fn coverage<M: Model>(golden: M, plan: PortPlan, seed: u64, cycles: u64) -> Coverage {
        let mut coverage = Coverage::new(&plan);
        let mut pair = LockStep::new(golden, Agreeing);
        let mut activity = Random::new(&plan, seed, cycles, false);
        let ended = pair
            .drive(&mut activity, cycles, |_, runs| {
                coverage.observe(runs);
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(ended, Ended::Complete);
        assert_eq!(pair.tally().cycles, cycles);
        assert_eq!(pair.tally().state_cycles.iter().sum::<u64>(), cycles);
        coverage
    }

    #[test]
    fn every_corner_is_reached() {
        let small = small_plan();
        let no_ttl = small.with(|plan| {
            plan.histogram.ttl = None;
            plan.time_width = 10;
        });
        let map = small.with(|plan| {
            plan.histogram.kind = HistogramKind::Map;
            plan.histogram.map_entries = 5;
            plan.histogram.counter_bits = 2;
        });
        for (name, plan) in [
            ("hybrid", small),
            ("no time to live", no_ttl),
            ("map", map),
            (
                "deep sleep",
                small.with(|plan| {
                    plan.sleep = Sleep::DeepSleep;
                    plan.link.refresh = Some(RefreshPlan { t_q: 30, t_r: 6 });
                }),
            ),
            (
                "fast wake, fixed",
                small.with(|plan| {
                    plan.sleep = Sleep::FastWake;
                    plan.policy = Policy::Fixed;
                }),
            ),
            (
                "always on",
                small.with(|plan| plan.policy = Policy::AlwaysOn),
            ),
        ] {
            for &seed in share(&[1, 2, 3], 3) {
                let coverage = coverage(golden::Port::new(&plan), plan, seed, 400_000);
                let missed: Vec<_> = coverage.missed().iter().map(|c| c.name()).collect();
                assert!(missed.is_empty(), "{name}, seed {seed}: {missed:?}");
            }
        }
    }

    #[test]
    fn every_corner_of_a_direction_that_sleeps_for_itself_is_reached() {
        for sleep in Sleep::ALL {
            for burst in [0, 2] {
                let plan = small_plan().with(|plan| {
                    plan.sleep = sleep;
                    plan.sync = SyncPlan::Lpi;
                    plan.t_backstop = None;
                    plan.guard = (burst > 0).then_some(GuardPlan {
                        burst,
                        numerator: 1,
                        denominator: 400,
                        adjustable: false,
                        rate_bits: 1,
                    });
                });
                let coverage = coverage(golden::Port::new(&plan), plan, 1, 1_500_000);
                let missed: Vec<_> = coverage.missed().iter().map(|c| c.name()).collect();
                assert!(
                    missed.is_empty(),
                    "{}, guard {burst}: {missed:?}",
                    sleep.name()
                );
            }
        }
    }

    #[test]
    fn every_corner_of_the_exchange_of_messages_is_reached() {
        for sleep in Sleep::ALL {
            for timeout in [3, 40] {
                let plan = small_plan().with(|plan| {
                    plan.sleep = sleep;
                    plan.sync = SyncPlan::Messages(MessagesPlan { timeout });
                });
                for &seed in share(&[1, 2, 3], 3) {
                    let golden = golden::Port::new(&plan);
                    let coverage = coverage(golden, plan, seed, 1_500_000);
                    let missed: Vec<_> = coverage.missed().iter().map(|c| c.name()).collect();
                    assert!(
                        missed.is_empty(),
                        "{}, time-out {timeout}, seed {seed}: {missed:?}",
                        sleep.name()
                    );
                }
            }
        }
    }

    #[test]
    fn every_corner_of_the_control_pins_is_reached() {
        let messages = SyncPlan::Messages(MessagesPlan { timeout: 12 });
        for sync in [messages, SyncPlan::Levels, SyncPlan::Lpi] {
            for sleep in Sleep::ALL {
                let plan = small_plan().with(|plan| {
                    plan.sleep = sleep;
                    plan.sync = sync;
                    plan.control_pins = true;
                });
                let golden = golden::Port::new(&plan);
                let coverage = coverage(golden, plan, 1, 3_000_000);
                let missed: Vec<_> = coverage.missed().iter().map(|c| c.name()).collect();
                assert!(missed.is_empty(), "{}, {sync:?}: {missed:?}", sleep.name());
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_activity_again() {
        let plan = small_plan();
        let sequence = |seed| {
            let mut random = Random::new(&plan, seed, 10_000, false);
            (0..500)
                .map(|_| random.next(&Outputs::default().pack()))
                .collect::<Vec<_>>()
        };
        assert_eq!(sequence(7), sequence(7));
        assert_ne!(sequence(7), sequence(8));
    }

    /// Of a policy that does not predict there is no budget to come near.
    #[test]
    fn every_policy_has_activity_that_leaps() {
        for policy in Policy::ALL {
            let plan = small_plan().with(|plan| {
                plan.policy = policy;
                if !plan.predicts() {
                    plan.budget = BudgetPlan::UNUSED;
                }
            });
            let mut random = Random::new(&plan, 1, 100_000, true);
            for _ in 0..20_000 {
                let stretch = random.next(&Outputs::default().pack()).unwrap();
                random.passed(stretch.cycles, 0);
            }
        }
    }

    #[test]
    fn long_corners_wait_for_long_runs() {
        let plan = small_plan().with(|plan| plan.time_width = 32);
        assert!(!affords(&plan, 1_000_000, false, Corner::IdleSaturated));
        assert!(affords(&plan, 1_000_000, false, Corner::AtMax));
        assert!(affords(&plan, 1 << 34, false, Corner::IdleSaturated));
        assert!(affords(&plan, 1, false, Corner::Idle1));
    }
}
