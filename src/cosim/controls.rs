//! The control pins of a port, where it has them: now and then the link may not sleep, is to be awake,
//! or is lost, and the error is cleared.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::interrupted::PinDriver;
use super::Stretch;
use crate::blocks::link_sync::start_cycles;
use crate::blocks::port::pins::{Inputs, Message, PackedOutputs, PowerState};
use crate::config::plan::PortPlan;

/// Clocked cycles after which the pins move although the port is not where it was waited for.
const PATIENCE: u64 = 4_000;

/// In idle times of more cycles than this no state is waited for: refreshes would be clocked one by
/// one.
const LONGEST_WATCHED: u64 = 1 << 26;

/// What the pins do to the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disturbance {
    Disable,
    ForceWake,
    LoseLink,
}

impl Disturbance {
    /// For how many cycles at most.
    fn longest(self) -> u64 {
        match self {
            // So long that the other end asks meanwhile.
            Disturbance::Disable => 3_000,
            Disturbance::ForceWake => 1_000,
            Disturbance::LoseLink => 300,
        }
    }
}

/// Where the port is to be when they do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    In(PowerState),
    /// It has just said this.
    Says(Message),
    Anywhere,
}

/// The control pins, and when they move next.
pub struct ControlPins {
    random: ChaCha8Rng,
    /// Where it may be waited for.
    places: Vec<Place>,
    /// Clocked cycles that a port is out of use after its link is back.
    start: u64,
    /// Cycles so far, and those of them that were clocked.
    time: u64,
    clocked: u64,
    /// What goes on, and the time at which it ends.
    present: Option<(Disturbance, u64)>,
    /// What comes next, where, whether in long idle times too, and the clocked cycle from which on.
    next: (Disturbance, Place, bool),
    next_at: u64,
    /// `clear_error`, which moves independently of the others, and the clocked cycle in which it does.
    clears: bool,
    clears_changes_at: u64,
}

impl ControlPins {
    /// The pins of `seed`, if there are any.
    pub fn of(plan: &PortPlan, seed: u64) -> Option<ControlPins> {
        plan.control_pins.then(|| ControlPins::new(plan, seed))
    }

    fn new(plan: &PortPlan, seed: u64) -> ControlPins {
        let mut places: Vec<Place> = PowerState::ALL.map(Place::In).to_vec();
        places.push(Place::Anywhere);
        if plan.messages().is_some() {
            use Message::{Ack, ReqDown, ReqUp, Sync};
            places.extend([ReqDown, ReqUp, Ack, Sync].map(Place::Says));
        }
        let start = plan.messages().map_or(0, |sync| start_cycles(plan, &sync));
        let mut pins = ControlPins {
            random: ChaCha8Rng::seed_from_u64(seed ^ 0xc0de),
            places,
            start,
            time: 0,
            clocked: 0,
            present: None,
            next: (Disturbance::Disable, Place::Anywhere, false),
            next_at: 0,
            clears: false,
            clears_changes_at: 0,
        };
        pins.plan_next();
        pins
    }

    /// Chooses what comes next, and when.
    fn plan_next(&mut self) {
        let disturbance = match self.random.random_range(0..10) {
            0..3 => Disturbance::Disable,
            3..6 => Disturbance::ForceWake,
            _ => Disturbance::LoseLink,
        };
        let place = self.places.choose(&mut self.random).copied();
        let in_long_idle = self.random.random_ratio(1, 3);
        self.next = (disturbance, place.unwrap_or(Place::Anywhere), in_long_idle);
        self.next_at = self.clocked + self.random.random_range(300..3_000) + 2 * self.start;
    }

    fn begin(&mut self, disturbance: Disturbance) {
        let cycles = short_of(disturbance.longest(), &mut self.random);
        self.present = Some((disturbance, self.time + cycles));
        self.plan_next();
    }
}

impl PinDriver for ControlPins {
    fn drive(&mut self, stretch: Stretch, outputs: &PackedOutputs) -> Stretch {
        let outputs = outputs.unpack();
        if self.present.is_some_and(|(_, end)| self.time >= end) {
            self.present = None;
        }
        if self.clocked >= self.clears_changes_at {
            self.clears = !self.clears;
            let cycles = short_of(300 + 4 * self.start, &mut self.random);
            self.clears_changes_at = self.clocked + cycles;
        }
        let mut stretch = stretch;
        stretch.inputs.clear_error = self.clears;
        if self.present.is_none() {
            let (disturbance, place, in_long_idle) = self.next;
            let long = stretch.is_long();
            let in_long_idle = in_long_idle && stretch.cycles <= LONGEST_WATCHED;
            if stretch.inputs.rst {
                if self.random.random_ratio(1, 4) {
                    self.begin(Disturbance::LoseLink);
                }
            } else if self.clocked < self.next_at {
                if !long {
                    stretch.cycles = stretch.cycles.min(self.next_at - self.clocked);
                }
            } else if !long || in_long_idle {
                let there = match place {
                    Place::In(state) => outputs.power_state == state,
                    Place::Says(message) => outputs.message_out == message,
                    Place::Anywhere => true,
                };
                if there || self.clocked - self.next_at > PATIENCE {
                    self.begin(disturbance);
                } else {
                    // It may be there after the next change.
                    stretch.until_change = true;
                    stretch.cycles = match long {
                        true => stretch.cycles,
                        false => stretch.cycles.min(PATIENCE),
                    };
                }
            }
        }
        if let Some((disturbance, end)) = self.present {
            stretch.cycles = stretch.cycles.min(end - self.time);
            stretch.inputs = moved(stretch.inputs, disturbance, &mut self.random);
        }
        stretch
    }

    fn passed(&mut self, cycles: u64, leapt: u64) {
        self.time = self.time.saturating_add(cycles);
        self.clocked += cycles - leapt;
    }
}

/// A time of up to so many cycles; short ones are likelier.
fn short_of(longest: u64, random: &mut ChaCha8Rng) -> u64 {
    let longest = longest >> random.random_range(0..8);
    random.random_range(1..=longest.max(1))
}

/// These inputs with the control pins moved.
fn moved(inputs: Inputs, disturbance: Disturbance, random: &mut ChaCha8Rng) -> Inputs {
    let mut sometimes = || random.random_ratio(1, 16);
    match disturbance {
        Disturbance::Disable => Inputs {
            enable: false,
            ..inputs
        },
        Disturbance::ForceWake => Inputs {
            force_wake: true,
            enable: !sometimes(),
            ..inputs
        },
        Disturbance::LoseLink => Inputs {
            link_up: false,
            force_wake: sometimes(),
            ..inputs
        },
    }
}
