//! What the shims of an Ethernet port say of low power idle (LPI), where software reads it: each end
//! sends LPI for a while, whatever the controller asks for, and now and then something is wrong.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::interrupted::PinDriver;
use super::Stretch;
use crate::blocks::port::pins::{Inputs, LowPowerIdle, PackedOutputs};
use crate::config::plan::PortPlan;

/// Clocked cycles between two changes, at most.
const LONGEST_PAUSE: u64 = 2_000;

/// Cycles for which an error goes on, at most.
const LONGEST_ERROR: u64 = 40;

/// What the shims say, and when it changes next.
pub struct LpiPins {
    random: ChaCha8Rng,
    present: LowPowerIdle,
    /// Clocked cycles so far, and the one from which on something else is said.
    clocked: u64,
    next_at: u64,
}

impl LpiPins {
    /// The pins of `seed`, where software reads them.
    pub fn of(plan: &PortPlan, seed: u64) -> Option<LpiPins> {
        plan.counts_lpi().then(|| LpiPins {
            random: ChaCha8Rng::seed_from_u64(seed ^ 0x1d1e),
            present: LowPowerIdle::default(),
            clocked: 0,
            next_at: 0,
        })
    }

    /// Chooses what is said from now on, and for how long.
    fn change(&mut self) {
        let error = self.random.random_ratio(1, 8);
        let early_start = self.random.random_ratio(1, 8);
        let changes = self.random.random_range(1..=3);
        self.present = LowPowerIdle {
            received: self.present.received != (changes & 1 == 1),
            sent: self.present.sent != (changes & 2 == 2),
            error,
            early_start,
        };
        let longest = match error || early_start {
            true => LONGEST_ERROR,
            false => LONGEST_PAUSE >> self.random.random_range(0..12),
        };
        self.next_at = self.clocked + self.random.random_range(1..=longest.max(1));
    }
}

impl PinDriver for LpiPins {
    fn drive(&mut self, stretch: Stretch, _: &PackedOutputs) -> Stretch {
        if self.clocked >= self.next_at {
            self.change();
        }
        let until = self.next_at - self.clocked;
        // LPI may go on for all of a long idle time; an error ends, or every cycle of it were clocked.
        let stretch = match self.present.error || self.present.early_start {
            true => Stretch {
                cycles: stretch.cycles.min(until),
                ..stretch
            },
            false => stretch.at_most(until),
        };
        Stretch {
            inputs: Inputs {
                rx_lpi: self.present.received,
                lpi_active: self.present.sent,
                lpi_error: self.present.error,
                early_start: self.present.early_start,
                ..stretch.inputs
            },
            ..stretch
        }
    }

    fn passed(&mut self, cycles: u64, leapt: u64) {
        self.clocked += cycles - leapt;
    }
}
