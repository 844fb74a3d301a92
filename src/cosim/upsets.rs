//! Upsets of the registers that a port keeps in three copies, where it does: now and then a copy of each
//! is stored wrong. Nothing may show but the pin that tells.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::interrupted::PinDriver;
use super::Stretch;
use crate::blocks::port::pins::{Inputs, PackedOutputs};
use crate::config::plan::PortPlan;

/// Clocked cycles between two upsets, at most.
const LONGEST_PAUSE: u64 = 2_000;

/// The upsets, and when the next comes.
pub struct Upsets {
    random: ChaCha8Rng,
    /// Clocked cycles so far, and the one from which on the next upset comes.
    clocked: u64,
    next_at: u64,
}

impl Upsets {
    /// The upsets of `seed`, where registers are kept in copies.
    pub fn of(plan: &PortPlan, seed: u64) -> Option<Upsets> {
        plan.triple_redundancy.then(|| Upsets {
            random: ChaCha8Rng::seed_from_u64(seed ^ 0x5e0),
            clocked: 0,
            next_at: 0,
        })
    }
}

impl PinDriver for Upsets {
    fn drive(&mut self, stretch: Stretch, _: &PackedOutputs) -> Stretch {
        if self.clocked < self.next_at {
            return stretch.at_most(self.next_at - self.clocked);
        }
        // One cycle most often, and now and then another copy in the cycle that follows.
        let pause = self.random.random_range(1..=LONGEST_PAUSE) >> self.random.random_range(0..12);
        self.next_at = self.clocked + 1 + pause;
        Stretch {
            inputs: Inputs {
                inject_upset: self.random.random_range(1..=3),
                ..stretch.inputs
            },
            cycles: 1,
            ..stretch
        }
    }

    fn passed(&mut self, cycles: u64, leapt: u64) {
        self.clocked += cycles - leapt;
    }
}
