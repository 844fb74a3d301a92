//! The hardest traffic (SPEC 10).

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Activity, Stretch};
use crate::blocks::port::pins::{Inputs, PackedOutputs};

/// Shortest packets as fast as the link carries them: an idle period of one or two cycles
/// ends every third cycle, for ever.
pub struct LineRate {
    random: ChaCha8Rng,
    active: u64,
    idle: bool,
}

impl LineRate {
    /// Clock cycles from the end of one idle period to the end of the next.
    pub const CYCLES: u64 = 3;

    /// The traffic of one seed.
    pub fn new(seed: u64) -> Self {
        LineRate {
            random: ChaCha8Rng::seed_from_u64(seed),
            active: 0,
            idle: true,
        }
    }
}

impl Activity for LineRate {
    fn next(&mut self, _: &PackedOutputs) -> Option<Stretch> {
        self.idle = !self.idle;
        if self.idle {
            return Some(Stretch::hold(Inputs::quiet(), Self::CYCLES - self.active));
        }
        self.active = 1 + u64::from(self.random.random::<bool>());
        let sends = self.random.random();
        let busy = Inputs {
            queue_nonempty: sends,
            transmitting: sends,
            receiving: !sends,
            ..Inputs::quiet()
        };
        Some(Stretch::hold(busy, self.active))
    }
}
